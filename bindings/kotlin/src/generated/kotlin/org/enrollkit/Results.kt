// Generated from the manifest by bindings/kotlin/generate: do not edit.
@file:Suppress("RedundantVisibilityModifier", "MaxLineLength")

package org.enrollkit

import kotlin.time.Duration
import kotlin.time.Instant
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject

/** What came of asking for a valid access token. */
public sealed interface AccessOutcome {
  /** Use it. */
  public data class Valid(
    /** For the Authorization header or a form body, nowhere else. */
    public val accessToken: String,
    /** As the server spelt it: Bearer, DPoP. */
    public val tokenType: String,
    /** By this device's clock; absent for a stand-in token, which has no end. */
    public val expiresAt: Instant?,
  ) : AccessOutcome {
    /** Without what is secret or personal. */
    override fun toString(): String =
      "Valid(accessToken=${hidden(accessToken)}, tokenType=$tokenType, expiresAt=$expiresAt)"

    internal companion object {
      fun decode(json: JsonObject): Valid = Valid(
        accessToken = json.need("accessToken").text(),
        tokenType = json.need("tokenType").text(),
        expiresAt = json.find("expiresAt")?.let { it.date() },
      )
    }
  }

  /** Due, and it could not be renewed just now; it still works. */
  public data class Stale(
    /** For the Authorization header or a form body, nowhere else. */
    public val accessToken: String,
    /** As the server spelt it: Bearer, DPoP. */
    public val tokenType: String,
    /** By this device's clock; absent for a stand-in token, which has no end. */
    public val expiresAt: Instant?,
    /** One word or a short text, for a log. */
    public val reason: String,
    /** Why something failed. */
    public val error: EnrollError,
  ) : AccessOutcome {
    /** Without what is secret or personal. */
    override fun toString(): String =
      "Stale(accessToken=${hidden(accessToken)}, tokenType=$tokenType, expiresAt=$expiresAt, reason=$reason, error=$error)"

    internal companion object {
      fun decode(json: JsonObject): Stale = Stale(
        accessToken = json.need("accessToken").text(),
        tokenType = json.need("tokenType").text(),
        expiresAt = json.find("expiresAt")?.let { it.date() },
        reason = json.need("reason").text(),
        error = EnrollError.decode(json.need("error").members()),
      )
    }
  }

  /** Expired, and it could not be renewed yet; waiting helps. */
  public data class Expired(
    /** Of the first failure. */
    public val offlineSince: Instant?,
    /** Time until another try makes sense. */
    public val retryAfter: Duration?,
    /** One word or a short text, for a log. */
    public val reason: String,
    /** Why something failed. */
    public val error: EnrollError,
  ) : AccessOutcome {
    internal companion object {
      fun decode(json: JsonObject): Expired = Expired(
        offlineSince = json.find("offlineSince")?.let { it.date() },
        retryAfter = json.find("retryAfter")?.let { it.duration() },
        reason = json.need("reason").text(),
        error = EnrollError.decode(json.need("error").members()),
      )
    }
  }

  /** The provider refused to renew, without ending the session. */
  public data class Rejected(
    /** One word or a short text, for a log. */
    public val reason: String,
    /** Why something failed. */
    public val error: EnrollError,
  ) : AccessOutcome {
    internal companion object {
      fun decode(json: JsonObject): Rejected = Rejected(
        reason = json.need("reason").text(),
        error = EnrollError.decode(json.need("error").members()),
      )
    }
  }

  /** The session is over, or there never was one: sign in. */
  public data class Reauthenticate(
    /** One word or a short text, for a log. */
    public val reason: String,
  ) : AccessOutcome {
    internal companion object {
      fun decode(json: JsonObject): Reauthenticate = Reauthenticate(
        reason = json.need("reason").text(),
      )
    }
  }

  /** The store's key is not to be had now. */
  public data object StoreLocked : AccessOutcome

  /** Another one is renewing, and the deadline came first. */
  public data object Busy : AccessOutcome

}

internal fun decodeAccessOutcome(json: JsonObject): AccessOutcome = when {
  json.textOrNull("outcome") == "valid" -> AccessOutcome.Valid.decode(json)
  json.textOrNull("outcome") == "stale" -> AccessOutcome.Stale.decode(json)
  json.textOrNull("outcome") == "expired" -> AccessOutcome.Expired.decode(json)
  json.textOrNull("outcome") == "rejected" -> AccessOutcome.Rejected.decode(json)
  json.textOrNull("outcome") == "reauthenticate" -> AccessOutcome.Reauthenticate.decode(json)
  json.textOrNull("outcome") == "storeLocked" -> AccessOutcome.StoreLocked
  json.textOrNull("outcome") == "busy" -> AccessOutcome.Busy
  else -> throw unknownVariant("AccessOutcome", json)
}

/** What is kept about an account. */
public data class Account(
  /** The proven claims about the user. */
  public val profile: Claims?,
  /** As the provider signed it. */
  public val idToken: String?,
  /** As it is kept, due or not; token.access gives one that works. */
  public val accessToken: String?,
  /** When the access token ends. */
  public val expiresAt: Instant?,
  /** Absent for other kinds. */
  public val registrationType: RegistrationType?,
) {
  /** Without what is secret or personal. */
  override fun toString(): String =
    "Account(profile=$profile, idToken=${hidden(idToken)}, accessToken=${hidden(accessToken)}, expiresAt=$expiresAt, registrationType=$registrationType)"

  internal companion object {
    fun decode(json: JsonObject): Account = Account(
      profile = json.find("profile")?.let { Claims(it.members()) },
      idToken = json.find("idToken")?.let { it.text() },
      accessToken = json.find("accessToken")?.let { it.text() },
      expiresAt = json.find("expiresAt")?.let { it.date() },
      registrationType = json.find("registrationType")?.let { RegistrationType.decode(it) },
    )
  }
}

/** What the host has to do so that a transaction goes on. */
public sealed interface Action {
  /** Open it in the external browser, and hand back what it redirects to. */
  public data class OpenUrl(
    /** Holds the state of the transaction. */
    public val url: String,
  ) : Action {
    /** Without what is secret or personal. */
    override fun toString(): String =
      "OpenUrl(url=${hiddenUrl(url)})"

    internal companion object {
      fun decode(json: JsonObject): OpenUrl = OpenUrl(
        url = json.need("url").text(),
      )
    }
  }

  /** Ask the user for the code, and hand it to registration.submitCode. */
  public data class EnterCode(
    /** Where the code was sent. */
    public val recipient: String,
  ) : Action {
    /** Without what is secret or personal. */
    override fun toString(): String =
      "EnterCode(recipient=${hidden(recipient)})"

    internal companion object {
      fun decode(json: JsonObject): EnterCode = EnterCode(
        recipient = json.need("recipient").text(),
      )
    }
  }

  /** Tell the user to open the link in that e-mail; what comes back goes to registration.resume. */
  public data class AwaitLink(
    /** Where the link was sent. */
    public val recipient: String,
  ) : Action {
    /** Without what is secret or personal. */
    override fun toString(): String =
      "AwaitLink(recipient=${hidden(recipient)})"

    internal companion object {
      fun decode(json: JsonObject): AwaitLink = AwaitLink(
        recipient = json.need("recipient").text(),
      )
    }
  }

  /** Open it; the other app comes back by a link, which goes to registration.resume. */
  public data class OpenOtherApp(
    /** A link of another app. */
    public val url: String,
  ) : Action {
    /** Without what is secret or personal. */
    override fun toString(): String =
      "OpenOtherApp(url=${hiddenUrl(url)})"

    internal companion object {
      fun decode(json: JsonObject): OpenOtherApp = OpenOtherApp(
        url = json.need("url").text(),
      )
    }
  }

  /** Show both, and wait by registration.awaitOutcome (RFC 8628 §3.3). */
  public data class ShowDeviceCode(
    /** What the user types. */
    public val userCode: String,
    /** Where. */
    public val verificationUri: String,
    /** With the code in it, for a QR code. */
    public val verificationUriComplete: String?,
  ) : Action {
    /** Without what is secret or personal. */
    override fun toString(): String =
      "ShowDeviceCode(userCode=${hidden(userCode)}, verificationUri=$verificationUri, verificationUriComplete=${hidden(verificationUriComplete)})"

    internal companion object {
      fun decode(json: JsonObject): ShowDeviceCode = ShowDeviceCode(
        userCode = json.need("userCode").text(),
        verificationUri = json.need("verificationUri").text(),
        verificationUriComplete = json.find("verificationUriComplete")?.let { it.text() },
      )
    }
  }

}

internal fun decodeAction(json: JsonObject): Action = when {
  json.textOrNull("type") == "openURL" -> Action.OpenUrl.decode(json)
  json.textOrNull("type") == "enterCode" -> Action.EnterCode.decode(json)
  json.textOrNull("type") == "awaitLink" -> Action.AwaitLink.decode(json)
  json.textOrNull("type") == "openOtherApp" -> Action.OpenOtherApp.decode(json)
  json.textOrNull("type") == "showDeviceCode" -> Action.ShowDeviceCode.decode(json)
  else -> throw unknownVariant("Action", json)
}

/** What an activation link leads to. authorize by default. */
public enum class Activation(
  /** The word in JSON. */
  public val wire: String,
) {
  AUTHORIZE("authorize"),
  OPEN_PAGE("openPage"),
  ;

  internal companion object {
    fun decode(json: JsonElement): Activation = json.word("Activation", entries) { it.wire }
  }
}

/** How it became active. */
public enum class ActiveReason(
  /** The word in JSON. */
  public val wire: String,
) {
  NOT_NATIVE("notNative"),
  VALID("valid"),
  RENEWED("renewed"),
  CONFIRMED("confirmed"),
  ;

  internal companion object {
    fun decode(json: JsonElement): ActiveReason = json.word("ActiveReason", entries) { it.wire }
  }
}

/** passwordless: what is sent. */
public enum class BeginOptionsMessage(
  /** The word in JSON. */
  public val wire: String,
) {
  CODE("code"),
  LINK("link"),
  ;

  internal companion object {
    fun decode(json: JsonElement): BeginOptionsMessage = json.word("BeginOptionsMessage", entries) { it.wire }
  }
}

/** The language of the page's own words. en by default. */
public enum class ConfigurationReturnPageLanguage(
  /** The word in JSON. */
  public val wire: String,
) {
  EN("en"),
  DE("de"),
  FR("fr"),
  ES("es"),
  IT("it"),
  NL("nl"),
  PT("pt"),
  ;

  internal companion object {
    fun decode(json: JsonElement): ConfigurationReturnPageLanguage = json.word("ConfigurationReturnPageLanguage", entries) { it.wire }
  }
}

/** Where the registration stands, and what to open. */
public data class Deregistration(
  /** Where the registration stands (letters A to H as documented). */
  public val state: RegistrationState,
  /** Ends the provider's session in the browser, as from logout.begin; absent when there is none. */
  public val url: String?,
  /**
   * Whether the provider knows: told, queued (it is told later, for at most 7 days), notPossible (its tokens work until
   * they end by themselves). Absent where there was nothing to tell.
   */
  public val providerTold: ProviderTold?,
  /** Why it is not possible to tell the provider. */
  public val reason: String?,
) {
  /** Without what is secret or personal. */
  override fun toString(): String =
    "Deregistration(state=$state, url=${hiddenUrl(url)}, providerTold=$providerTold, reason=$reason)"

  internal companion object {
    fun decode(json: JsonObject): Deregistration = Deregistration(
      state = decodeRegistrationState(json.need("state").members()),
      url = json.find("url")?.let { it.text() },
      providerTold = json.find("providerTold")?.let { ProviderTold.decode(it) },
      reason = json.find("reason")?.let { it.text() },
    )
  }
}

/** small: Embedded Swift, without a runtime. */
public enum class Flavour(
  /** The word in JSON. */
  public val wire: String,
) {
  SMALL("small"),
  STANDARD("standard"),
  ;

  internal companion object {
    fun decode(json: JsonElement): Flavour = json.word("Flavour", entries) { it.wire }
  }
}

/** What a URL turned out to be. */
public sealed interface HandledUrl {
  /** It was a redirect. */
  public data class Registration(
    /** Where the registration stands (letters A to H as documented). */
    public val state: RegistrationState,
  ) : HandledUrl {
    internal companion object {
      fun decode(json: JsonObject): Registration = Registration(
        state = decodeRegistrationState(json.need("state").members()),
      )
    }
  }

  /** It was the logout callback; the logout is finished. */
  public data object Logout : HandledUrl

  /** Nobody of this client waits for it; nothing happened. */
  public data class Unsolicited(
    /** What may be offered to the user, the best first. */
    public val offers: List<Offer>,
  ) : HandledUrl {
    internal companion object {
      fun decode(json: JsonObject): Unsolicited = Unsolicited(
        offers = json.find("offers")?.let { it.list { Offer.decode(it) } } ?: emptyList(),
      )
    }
  }

  /** The link led on: do what the action says. */
  public data class Begun(
    /** What has begun. */
    public val transaction: Transaction,
  ) : HandledUrl

  /** The link came before, or a fallback was taken before; nothing happened. */
  public data class LinkUsed(
    /** What may be offered to the user, the best first. */
    public val offers: List<Offer>,
  ) : HandledUrl {
    internal companion object {
      fun decode(json: JsonObject): LinkUsed = LinkUsed(
        offers = json.need("offers").list { Offer.decode(it) },
      )
    }
  }

  /** What waited for the link has reached its deadline; nothing happened. */
  public data class LinkExpired(
    /** What may be offered to the user, the best first. */
    public val offers: List<Offer>,
  ) : HandledUrl {
    internal companion object {
      fun decode(json: JsonObject): LinkExpired = LinkExpired(
        offers = json.need("offers").list { Offer.decode(it) },
      )
    }
  }

}

internal fun decodeHandledUrl(json: JsonObject): HandledUrl = when {
  json.textOrNull("kind") == "registration" -> HandledUrl.Registration.decode(json)
  json.textOrNull("kind") == "logout" -> HandledUrl.Logout
  json.textOrNull("kind") == "unsolicited" -> HandledUrl.Unsolicited.decode(json)
  json.textOrNull("kind") == "begun" -> HandledUrl.Begun(Transaction.decode(json))
  json.textOrNull("kind") == "linkUsed" -> HandledUrl.LinkUsed.decode(json)
  json.textOrNull("kind") == "linkExpired" -> HandledUrl.LinkExpired.decode(json)
  else -> throw unknownVariant("HandledUrl", json)
}

/** What can be done about it. */
public enum class Help(
  /** The word in JSON. */
  public val wire: String,
) {
  RETRY("retry"),
  WAIT("wait"),
  REGISTER_AGAIN("registerAgain"),
  VERIFY_EMAIL("verifyEmail"),
  CREATE_ACCOUNT("createAccount"),
  SUPPORT("support"),
  ;

  internal companion object {
    fun decode(json: JsonElement): Help = json.word("Help", entries) { it.wire }
  }
}

/** What the provider says of a token. */
public data class Introspection(
  /** Whether it works. */
  public val active: Boolean,
  /** All that was told, RFC 7662 §2.2. */
  public val claims: Claims,
) {
  internal companion object {
    fun decode(json: JsonObject): Introspection = Introspection(
      active = json.need("active").flag(),
      claims = Claims(json.need("claims").members()),
    )
  }
}

/** Somebody who could guard a key. */
public data class KeyCandidate(
  /** A provider's name. */
  public val provider: String,
  /** Whether it is to be had. */
  public val presence: KeyPresence,
  /** Why it is not present. */
  public val reason: String?,
) {
  internal companion object {
    fun decode(json: JsonObject): KeyCandidate = KeyCandidate(
      provider = json.need("provider").text(),
      presence = KeyPresence.decode(json.need("presence")),
      reason = json.find("reason")?.let { it.text() },
    )
  }
}

/** Who would get the key of a new store, and why. */
public data class KeyChoice(
  /** A provider's name; none while the best is locked. */
  public val provider: String?,
  /** Why that one. */
  public val reason: String,
  /** In the order of preference. */
  public val candidates: List<KeyCandidate>,
) {
  internal companion object {
    fun decode(json: JsonObject): KeyChoice = KeyChoice(
      provider = json.find("provider")?.let { it.text() },
      reason = json.need("reason").text(),
      candidates = json.need("candidates").list { KeyCandidate.decode(it.members()) },
    )
  }
}

/** Whether somebody who could guard a key is to be had. */
public enum class KeyPresence(
  /** The word in JSON. */
  public val wire: String,
) {
  PRESENT("present"),
  LOCKED("locked"),
  ABSENT("absent"),
  ;

  internal companion object {
    fun decode(json: JsonElement): KeyPresence = json.word("KeyPresence", entries) { it.wire }
  }
}

/** What a link turned out to be. */
public sealed interface LinkAnswer {
  /** The link led on: do what the action says. */
  public data class Begun(
    /** What has begun. */
    public val transaction: Transaction,
  ) : LinkAnswer

  /** Nobody here waits for the link; nothing happened. */
  public data class Unsolicited(
    /** What may be offered to the user, the best first. */
    public val offers: List<Offer>,
  ) : LinkAnswer {
    internal companion object {
      fun decode(json: JsonObject): Unsolicited = Unsolicited(
        offers = json.need("offers").list { Offer.decode(it) },
      )
    }
  }

  /** The link came before, or a fallback was taken before; nothing happened. */
  public data class LinkUsed(
    /** What may be offered to the user, the best first. */
    public val offers: List<Offer>,
  ) : LinkAnswer {
    internal companion object {
      fun decode(json: JsonObject): LinkUsed = LinkUsed(
        offers = json.need("offers").list { Offer.decode(it) },
      )
    }
  }

  /** What waited for the link has reached its deadline; nothing happened. */
  public data class LinkExpired(
    /** What may be offered to the user, the best first. */
    public val offers: List<Offer>,
  ) : LinkAnswer {
    internal companion object {
      fun decode(json: JsonObject): LinkExpired = LinkExpired(
        offers = json.need("offers").list { Offer.decode(it) },
      )
    }
  }

}

internal fun decodeLinkAnswer(json: JsonObject): LinkAnswer = when {
  json.textOrNull("kind") == "begun" -> LinkAnswer.Begun(Transaction.decode(json))
  json.textOrNull("kind") == "unsolicited" -> LinkAnswer.Unsolicited.decode(json)
  json.textOrNull("kind") == "linkUsed" -> LinkAnswer.LinkUsed.decode(json)
  json.textOrNull("kind") == "linkExpired" -> LinkAnswer.LinkExpired.decode(json)
  else -> throw unknownVariant("LinkAnswer", json)
}

/** What may be done with it. */
public enum class LinkKind(
  /** The word in JSON. */
  public val wire: String,
) {
  HTTPS("https"),
  LOOPBACK_HTTP("loopbackHTTP"),
  PRIVATE_SCHEME("privateScheme"),
  ;

  internal companion object {
    fun decode(json: JsonElement): LinkKind = json.word("LinkKind", entries) { it.wire }
  }
}

/** A provider's own logout URL instead of RP-Initiated Logout: auth0 is /v2/logout with returnTo. */
public enum class LogoutDialect(
  /** The word in JSON. */
  public val wire: String,
) {
  AUTH0("auth0"),
  ;

  internal companion object {
    fun decode(json: JsonElement): LogoutDialect = json.word("LogoutDialect", entries) { it.wire }
  }
}

/** Begin a transaction of that kind. */
public enum class Offer(
  /** The word in JSON. */
  public val wire: String,
) {
  SIGN_IN("signIn"),
  REGISTER("register"),
  ;

  internal companion object {
    fun decode(json: JsonElement): Offer = json.word("Offer", entries) { it.wire }
  }
}

/** A link that is one of the allow-list's. */
public data class ParsedLink(
  /** What may be done with it. */
  public val kind: LinkKind,
  /** In lower case. */
  public val scheme: String,
  /** An IPv6 address keeps its brackets. */
  public val host: String?,
  /** Where the link names one. */
  public val port: Int?,
  /** As it came. */
  public val path: String,
  /** As it came, without the question mark. */
  public val query: String?,
  /** A fragment was dropped unread. */
  public val hadFragment: Boolean,
) {
  /** Without what is secret or personal. */
  override fun toString(): String =
    "ParsedLink(kind=$kind, scheme=$scheme, host=$host, port=$port, path=$path, query=${hidden(query)}, hadFragment=$hadFragment)"

  internal companion object {
    fun decode(json: JsonObject): ParsedLink = ParsedLink(
      kind = LinkKind.decode(json.need("kind")),
      scheme = json.need("scheme").text(),
      host = json.find("host")?.let { it.text() },
      port = json.find("port")?.let { it.int() },
      path = json.need("path").text(),
      query = json.find("query")?.let { it.text() },
      hadFragment = json.need("hadFragment").flag(),
    )
  }
}

/** A redirect, read without believing it. */
public data class ParsedRedirect(
  /** The authorization code. */
  public val code: String?,
  /** Whose transaction it claims to be. */
  public val state: String?,
  /** Who claims to answer. */
  public val iss: String?,
  /** The provider's error code. */
  public val error: String?,
  /** The provider's words for the developer. */
  public val errorDescription: String?,
) {
  /** Without what is secret or personal. */
  override fun toString(): String =
    "ParsedRedirect(code=${hidden(code)}, state=${hidden(state)}, iss=$iss, error=$error, errorDescription=$errorDescription)"

  internal companion object {
    fun decode(json: JsonObject): ParsedRedirect = ParsedRedirect(
      code = json.find("code")?.let { it.text() },
      state = json.find("state")?.let { it.text() },
      iss = json.find("iss")?.let { it.text() },
      error = json.find("error")?.let { it.text() },
      errorDescription = json.find("errorDescription")?.let { it.text() },
    )
  }
}

/** Which provider's way of passwordless sign-in is spoken. */
public enum class PasswordlessDialect(
  /** The word in JSON. */
  public val wire: String,
) {
  AUTH0("auth0"),
  ;

  internal companion object {
    fun decode(json: JsonElement): PasswordlessDialect = json.word("PasswordlessDialect", entries) { it.wire }
  }
}

/** How a PIN was taken. */
public data class PinAnswer(
  /** unlocked; wrong; tooSoon: not looked at; erased: it was the last try, the account is gone. */
  public val outcome: PinOutcome,
  /** Before the account is erased. */
  public val triesLeft: Int,
  /** Time until the next try is looked at. */
  public val retryAfter: Duration,
) {
  internal companion object {
    fun decode(json: JsonObject): PinAnswer = PinAnswer(
      outcome = PinOutcome.decode(json.need("outcome")),
      triesLeft = json.need("triesLeft").int(),
      retryAfter = json.need("retryAfter").duration(),
    )
  }
}

/** unlocked; wrong; tooSoon: not looked at; erased: it was the last try, the account is gone. */
public enum class PinOutcome(
  /** The word in JSON. */
  public val wire: String,
) {
  UNLOCKED("unlocked"),
  WRONG("wrong"),
  TOO_SOON("tooSoon"),
  ERASED("erased"),
  ;

  internal companion object {
    fun decode(json: JsonElement): PinOutcome = json.word("PinOutcome", entries) { it.wire }
  }
}

/** A PKCE verifier and its challenge (RFC 7636). */
public data class PkcePair(
  /** A secret, 43 characters of base64url. */
  public val codeVerifier: String,
  /** Its SHA-256, base64url. */
  public val codeChallenge: String,
  /** S256. */
  public val method: String,
) {
  /** Without what is secret or personal. */
  override fun toString(): String =
    "PkcePair(codeVerifier=${hidden(codeVerifier)}, codeChallenge=$codeChallenge, method=$method)"

  internal companion object {
    fun decode(json: JsonObject): PkcePair = PkcePair(
      codeVerifier = json.need("codeVerifier").text(),
      codeChallenge = json.need("codeChallenge").text(),
      method = json.need("codeChallengeMethod").text(),
    )
  }
}

/** Whether something is used. */
public enum class Policy(
  /** The word in JSON. */
  public val wire: String,
) {
  AUTO("auto"),
  ALWAYS("always"),
  NEVER("never"),
  ;

  internal companion object {
    fun decode(json: JsonElement): Policy = json.word("Policy", entries) { it.wire }
  }
}

/** What the sign-in after a logout or retry asks for. login by default. */
public enum class PromptAfterLogout(
  /** The word in JSON. */
  public val wire: String,
) {
  LOGIN("login"),
  SELECT_ACCOUNT("select_account"),
  ;

  internal companion object {
    fun decode(json: JsonElement): PromptAfterLogout = json.word("PromptAfterLogout", entries) { it.wire }
  }
}

/** Whether the provider knows of a sign-out. */
public enum class ProviderTold(
  /** The word in JSON. */
  public val wire: String,
) {
  TOLD("told"),
  QUEUED("queued"),
  NOT_POSSIBLE("notPossible"),
  ;

  internal companion object {
    fun decode(json: JsonElement): ProviderTold = json.word("ProviderTold", entries) { it.wire }
  }
}

/** What it is to its owner. */
public enum class RedirectKind(
  /** The word in JSON. */
  public val wire: String,
) {
  REDIRECT("redirect"),
  LOGOUT("logout"),
  FALLBACK("fallback"),
  ACTIVATION("activation"),
  ;

  internal companion object {
    fun decode(json: JsonElement): RedirectKind = json.word("RedirectKind", entries) { it.wire }
  }
}

/** Which configuration owns a URL. */
public data class RedirectOwner(
  /** The place of its owner in the list; absent when it has none. */
  public val index: Int?,
  /** What it is to its owner. */
  public val kind: RedirectKind?,
) {
  internal companion object {
    fun decode(json: JsonObject): RedirectOwner = RedirectOwner(
      index = json.find("index")?.let { it.int() },
      kind = json.find("kind")?.let { RedirectKind.decode(it) },
    )
  }
}

/** Where a registration stands. */
public sealed interface RegistrationState {
  /** Nothing was asked yet, or the platform is not ready. */
  public data object Starting : RegistrationState

  /** No token at all: present the ways to register. */
  public data class Unregistered(
    /** The configured ways to register. */
    public val choices: List<RegistrationChoice>,
  ) : RegistrationState {
    internal companion object {
      fun decode(json: JsonObject): Unregistered = Unregistered(
        choices = json.find("choices")?.let { it.list { RegistrationChoice.decode(it.members()) } } ?: emptyList(),
      )
    }
  }

  /** A transaction is under way. */
  public data class Authenticating(
    /** Names the transaction. */
    public val transaction: String,
    /** What the transaction waits for. */
    public val step: Step,
  ) : RegistrationState {
    internal companion object {
      fun decode(json: JsonObject): Authenticating = Authenticating(
        transaction = json.need("transaction").text(),
        step = Step.decode(json.need("step")),
      )
    }
  }

  /** Tokens arrived and wait for the user's word. */
  public data class AwaitingConfirmation(
    /** Whose tokens they are. */
    public val profile: Claims,
  ) : RegistrationState {
    internal companion object {
      fun decode(json: JsonObject): AwaitingConfirmation = AwaitingConfirmation(
        profile = Claims(json.need("profile").members()),
      )
    }
  }

  /** There is an access token to use. */
  public data class Active(
    /** How it became active. */
    public val reason: ActiveReason,
  ) : RegistrationState {
    internal companion object {
      fun decode(json: JsonObject): Active = Active(
        reason = ActiveReason.decode(json.need("reason")),
      )
    }
  }

  /** The token was due and could not be renewed. */
  public data class RenewalFailed(
    /** Why something failed. */
    public val error: EnrollError,
    /** What helps. */
    public val remedy: Remedy,
    /** The access token has not expired yet. */
    public val tokenUsable: Boolean,
  ) : RegistrationState {
    internal companion object {
      fun decode(json: JsonObject): RenewalFailed = RenewalFailed(
        error = EnrollError.decode(json.need("error").members()),
        remedy = Remedy.decode(json.need("remedy")),
        tokenUsable = json.need("tokenUsable").flag(),
      )
    }
  }

  /** The browser, link, app or code step failed. */
  public data class RegistrationFailed(
    /** Why something failed. */
    public val error: EnrollError,
  ) : RegistrationState {
    internal companion object {
      fun decode(json: JsonObject): RegistrationFailed = RegistrationFailed(
        error = EnrollError.decode(json.need("error").members()),
      )
    }
  }

}

internal fun decodeRegistrationState(json: JsonObject): RegistrationState = when {
  json.textOrNull("state") == "starting" -> RegistrationState.Starting
  json.textOrNull("state") == "unregistered" && json.textOrNull("letter") == "D" -> RegistrationState.Unregistered.decode(json)
  json.textOrNull("state") == "authenticating" -> RegistrationState.Authenticating.decode(json)
  json.textOrNull("state") == "awaitingConfirmation" && json.textOrNull("letter") == "G" -> RegistrationState.AwaitingConfirmation.decode(json)
  json.textOrNull("state") == "active" -> RegistrationState.Active.decode(json)
  json.textOrNull("state") == "failed" && json.textOrNull("letter") == "E" && json.textOrNull("reason") == "renewal" -> RegistrationState.RenewalFailed.decode(json)
  json.textOrNull("state") == "failed" && json.textOrNull("letter") == "F" && json.textOrNull("reason") == "registration" -> RegistrationState.RegistrationFailed.decode(json)
  else -> throw unknownVariant("RegistrationState", json)
}

/** Absent for other kinds. */
public enum class RegistrationType(
  /** The word in JSON. */
  public val wire: String,
) {
  SOCIAL("SOCIAL"),
  PASSWORDLESS("PASSWORDLESS"),
  ;

  internal companion object {
    fun decode(json: JsonElement): RegistrationType = json.word("RegistrationType", entries) { it.wire }
  }
}

/** What helps. */
public enum class Remedy(
  /** The word in JSON. */
  public val wire: String,
) {
  RETRY("retry"),
  WAIT("wait"),
  REGISTER_AGAIN("registerAgain"),
  ;

  internal companion object {
    fun decode(json: JsonElement): Remedy = json.word("Remedy", entries) { it.wire }
  }
}

/** Revocation. */
public data class Revocation(
  /**
   * Whether the provider knows: told, queued (it is told later, for at most 7 days), notPossible (its tokens work until
   * they end by themselves). Absent where there was nothing to tell.
   */
  public val providerTold: ProviderTold?,
  /** Why it is not possible to tell the provider. */
  public val reason: String?,
) {
  internal companion object {
    fun decode(json: JsonObject): Revocation = Revocation(
      providerTold = json.find("providerTold")?.let { ProviderTold.decode(it) },
      reason = json.find("reason")?.let { it.text() },
    )
  }
}

/** SignOut. */
public data class SignOut(
  /** To be opened in the external browser; absent when there is none. */
  public val url: String?,
  /**
   * Whether the provider knows: told, queued (it is told later, for at most 7 days), notPossible (its tokens work until
   * they end by themselves). Absent where there was nothing to tell.
   */
  public val providerTold: ProviderTold?,
  /** Why it is not possible to tell the provider. */
  public val reason: String?,
) {
  /** Without what is secret or personal. */
  override fun toString(): String =
    "SignOut(url=${hiddenUrl(url)}, providerTold=$providerTold, reason=$reason)"

  internal companion object {
    fun decode(json: JsonObject): SignOut = SignOut(
      url = json.find("url")?.let { it.text() },
      providerTold = json.find("providerTold")?.let { ProviderTold.decode(it) },
      reason = json.find("reason")?.let { it.text() },
    )
  }
}

/** An algorithm that signs id_tokens. */
public enum class SigningAlgorithm(
  /** The word in JSON. */
  public val wire: String,
) {
  RS256("RS256"),
  RS384("RS384"),
  RS512("RS512"),
  PS256("PS256"),
  PS384("PS384"),
  PS512("PS512"),
  ES256("ES256"),
  ES384("ES384"),
  ES512("ES512"),
  EDDSA("EdDSA"),
  ;

  internal companion object {
    fun decode(json: JsonElement): SigningAlgorithm = json.word("SigningAlgorithm", entries) { it.wire }
  }
}

/** What the transaction waits for. */
public enum class Step(
  /** The word in JSON. */
  public val wire: String,
) {
  BROWSER("browser"),
  EMAIL_PENDING("emailPending"),
  CODE_PENDING("codePending"),
  OTHER_APP("otherApp"),
  EXCHANGING("exchanging"),
  PIN("pin"),
  ;

  internal companion object {
    fun decode(json: JsonElement): Step = json.word("Step", entries) { it.wire }
  }
}

/** How a store is. */
public data class StoreDiagnosis(
  /** The folder. */
  public val store: String,
  /** True. */
  public val exists: Boolean,
  /** The user's number. */
  public val owner: Long?,
  /** Octal. */
  public val permissions: String?,
  /** That guard the key; none before first use. */
  public val keyProviders: List<String>,
  /** Who would get the key of a new store, and why. */
  public val keyChoice: KeyChoice?,
  /** How many there are, readable or not. */
  public val accounts: Int?,
  /** Damaged files that were set aside. */
  public val setAside: Int?,
  /** None while the key is not to be had. */
  public val files: List<StoredFile>,
  /** Why something failed. */
  public val problem: EnrollError?,
) {
  internal companion object {
    fun decode(json: JsonObject): StoreDiagnosis = StoreDiagnosis(
      store = json.need("store").text(),
      exists = json.need("exists").flag(),
      owner = json.find("owner")?.let { it.long() },
      permissions = json.find("permissions")?.let { it.text() },
      keyProviders = json.find("keyProviders")?.let { it.list { it.text() } } ?: emptyList(),
      keyChoice = json.find("keyChoice")?.let { KeyChoice.decode(it.members()) },
      accounts = json.find("accounts")?.let { it.int() },
      setAside = json.find("setAside")?.let { it.int() },
      files = json.find("files")?.let { it.list { StoredFile.decode(it.members()) } } ?: emptyList(),
      problem = json.find("problem")?.let { EnrollError.decode(it.members()) },
    )
  }
}

/** A sealed file. */
public data class StoredFile(
  /** In the folder; tells no account's name. */
  public val name: String,
  /** What it is. */
  public val kind: StoredFileKind,
  /** It was damaged, and had this name: renamed back it is used again. */
  public val setAsideFrom: String?,
  /** Grows by one with every save; decimal. */
  public val generation: String?,
  /** True: only its PIN opens the account. */
  public val pin: Boolean?,
  /** As in diagnostics.export: for people, without secrets. */
  public val account: JsonObject?,
  /** Of the outbox: what servers still have to be told. */
  public val entries: Int?,
  /** Why something failed. */
  public val problem: EnrollError?,
) {
  internal companion object {
    fun decode(json: JsonObject): StoredFile = StoredFile(
      name = json.need("name").text(),
      kind = StoredFileKind.decode(json.need("kind")),
      setAsideFrom = json.find("setAsideFrom")?.let { it.text() },
      generation = json.find("generation")?.let { it.text() },
      pin = json.find("pin")?.let { it.flag() },
      account = json.find("account")?.let { it.members() },
      entries = json.find("entries")?.let { it.int() },
      problem = json.find("problem")?.let { EnrollError.decode(it.members()) },
    )
  }
}

/** What a sealed file is. */
public enum class StoredFileKind(
  /** The word in JSON. */
  public val wire: String,
) {
  ACCOUNT("account"),
  OUTBOX("outbox"),
  INSTALLATION("installation"),
  PROVIDER("provider"),
  ;

  internal companion object {
    fun decode(json: JsonElement): StoredFileKind = json.word("StoredFileKind", entries) { it.wire }
  }
}

/** What the library or daemon is. */
public data class SystemDescription(
  /** What it calls itself: EnrollKit. */
  public val name: String,
  /** Of the library: major.minor.patch. */
  public val version: String,
  /** Of the C interface: major × 65536 + minor. */
  public val abi: Long,
  /** small: Embedded Swift, without a runtime. */
  public val flavour: Flavour,
  /** A command's name. */
  public val commands: List<String>,
  /** An event's name. */
  public val events: List<String>,
  /** That can protect a store. */
  public val keyProviders: List<String>,
) {
  internal companion object {
    fun decode(json: JsonObject): SystemDescription = SystemDescription(
      name = json.need("name").text(),
      version = json.need("version").text(),
      abi = json.need("abi").long(),
      flavour = Flavour.decode(json.need("flavour")),
      commands = json.need("commands").list { it.text() },
      events = json.need("events").list { it.text() },
      keyProviders = json.need("keyProviders").list { it.text() },
    )
  }
}

/** In which band of its life a token is. */
public data class TokenAge(
  /** Hand it out; renew it; renew it or fail. */
  public val band: TokenBand,
  /** Negative once it has ended. */
  public val timeLeft: Duration,
) {
  internal companion object {
    fun decode(json: JsonObject): TokenAge = TokenAge(
      band = TokenBand.decode(json.need("band")),
      timeLeft = json.need("secondsLeft").duration(),
    )
  }
}

/** Hand it out; renew it; renew it or fail. */
public enum class TokenBand(
  /** The word in JSON. */
  public val wire: String,
) {
  FRESH("fresh"),
  DUE("due"),
  EXPIRED("expired"),
  ;

  internal companion object {
    fun decode(json: JsonElement): TokenBand = json.word("TokenBand", entries) { it.wire }
  }
}

/** Which one; it is not handed out. */
public enum class TokenKind(
  /** The word in JSON. */
  public val wire: String,
) {
  ACCESS_TOKEN("accessToken"),
  REFRESH_TOKEN("refreshToken"),
  ;

  internal companion object {
    fun decode(json: JsonElement): TokenKind = json.word("TokenKind", entries) { it.wire }
  }
}

/** A transaction that has begun. */
public data class Transaction(
  /** Names the transaction. */
  public val id: String,
  /** The next move is the host's. */
  public val action: Action,
  /** As it was sent: with a loopback redirect, its port. Absent when nothing redirects. */
  public val redirectUri: String?,
  /** When the transaction ends by itself. */
  public val expiresAt: Instant,
  /** False for a loopback redirect: its listener dies with the process. */
  public val survivesProcess: Boolean,
) {
  internal companion object {
    fun decode(json: JsonObject): Transaction = Transaction(
      id = json.need("transaction").text(),
      action = decodeAction(json.need("action").members()),
      redirectUri = json.find("redirectUri")?.let { it.text() },
      expiresAt = json.need("expiresAt").date(),
      survivesProcess = json.need("survivesProcess").flag(),
    )
  }
}

/** What kind of transaction. */
public enum class TransactionKind(
  /** The word in JSON. */
  public val wire: String,
) {
  SIGN_IN("signIn"),
  REGISTER("register"),
  PASSWORDLESS("passwordless"),
  APP2APP("app2app"),
  BFF("bff"),
  DEVICE("device"),
  ;

  internal companion object {
    fun decode(json: JsonElement): TransactionKind = json.word("TransactionKind", entries) { it.wire }
  }
}
