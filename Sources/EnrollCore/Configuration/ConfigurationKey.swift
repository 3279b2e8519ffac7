// The keys of a configuration as data: what is read from JSON, the JSON Schema and the documentation all come from
// this one table.

import EnrollCrypto

/// One key of a configuration in JSON.
public struct ConfigurationKey: Sendable {
  /// What values it takes.
  public indirect enum Shape: Sendable {
    /// Any text.
    case text
    /// A text that is a URL; which ones are acceptable is the key's documentation.
    case url
    /// true or false.
    case boolean
    /// A whole number in a range.
    case integer(ClosedRange<Int64>)
    /// One of these words.
    case oneOf([String])
    /// A list of such values.
    case list(Shape)
    /// An object whose member names are the host's own, with texts as values.
    case texts
    /// An object with these keys and no others.
    case object([ConfigurationKey])
    /// The one or the other.
    case either(Shape, Shape)
    /// A type with a name, one for all languages, and with one sentence that says what it is.
    case named(String, String, Shape)
  }

  /// As it is documented and named in errors.
  public var name: String
  /// Accepted instead of ``name``, never beside it.
  public var otherSpellings: [String]
  /// What values it takes.
  public var shape: Shape
  /// Whether a configuration without it is refused.
  public var isRequired: Bool
  /// Never shown or logged (R40).
  public var isSecret: Bool
  /// One or two sentences for the documentation.
  public var documentation: String

  init(
    _ name: String, or otherSpellings: [String] = [], _ shape: Shape, required: Bool = false,
    secret: Bool = false, _ documentation: String
  ) {
    self.name = name
    self.otherSpellings = otherSpellings
    self.shape = shape
    self.isRequired = required
    self.isSecret = secret
    self.documentation = documentation
  }
}

extension Configuration {
  /// Every key, in the order of the documentation.
  public static var keys: [ConfigurationKey] {
    providerKeys + signInKeys + registrationKeys + developmentKeys
  }

  private static var providerKeys: [ConfigurationKey] {
    [
      ConfigurationKey(
        "issuer", or: ["discovery_uri", "discoveryUri"], .url, required: true,
        "The provider, exactly as it names itself. As discovery_uri, the address of its discovery document will do."
      ),
      ConfigurationKey(
        "clientId", or: ["client_id"], .text, required: true, "The client that the provider registered."),
      ConfigurationKey(
        "redirectUri", or: ["redirect_uri"], .url, required: true,
        "Where the browser comes back to: claimed https, com.example.app:/callback, or http://127.0.0.1/callback."
      ),
      ConfigurationKey(
        "postLogoutRedirectUri",
        or: [
          "post_logout_redirect_uri", "end_session_redirect_uri", "logoutRedirectUri", "logout_redirect_uri",
        ],
        .url, "Where the browser comes back to after a logout."),
      ConfigurationKey(
        "logoutDialect", or: ["logout_dialect"],
        .named(
          "LogoutDialect", "A provider's own way to log out.",
          .oneOf(LogoutDialect.allCases.map { $0.rawValue })),
        "A provider's own logout URL instead of RP-Initiated Logout: auth0 is /v2/logout with returnTo."),
      ConfigurationKey(
        "promptAfterLogout", or: ["prompt_after_logout"],
        .named(
          "PromptAfterLogout", "What the sign-in after a logout asks for.",
          .oneOf(PromptAfterLogout.allCases.map { $0.rawValue })),
        "What the sign-in after a logout or retry asks for. login by default."),
      ConfigurationKey(
        "endpoints", .named("Endpoints", "Endpoints of a provider without discovery.", .object(endpointKeys)),
        "Endpoints of a provider without discovery, instead of asking it."
      ),
      ConfigurationKey(
        "pushedRequests", or: ["pushed_requests"], featurePolicy,
        "Authorize requests go to the provider by POST, the browser carries only their name (RFC 9126). By default auto: where the provider has an endpoint for them."
      ),
      ConfigurationKey(
        "dpop", featurePolicy,
        "Tokens are bound to a key of this client, and each request that carries one needs a proof from dpop.proof (RFC 9449). By default auto: where the provider announces ES256. always refuses Bearer tokens; never is for hosts that send nothing else."
      ),
      ConfigurationKey(
        "idTokenAlgorithms", or: ["id_token_algorithms"],
        .list(
          .named(
            "SignatureAlgorithm", "An algorithm that signs id_tokens.",
            .oneOf(SignatureAlgorithm.allCases.map { $0.rawValue }))),
        "Algorithms that id_tokens may be signed with. All of these by default."),
    ]
  }

  private static var featurePolicy: ConfigurationKey.Shape {
    .named(
      "FeaturePolicy", "When something that a provider may support is used.",
      .oneOf(FeaturePolicy.allCases.map { $0.rawValue }))
  }

  private static var endpointKeys: [ConfigurationKey] {
    [
      ConfigurationKey(
        "authorizationEndpoint", or: ["authorization_endpoint"], .url, required: true, "RFC 6749 §3.1."),
      ConfigurationKey("tokenEndpoint", or: ["token_endpoint"], .url, required: true, "RFC 6749 §3.2."),
      ConfigurationKey("jwksUri", or: ["jwks_uri"], .url, required: true, "The provider's keys, RFC 7517."),
      ConfigurationKey("userinfoEndpoint", or: ["userinfo_endpoint"], .url, "OpenID Connect Core §5.3."),
      ConfigurationKey("revocationEndpoint", or: ["revocation_endpoint"], .url, "RFC 7009."),
      ConfigurationKey(
        "endSessionEndpoint", or: ["end_session_endpoint"], .url, "OpenID Connect RP-Initiated Logout §2."),
      ConfigurationKey("introspectionEndpoint", or: ["introspection_endpoint"], .url, "RFC 7662."),
      ConfigurationKey(
        "pushedAuthorizationRequestEndpoint", or: ["pushed_authorization_request_endpoint"], .url, "RFC 9126."
      ),
      ConfigurationKey(
        "deviceAuthorizationEndpoint", or: ["device_authorization_endpoint"], .url, "RFC 8628 §3.1."),
      ConfigurationKey(
        "authorizationResponseIssParameterSupported", or: ["authorization_response_iss_parameter_supported"],
        .boolean,
        "Whether every answer carries iss (RFC 9207); its absence is then refused. False by default."),
    ]
  }

  private static var signInKeys: [ConfigurationKey] {
    [
      ConfigurationKey(
        "scopes", .either(.text, .list(.text)),
        "What is asked for, as a list or separated by spaces. openid profile offline_access by default."),
      ConfigurationKey(
        "authorizeParameters", or: ["authorize_parameters"], .texts,
        "Extra parameters of every authorize request. The protocol's own names are refused."),
      ConfigurationKey(
        "grace", .integer(ConfigurationLimits.grace),
        "Seconds before its end at which an access token is renewed. 60 by default."),
      ConfigurationKey(
        "transactionLifetime", or: ["transaction_lifetime"], .integer(ConfigurationLimits.transaction),
        "Seconds that a sign-in may take. 600 by default."),
      ConfigurationKey(
        "emailWait", or: ["email_wait"], .integer(ConfigurationLimits.emailWait),
        "Seconds that the link in an e-mail is waited for. 86400 by default."),
      ConfigurationKey(
        "confirmation", .boolean,
        "Whether the user confirms the profile before tokens count. True by default."),
      ConfigurationKey(
        "requireVerifiedEmail", or: ["require_verified_email"], .boolean,
        "Adds the scope email and asks for a verified address. False by default."),
    ]
  }

  private static var registrationKeys: [ConfigurationKey] {
    [
      ConfigurationKey(
        "registration",
        .named(
          "RegistrationStart", "How a registration begins.",
          .either(
            .oneOf(["signIn", "promptCreate"]),
            .named(
              "RegistrationGateway", "A registration that begins at a gateway's own page.",
              .object([
                ConfigurationKey(
                  "registrationUri", or: ["registration_uri"], .url, required: true, "The gateway's own page."
                )
              ])))),
        "How a registration begins. signIn by default."),
      ConfigurationKey(
        "activation",
        .named(
          "Activation", "What an activation link leads to.", .oneOf(Activation.allCases.map { $0.rawValue })),
        "What an activation link leads to. authorize by default."),
      ConfigurationKey(
        "welcomePage", or: ["welcome_page"], .text,
        "The page that openPage opens, such as https://id.example/welcome/{activationToken}. The activation link itself by default."
      ),
      ConfigurationKey(
        "appLinks", or: ["app_links"], .list(.text),
        "Activation links that are accepted, such as https://app.example/welcome/{activationToken}."),
      ConfigurationKey(
        "fallbackUri", or: ["fallback_uri"], .url, "The link that leads back into a registration."),
      ConfigurationKey(
        "native", .boolean, "False where the platform is no native app: the stand-in token is used."),
      ConfigurationKey(
        "standInToken", or: ["stand_in_token"], .text, secret: true,
        "The access token of a platform that is no native app."),
      ConfigurationKey(
        "registrationCheckUri", or: ["registration_check_uri"], .url, "Asked whether a registration is known."
      ),
      ConfigurationKey(
        "requireCheck", or: ["require_check"], .boolean,
        "Whether it is asked before B, C and H, and has to know the account. False by default: it is asked before H alone, and only a contradiction counts."
      ),
      ConfigurationKey("profileUpdateUri", or: ["profile_update_uri"], .url, "Told the confirmed profile."),
      ConfigurationKey(
        "errorReportUri", or: ["error_report_uri"], .url, "Told every failure, without secrets."),
      ConfigurationKey(
        "choices",
        .list(.named("ConfiguredChoice", "A way to register that the host presents.", .object(choiceKeys))),
        "Ways to register that the host presents."),
      ConfigurationKey(
        "app2app", or: ["anotherApp", "another_app"],
        .named("App2App", "Registration with another app's help.", .object(app2appKeys)),
        "Registration with another app's help."),
      ConfigurationKey(
        "bff", or: ["backend"],
        .named(
          "BFF", "A back end that signs in on the app's behalf.",
          .object([
            ConfigurationKey("base", .url, required: true, "Where its /v1/auth begins."),
            ConfigurationKey(
              "dangerouslyAcceptTokenInRedirect", or: ["dangerously_accept_token_in_redirect"], .boolean,
              "Takes the session token out of the redirect itself, where others can see it. False by default."
            ),
          ])),
        "A back end that signs in on the app's behalf."),
      ConfigurationKey(
        "passwordless",
        .named(
          "PasswordlessDialect", "A provider's way of passwordless sign-in.",
          .oneOf(PasswordlessDialect.allCases.map { $0.rawValue })),
        "Which provider's way of passwordless sign-in is spoken."),
      ConfigurationKey(
        "connectionParameter", or: ["connection_parameter"], .text,
        "What the provider calls the connection that the user chose: connection, idp, kc_idp_hint, provider, … connection by default."
      ),
    ]
  }

  private static var returnPageKeys: [ConfigurationKey] {
    [
      ConfigurationKey("appName", or: ["app_name"], .text, "The app's name, above the rest."),
      ConfigurationKey("text", .text, "A line of the app's own, in the page's language."),
      ConfigurationKey(
        "language",
        .named(
          "ReturnPageLanguage", "A language of the return page.",
          .oneOf(ReturnPage.Language.allCases.map { $0.rawValue })),
        "The language of the page's own words. en by default."),
      ConfigurationKey(
        "color", or: ["colour"], .text, "The app's colour, such as #0b6e4f, for the line above the page."),
      ConfigurationKey(
        "backgroundColor", or: ["background_color", "backgroundColour"], .text,
        "The page's background; its text is then black or white, whichever is easier to read. The browser's own by default."
      ),
      ConfigurationKey(
        "link", .url, "A claimed https or private-scheme link that leads back into the app."),
    ]
  }

  private static var choiceKeys: [ConfigurationKey] {
    [
      ConfigurationKey("kind", .text, required: true, "The host's word: google, email, …"),
      ConfigurationKey("connection", .text, "The provider's name for the connection."),
      ConfigurationKey("label", .text, required: true, "What the user reads."),
      ConfigurationKey("guidance", .text, "What the user reads beside it."),
    ]
  }

  private static var app2appKeys: [ConfigurationKey] {
    [
      ConfigurationKey("initUri", or: ["init_uri"], .url, required: true, "Asked first."),
      ConfigurationKey(
        "completeUri", or: ["complete_uri"], .url, required: true, "Asked for tokens at the end."),
      ConfigurationKey(
        "fields",
        .named(
          "App2AppFields", "What the gateway calls its fields.",
          .object([
            ConfigurationKey("sessionId", or: ["session_id"], .text, "sessionId by default."),
            ConfigurationKey("link", .text, "link by default."),
            ConfigurationKey("artefactId", or: ["artefact_id"], .text, "artefactId by default."),
          ])),
        "What the gateway calls its fields."),
      ConfigurationKey(
        "allowedLinks", or: ["allowed_links"], .list(.url), required: true,
        "Beginnings of links that may be opened, each up to the end of a whole host or path segment."),
      ConfigurationKey(
        "requirePin", or: ["require_pin"], .boolean,
        "Whether the user sets a PIN (step pin, ended by pin.set) before the profile is shown. False by default."
      ),
    ]
  }

  private static var developmentKeys: [ConfigurationKey] {
    [
      ConfigurationKey(
        "returnPage", or: ["return_page"],
        .named("ReturnPage", "What the page after a loopback redirect shows.", .object(returnPageKeys)),
        "What the page shows that a loopback redirect leaves in the browser."),
      ConfigurationKey(
        "allowLoopbackHTTP", or: ["allow_loopback_http", "allowLoopbackHttp"], .boolean,
        "Lets a provider on this machine be spoken to by http. False by default."),
      ConfigurationKey(
        "caFile", or: ["ca_file"], .text, "A PEM file with the authorities to trust instead of the system's."),
    ]
  }
}
