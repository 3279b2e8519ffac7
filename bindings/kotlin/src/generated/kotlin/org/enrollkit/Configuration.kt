// Generated from the manifest by bindings/kotlin/generate: do not edit.
@file:Suppress("RedundantVisibilityModifier", "MaxLineLength")

package org.enrollkit

import kotlin.time.Duration
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject

/** How to begin a transaction. */
public data class BeginOptions(
  /** none, login, consent, select_account or create. */
  public val prompt: String? = null,
  /** Who is likely to sign in. */
  public val loginHint: String? = null,
  /** The user must have signed in at most so many seconds ago. */
  public val maxAge: Duration? = null,
  /** An authentication class. */
  public val acrValues: List<String>? = null,
  /** The best first. */
  public val uiLocales: List<String>? = null,
  /** Whose session prompt=none is about. */
  public val idTokenHint: String? = null,
  /** The provider's name for the connection that the user chose; bff: its name for the provider, required. */
  public val connection: String? = null,
  /** passwordless: where the code or link is sent. */
  public val email: String? = null,
  /** passwordless: where the code is sent, E.164. */
  public val phoneNumber: String? = null,
  /** passwordless: what is sent. */
  public val message: BeginOptionsMessage? = null,
) {
  /** Without what is secret or personal. */
  override fun toString(): String =
    "BeginOptions(prompt=$prompt, loginHint=${hidden(loginHint)}, maxAge=$maxAge, acrValues=$acrValues, uiLocales=$uiLocales, idTokenHint=${hidden(idTokenHint)}, connection=$connection, email=${hidden(email)}, phoneNumber=${hidden(phoneNumber)}, message=$message)"

  internal fun encode(): JsonObject = buildJsonObject {
    prompt?.let { put("prompt", JsonPrimitive(it)) }
    loginHint?.let { put("loginHint", JsonPrimitive(it)) }
    maxAge?.let { put("maxAge", JsonPrimitive(it.toWholeSeconds())) }
    acrValues?.let { put("acrValues", JsonArray(it.map { item -> JsonPrimitive(item) })) }
    uiLocales?.let { put("uiLocales", JsonArray(it.map { item -> JsonPrimitive(item) })) }
    idTokenHint?.let { put("idTokenHint", JsonPrimitive(it)) }
    connection?.let { put("connection", JsonPrimitive(it)) }
    email?.let { put("email", JsonPrimitive(it)) }
    phoneNumber?.let { put("phoneNumber", JsonPrimitive(it)) }
    message?.let { put("message", JsonPrimitive(it.wire)) }
  }
}

/** The provider and the client; this or configurationName. */
public data class Configuration(
  /** The provider, exactly as it names itself. As discovery_uri, the address of its discovery document will do. */
  public val issuer: String,
  /** The client that the provider registered. */
  public val clientId: String,
  /** Where the browser comes back to: claimed https, com.example.app:/callback, or http://127.0.0.1/callback. */
  public val redirectUri: String,
  /** Where the browser comes back to after a logout. */
  public val postLogoutRedirectUri: String? = null,
  /** A provider's own logout URL instead of RP-Initiated Logout: auth0 is /v2/logout with returnTo. */
  public val logoutDialect: LogoutDialect? = null,
  /** What the sign-in after a logout or retry asks for. login by default. */
  public val promptAfterLogout: PromptAfterLogout? = null,
  /** Endpoints of a provider without discovery, instead of asking it. */
  public val endpoints: Endpoints? = null,
  /**
   * Authorize requests go to the provider by POST, the browser carries only their name (RFC 9126). By default auto:
   * where the provider has an endpoint for them.
   */
  public val pushedRequests: Policy? = null,
  /**
   * Tokens are bound to a key of this client, and each request that carries one needs a proof from dpop.proof (RFC
   * 9449). By default auto: where the provider announces ES256. always refuses Bearer tokens; never is for hosts that
   * send nothing else.
   */
  public val dpop: Policy? = null,
  /** Algorithms that id_tokens may be signed with. All of these by default. */
  public val idTokenAlgorithms: List<SigningAlgorithm>? = null,
  /** What is asked for, as a list or separated by spaces. openid profile offline_access by default. */
  public val scopes: List<String>? = null,
  /** Extra parameters of every authorize request. The protocol's own names are refused. */
  public val authorizeParameters: Map<String, String>? = null,
  /** Time before its end at which an access token is renewed. 60 by default. */
  public val grace: Duration? = null,
  /** Time that a sign-in may take. 600 by default. */
  public val transactionLifetime: Duration? = null,
  /** Time that the link in an e-mail is waited for. 86400 by default. */
  public val emailWait: Duration? = null,
  /** Whether the user confirms the profile before tokens count. True by default. */
  public val confirmation: Boolean? = null,
  /** Adds the scope email and asks for a verified address. False by default. */
  public val requireVerifiedEmail: Boolean? = null,
  /** How a registration begins. signIn by default. */
  public val registration: RegistrationStart? = null,
  /** What an activation link leads to. authorize by default. */
  public val activation: Activation? = null,
  /**
   * The page that openPage opens, such as https://id.example/welcome/{activationToken}. The activation link itself by
   * default.
   */
  public val welcomePage: String? = null,
  /** Activation links that are accepted, such as https://app.example/welcome/{activationToken}. */
  public val appLinks: List<String>? = null,
  /** The link that leads back into a registration. */
  public val fallbackUri: String? = null,
  /** False where the platform is no native app: the stand-in token is used. */
  public val native: Boolean? = null,
  /** The access token of a platform that is no native app. */
  public val standInToken: String? = null,
  /** Asked whether a registration is known. */
  public val registrationCheckUri: String? = null,
  /**
   * Whether it is asked before B, C and H, and has to know the account. False by default: it is asked before H alone,
   * and only a contradiction counts.
   */
  public val requireCheck: Boolean? = null,
  /** Told the confirmed profile. */
  public val profileUpdateUri: String? = null,
  /** Told every failure, without secrets. */
  public val errorReportUri: String? = null,
  /** Ways to register that the host presents. */
  public val choices: List<RegistrationChoice>? = null,
  /** Registration with another app's help. */
  public val app2app: ConfigurationApp2app? = null,
  /** A back end that signs in on the app's behalf. */
  public val bff: ConfigurationBff? = null,
  /** Which provider's way of passwordless sign-in is spoken. */
  public val passwordless: PasswordlessDialect? = null,
  /**
   * What the provider calls the connection that the user chose: connection, idp, kc_idp_hint, provider, … connection by
   * default.
   */
  public val connectionParameter: String? = null,
  /** What the page shows that a loopback redirect leaves in the browser. */
  public val returnPage: ConfigurationReturnPage? = null,
  /** Lets a provider on this machine be spoken to by http. False by default. */
  public val allowLoopbackHTTP: Boolean? = null,
  /** A PEM file with the authorities to trust instead of the system's. */
  public val caFile: String? = null,
) {
  /** Without what is secret or personal. */
  override fun toString(): String =
    "Configuration(issuer=$issuer, clientId=$clientId, redirectUri=$redirectUri, postLogoutRedirectUri=$postLogoutRedirectUri, logoutDialect=$logoutDialect, promptAfterLogout=$promptAfterLogout, endpoints=$endpoints, pushedRequests=$pushedRequests, dpop=$dpop, idTokenAlgorithms=$idTokenAlgorithms, scopes=$scopes, authorizeParameters=$authorizeParameters, grace=$grace, transactionLifetime=$transactionLifetime, emailWait=$emailWait, confirmation=$confirmation, requireVerifiedEmail=$requireVerifiedEmail, registration=$registration, activation=$activation, welcomePage=$welcomePage, appLinks=$appLinks, fallbackUri=$fallbackUri, native=$native, standInToken=${hidden(standInToken)}, registrationCheckUri=$registrationCheckUri, requireCheck=$requireCheck, profileUpdateUri=$profileUpdateUri, errorReportUri=$errorReportUri, choices=$choices, app2app=$app2app, bff=$bff, passwordless=$passwordless, connectionParameter=$connectionParameter, returnPage=$returnPage, allowLoopbackHTTP=$allowLoopbackHTTP, caFile=$caFile)"

  internal fun encode(): JsonObject = buildJsonObject {
    put("issuer", JsonPrimitive(issuer))
    put("clientId", JsonPrimitive(clientId))
    put("redirectUri", JsonPrimitive(redirectUri))
    postLogoutRedirectUri?.let { put("postLogoutRedirectUri", JsonPrimitive(it)) }
    logoutDialect?.let { put("logoutDialect", JsonPrimitive(it.wire)) }
    promptAfterLogout?.let { put("promptAfterLogout", JsonPrimitive(it.wire)) }
    endpoints?.let { put("endpoints", it.encode()) }
    pushedRequests?.let { put("pushedRequests", JsonPrimitive(it.wire)) }
    dpop?.let { put("dpop", JsonPrimitive(it.wire)) }
    idTokenAlgorithms?.let { put("idTokenAlgorithms", JsonArray(it.map { item -> JsonPrimitive(item.wire) })) }
    scopes?.let { put("scopes", JsonArray(it.map { item -> JsonPrimitive(item) })) }
    authorizeParameters?.let { put("authorizeParameters", JsonObject(it.mapValues { (_, value) -> JsonPrimitive(value) })) }
    grace?.let { put("grace", JsonPrimitive(it.toWholeSeconds())) }
    transactionLifetime?.let { put("transactionLifetime", JsonPrimitive(it.toWholeSeconds())) }
    emailWait?.let { put("emailWait", JsonPrimitive(it.toWholeSeconds())) }
    confirmation?.let { put("confirmation", JsonPrimitive(it)) }
    requireVerifiedEmail?.let { put("requireVerifiedEmail", JsonPrimitive(it)) }
    registration?.let { put("registration", it.encode()) }
    activation?.let { put("activation", JsonPrimitive(it.wire)) }
    welcomePage?.let { put("welcomePage", JsonPrimitive(it)) }
    appLinks?.let { put("appLinks", JsonArray(it.map { item -> JsonPrimitive(item) })) }
    fallbackUri?.let { put("fallbackUri", JsonPrimitive(it)) }
    native?.let { put("native", JsonPrimitive(it)) }
    standInToken?.let { put("standInToken", JsonPrimitive(it)) }
    registrationCheckUri?.let { put("registrationCheckUri", JsonPrimitive(it)) }
    requireCheck?.let { put("requireCheck", JsonPrimitive(it)) }
    profileUpdateUri?.let { put("profileUpdateUri", JsonPrimitive(it)) }
    errorReportUri?.let { put("errorReportUri", JsonPrimitive(it)) }
    choices?.let { put("choices", JsonArray(it.map { item -> item.encode() })) }
    app2app?.let { put("app2app", it.encode()) }
    bff?.let { put("bff", it.encode()) }
    passwordless?.let { put("passwordless", JsonPrimitive(it.wire)) }
    connectionParameter?.let { put("connectionParameter", JsonPrimitive(it)) }
    returnPage?.let { put("returnPage", it.encode()) }
    allowLoopbackHTTP?.let { put("allowLoopbackHTTP", JsonPrimitive(it)) }
    caFile?.let { put("caFile", JsonPrimitive(it)) }
  }
}

/** Registration with another app's help. */
public data class ConfigurationApp2app(
  /** Asked first. */
  public val initUri: String,
  /** Asked for tokens at the end. */
  public val completeUri: String,
  /** Beginnings of links that may be opened, each up to the end of a whole host or path segment. */
  public val allowedLinks: List<String>,
  /** What the gateway calls its fields. */
  public val fields: ConfigurationApp2appFields? = null,
  /** Whether the user sets a PIN (step pin, ended by pin.set) before the profile is shown. False by default. */
  public val requirePin: Boolean? = null,
) {
  internal fun encode(): JsonObject = buildJsonObject {
    put("initUri", JsonPrimitive(initUri))
    put("completeUri", JsonPrimitive(completeUri))
    put("allowedLinks", JsonArray(allowedLinks.map { item -> JsonPrimitive(item) }))
    fields?.let { put("fields", it.encode()) }
    requirePin?.let { put("requirePin", JsonPrimitive(it)) }
  }
}

/** What the gateway calls its fields. */
public data class ConfigurationApp2appFields(
  /** sessionId by default. */
  public val sessionId: String? = null,
  /** link by default. */
  public val link: String? = null,
  /** artefactId by default. */
  public val artefactId: String? = null,
) {
  internal fun encode(): JsonObject = buildJsonObject {
    sessionId?.let { put("sessionId", JsonPrimitive(it)) }
    link?.let { put("link", JsonPrimitive(it)) }
    artefactId?.let { put("artefactId", JsonPrimitive(it)) }
  }
}

/** A back end that signs in on the app's behalf. */
public data class ConfigurationBff(
  /** Where its /v1/auth begins. */
  public val base: String,
  /** Takes the session token out of the redirect itself, where others can see it. False by default. */
  public val dangerouslyAcceptTokenInRedirect: Boolean? = null,
) {
  internal fun encode(): JsonObject = buildJsonObject {
    put("base", JsonPrimitive(base))
    dangerouslyAcceptTokenInRedirect?.let { put("dangerouslyAcceptTokenInRedirect", JsonPrimitive(it)) }
  }
}

/** What the page shows that a loopback redirect leaves in the browser. */
public data class ConfigurationReturnPage(
  /** The app's name, above the rest. */
  public val appName: String? = null,
  /** A line of the app's own, in the page's language. */
  public val text: String? = null,
  /** The language of the page's own words. en by default. */
  public val language: ConfigurationReturnPageLanguage? = null,
  /** The app's colour, such as #0b6e4f, for the line above the page. */
  public val color: String? = null,
  /**
   * The page's background; its text is then black or white, whichever is easier to read. The browser's own by default.
   */
  public val backgroundColor: String? = null,
  /** A claimed https or private-scheme link that leads back into the app. */
  public val link: String? = null,
) {
  internal fun encode(): JsonObject = buildJsonObject {
    appName?.let { put("appName", JsonPrimitive(it)) }
    text?.let { put("text", JsonPrimitive(it)) }
    language?.let { put("language", JsonPrimitive(it.wire)) }
    color?.let { put("color", JsonPrimitive(it)) }
    backgroundColor?.let { put("backgroundColor", JsonPrimitive(it)) }
    link?.let { put("link", JsonPrimitive(it)) }
  }
}

/** Endpoints of a provider without discovery, instead of asking it. */
public data class Endpoints(
  /** RFC 6749 §3.1. */
  public val authorizationEndpoint: String,
  /** RFC 6749 §3.2. */
  public val tokenEndpoint: String,
  /** The provider's keys, RFC 7517. */
  public val jwksUri: String,
  /** OpenID Connect Core §5.3. */
  public val userinfoEndpoint: String? = null,
  /** RFC 7009. */
  public val revocationEndpoint: String? = null,
  /** OpenID Connect RP-Initiated Logout §2. */
  public val endSessionEndpoint: String? = null,
  /** RFC 7662. */
  public val introspectionEndpoint: String? = null,
  /** RFC 9126. */
  public val pushedAuthorizationRequestEndpoint: String? = null,
  /** RFC 8628 §3.1. */
  public val deviceAuthorizationEndpoint: String? = null,
  /** Whether every answer carries iss (RFC 9207); its absence is then refused. False by default. */
  public val authorizationResponseIssParameterSupported: Boolean? = null,
) {
  internal fun encode(): JsonObject = buildJsonObject {
    put("authorizationEndpoint", JsonPrimitive(authorizationEndpoint))
    put("tokenEndpoint", JsonPrimitive(tokenEndpoint))
    put("jwksUri", JsonPrimitive(jwksUri))
    userinfoEndpoint?.let { put("userinfoEndpoint", JsonPrimitive(it)) }
    revocationEndpoint?.let { put("revocationEndpoint", JsonPrimitive(it)) }
    endSessionEndpoint?.let { put("endSessionEndpoint", JsonPrimitive(it)) }
    introspectionEndpoint?.let { put("introspectionEndpoint", JsonPrimitive(it)) }
    pushedAuthorizationRequestEndpoint?.let { put("pushedAuthorizationRequestEndpoint", JsonPrimitive(it)) }
    deviceAuthorizationEndpoint?.let { put("deviceAuthorizationEndpoint", JsonPrimitive(it)) }
    authorizationResponseIssParameterSupported?.let { put("authorizationResponseIssParameterSupported", JsonPrimitive(it)) }
  }
}

/** What the host says about the device. */
public data class Platform(
  /** False: no external browser is to be had, the stand-in token is used. */
  public val native: Boolean? = null,
  /** The host's word for the kind of device. */
  public val type: String? = null,
  /** Of the screen, in pixels. */
  public val width: Int? = null,
  /** Of the screen, in pixels. */
  public val height: Int? = null,
  /** The host's own version. */
  public val appVersion: String? = null,
  /** An id that the host has for the device. */
  public val deviceId: String? = null,
) {
  /** Without what is secret or personal. */
  override fun toString(): String =
    "Platform(native=$native, type=$type, width=$width, height=$height, appVersion=$appVersion, deviceId=${hidden(deviceId)})"

  internal fun encode(): JsonObject = buildJsonObject {
    native?.let { put("native", JsonPrimitive(it)) }
    type?.let { put("type", JsonPrimitive(it)) }
    width?.let { put("width", JsonPrimitive(it)) }
    height?.let { put("height", JsonPrimitive(it)) }
    appVersion?.let { put("appVersion", JsonPrimitive(it)) }
    deviceId?.let { put("deviceId", JsonPrimitive(it)) }
  }
}

/** A way to register that the host presents. */
public data class RegistrationChoice(
  /** The host's word: google, email, … */
  public val kind: String,
  /** What the user reads. */
  public val label: String,
  /** The provider's name for the connection. */
  public val connection: String? = null,
  /** What the user reads beside it. */
  public val guidance: String? = null,
) {
  internal fun encode(): JsonObject = buildJsonObject {
    put("kind", JsonPrimitive(kind))
    put("label", JsonPrimitive(label))
    connection?.let { put("connection", JsonPrimitive(it)) }
    guidance?.let { put("guidance", JsonPrimitive(it)) }
  }

  internal companion object {
    fun decode(json: JsonObject): RegistrationChoice = RegistrationChoice(
      kind = json.need("kind").text(),
      label = json.need("label").text(),
      connection = json.find("connection")?.let { it.text() },
      guidance = json.find("guidance")?.let { it.text() },
    )
  }
}

/** How a registration begins. signIn by default. */
public sealed interface RegistrationStart {
  /** The word signIn. */
  public data object SignIn : RegistrationStart

  /** The word promptCreate. */
  public data object PromptCreate : RegistrationStart

  /** A page of the provider's own. */
  public data class Page(
    /** The gateway's own page. */
    public val registrationUri: String,
  ) : RegistrationStart {
    internal fun encode(): JsonObject = buildJsonObject {
      put("registrationUri", JsonPrimitive(registrationUri))
    }
  }
}

internal fun RegistrationStart.encode(): JsonElement = when (this) {
  RegistrationStart.SignIn -> JsonPrimitive("signIn")
  RegistrationStart.PromptCreate -> JsonPrimitive("promptCreate")
  is RegistrationStart.Page -> encode()
}
