// The keys of a configuration as data: the JSON reader, the JSON Schema and the documentation all use this one table.

import EnrollCrypto

/// One key of a configuration in JSON.
public struct ConfigurationKey: Sendable {
  /// The type of a key's value.
  public indirect enum Shape: Sendable {
    /// Any text.
    case text
    /// A text that is a URL; the key's documentation says which URLs are accepted.
    case url
    /// true or false.
    case boolean
    /// A whole number in a range.
    case integer(ClosedRange<Int64>)
    /// One of these words.
    case oneOf([String])
    /// A list of values of this type.
    case list(Shape)
    /// An object with the host's own member names and texts as values.
    case texts
    /// An object with these keys and no others.
    case object([ConfigurationKey])
    /// A value of either type.
    case either(Shape, Shape)
    /// A type with a name, which is the same in all languages, and one sentence that describes it.
    case named(String, String, Shape)
  }

  /// The key's name in the documentation and in errors.
  public var name: String
  /// Spellings that are accepted instead of ``name``, but not together with it.
  public var otherSpellings: [String]
  /// The type of the key's value.
  public var shape: Shape
  /// Whether a configuration without it is refused.
  public var isRequired: Bool
  /// Whether the value is never shown or logged (R40).
  public var isSecret: Bool
  /// Whether the value is the path of a file.
  public var isFile: Bool
  /// One or two sentences for the documentation.
  public var documentation: String

  @inline(never)
  package init(
    _ name: String, or otherSpellings: [String] = [], _ shape: Shape, required: Bool = false,
    secret: Bool = false, file: Bool = false, _ documentation: String
  ) {
    self.name = name
    self.otherSpellings = otherSpellings
    self.shape = shape
    self.isRequired = required
    self.isSecret = secret
    self.isFile = file
    self.documentation = documentation
  }
}

extension Configuration {
  /// All keys, in the order of the documentation.
  public static var keys: [ConfigurationKey] {
    presetKeys + providerKeys + resourceKeys + signInKeys + registrationKeys + developmentKeys
  }

  private static var signInKeys: [ConfigurationKey] {
    [
      ConfigurationKey(
        "scopes", .either(.text, .list(.text)),
        "The scopes to request, as a list or separated by spaces. openid profile offline_access by default; offline_access is left out if the provider lists its scopes without it."
      ),
      ConfigurationKey(
        "authorizeParameters", or: ["authorize_parameters"], .texts,
        "Additional parameters of every authorization request. Names that the protocol uses are rejected."),
      ConfigurationKey(
        "grace", .integer(ConfigurationLimits.grace),
        "How many seconds before its expiry an access token is renewed. 60 by default."),
      ConfigurationKey(
        "transactionLifetime", or: ["transaction_lifetime"], .integer(ConfigurationLimits.transaction),
        "Seconds that a sign-in may take. 600 by default."),
      ConfigurationKey(
        "emailWait", or: ["email_wait"], .integer(ConfigurationLimits.emailWait),
        "Seconds to wait for the link in an e-mail. 86400 by default."),
      ConfigurationKey(
        "confirmation", .boolean,
        "Whether the user must confirm the profile before the tokens are used. True by default."),
      ConfigurationKey(
        "requireVerifiedEmail", or: ["require_verified_email"], .boolean,
        "Whether the user must have a verified e-mail address. Adds the scope email. False by default."),
    ]
  }

  private static var registrationKeys: [ConfigurationKey] {
    [
      ConfigurationKey(
        "registration",
        .named(
          "RegistrationStart", "How a registration begins.",
          .either(
            .oneOf(["signIn", "promptCreate", "promptRegistration"]),
            .named(
              "RegistrationGateway", "A registration that begins at a gateway's own page.",
              .object([
                ConfigurationKey(
                  "registrationUri", or: ["registration_uri"], .url, required: true,
                  "The registration gateway's own page."
                )
              ])))),
        "How a registration begins: with the sign-in page, with prompt=create, with prompt=registration (Hydra), or at the gateway's own page. signIn by default."
      ),
      ConfigurationKey(
        "activation",
        .named(
          "Activation", "The effect of an activation link.", .oneOf(Activation.allCases.map { $0.rawValue })),
        "What an activation link opens: an authorization request, or the welcome page. authorize by default."),
      ConfigurationKey(
        "welcomePage", or: ["welcome_page"], .text,
        "With activation openPage: the page to open, such as https://id.example/welcome/{activationToken}. The activation link itself by default."
      ),
      ConfigurationKey(
        "appLinks", or: ["app_links"], .list(.text),
        "The templates of accepted activation links, such as https://app.example/welcome/{activationToken}."),
      ConfigurationKey(
        "fallbackUri", or: ["fallback_uri"], .url,
        "The link through which the gateway returns the user to a registration."),
      ConfigurationKey(
        "native", .boolean,
        "False on a platform that is not a native app. standInToken is then used instead of a sign-in. True by default."
      ),
      ConfigurationKey(
        "standInToken", or: ["stand_in_token"], .text, secret: true,
        "The access token to use on a platform that is not a native app."),
      ConfigurationKey(
        "registrationCheckUri", or: ["registration_check_uri"], .url,
        "The URL of your back end that confirms that an account exists."
      ),
      ConfigurationKey(
        "requireCheck", or: ["require_check"], .boolean,
        "Whether registrationCheckUri must confirm the account before each state B, C and H. False by default: it is requested before H only, and only a contradiction in its response stops the sign-in."
      ),
      ConfigurationKey(
        "profileUpdateUri", or: ["profile_update_uri"], .url,
        "The URL of your back end that receives the confirmed profile."),
      ConfigurationKey(
        "errorReportUri", or: ["error_report_uri"], .url,
        "The URL of your back end that receives a report of every failure, without secrets."),
      ConfigurationKey(
        "choices",
        .list(.named("ConfiguredChoice", "A way to register that the host presents.", .object(choiceKeys))),
        "The ways to register that the host presents."),
      ConfigurationKey(
        "app2app", or: ["anotherApp", "another_app"],
        .named(
          "App2App", "Registration through another app, which returns through a link.", .object(app2appKeys)),
        "Registration through another app, which returns through a link."),
      ConfigurationKey(
        "bff", or: ["backend"],
        .named(
          "BFF", "A back end that signs the user in for the app (BFF).",
          .object([
            ConfigurationKey(
              "base", .url, required: true, "The base URL of the back end, below which it serves /v1/auth."),
            ConfigurationKey(
              "dangerouslyAcceptTokenInRedirect", or: ["dangerously_accept_token_in_redirect"], .boolean,
              "Accepts a session token in the redirect URL, where other programs can read it. False by default."
            ),
          ])),
        "A back end that signs the user in for the app (BFF)."),
      ConfigurationKey(
        "passwordless",
        .named(
          "PasswordlessDialect", "A provider's API for passwordless sign-in.",
          .oneOf(PasswordlessDialect.allCases.map { $0.rawValue })),
        "The provider whose passwordless sign-in API is used."),
      ConfigurationKey(
        "connectionParameter", or: ["connection_parameter"], .text,
        "The name of the parameter that selects a connection: connection, idp, kc_idp_hint, provider, … connection by default."
      ),
    ]
  }

  private static var returnPageKeys: [ConfigurationKey] {
    [
      ConfigurationKey("appName", or: ["app_name"], .text, "The app's name, at the top of the page."),
      ConfigurationKey(
        "logo", .text,
        "The app's logo, above its name: a PNG, JPEG, WebP or SVG image as a base64 data: URL of at most 64 KiB."
      ),
      ConfigurationKey("text", .text, "An additional line of text, in the page's language."),
      ConfigurationKey(
        "language",
        .named(
          "ReturnPageLanguage", "A language of the return page.",
          .oneOf(ReturnPage.Language.allCases.map { $0.rawValue })),
        "The language of the page's texts. en by default."),
      ConfigurationKey(
        "color", or: ["colour"], .text, "The colour of the line at the top of the page, such as #0b6e4f."),
      ConfigurationKey(
        "backgroundColor", or: ["background_color", "backgroundColour"], .text,
        "The page's background colour. Its text is then black or white, whichever has more contrast. The browser's colours by default."
      ),
      ConfigurationKey(
        "link", .url, "A link back to the app: a claimed https or private-scheme URL."),
    ]
  }

  private static var choiceKeys: [ConfigurationKey] {
    [
      ConfigurationKey(
        "kind", .text, required: true, "The host's own name for this way to register: google, email, …"),
      ConfigurationKey("connection", .text, "The provider's name for the connection."),
      ConfigurationKey("label", .text, required: true, "The text that the user sees."),
      ConfigurationKey("guidance", .text, "An additional explanation that the user sees."),
    ]
  }

  private static var app2appKeys: [ConfigurationKey] {
    [
      ConfigurationKey(
        "initUri", or: ["init_uri"], .url, required: true,
        "The gateway's endpoint that begins a registration and returns the other app's link."),
      ConfigurationKey(
        "completeUri", or: ["complete_uri"], .url, required: true,
        "The gateway's endpoint that completes a registration and returns tokens."),
      ConfigurationKey(
        "fields",
        .named(
          "App2AppFields", "The names of the gateway's fields.",
          .object([
            ConfigurationKey("sessionId", or: ["session_id"], .text, "sessionId by default."),
            ConfigurationKey("link", .text, "link by default."),
            ConfigurationKey("artefactId", or: ["artefact_id"], .text, "artefactId by default."),
          ])),
        "The names of the gateway's fields."),
      ConfigurationKey(
        "allowedLinks", or: ["allowed_links"], .list(.url), required: true,
        "The prefixes of links that may be opened. A prefix ends with a whole host or path segment."),
      ConfigurationKey(
        "requirePin", or: ["require_pin"], .boolean,
        "Whether the user must set a PIN before the profile is shown: the step is pin until pin.set. False by default."
      ),
    ]
  }

  private static var developmentKeys: [ConfigurationKey] {
    [
      ConfigurationKey(
        "returnPage", or: ["return_page"],
        .named("ReturnPage", "The content of the page after a loopback redirect.", .object(returnPageKeys)),
        "The page that the browser shows after a loopback redirect."),
      ConfigurationKey(
        "allowLoopbackHTTP", or: ["allow_loopback_http", "allowLoopbackHttp"], .boolean,
        "Whether http to a provider on this machine is allowed. False by default."),
      ConfigurationKey(
        "caFile", or: ["ca_file"], .text, file: true,
        "A PEM file with the certificate authorities to trust instead of the system's. The file that the environment variable SSL_CERT_FILE names by default. A relative path in a profile starts at the profile's folder; in a configuration that a program passes it starts at the current directory of the process."
      ),
    ]
  }
}
