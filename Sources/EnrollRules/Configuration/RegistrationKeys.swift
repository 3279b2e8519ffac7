// The configuration keys that concern registration, the host's own back end, and other ways to sign in.

import EnrollCrypto

extension Configuration {
  static var registrationKeys: [ConfigurationKey] {
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
      ) {
        $0.registration = $1.registration
      } check: {
        ConfigurationRules.registration($0)
      },
      ConfigurationKey(
        "activation",
        .named(
          "Activation", "The effect of an activation link.", .oneOf(Activation.allCases.map { $0.rawValue })),
        "What an activation link opens: an authorization request, or the welcome page. authorize by default."
      ) { $0.activation = Activation(rawValue: $1.text) ?? .authorize },
      ConfigurationKey(
        "welcomePage", or: ["welcome_page"], .text,
        "With activation openPage: the page to open, such as https://id.example/welcome/{activationToken}. The activation link itself by default."
      ) {
        $0.welcomePage = $1.text
      } check: {
        ConfigurationRules.welcomePage($0)
      },
      ConfigurationKey(
        "appLinks", or: ["app_links"], .list(.text),
        "The templates of accepted activation links, such as https://app.example/welcome/{activationToken}."
      ) {
        $0.appLinks = $1.texts
      } check: {
        ConfigurationRules.appLinks($0.appLinks)
      },
      ConfigurationKey(
        "fallbackUri", property: "fallbackURI", or: ["fallback_uri"], .url,
        "The link through which the gateway returns the user to a registration."
      ) {
        $0.fallbackURI = $1.text
      } check: {
        ConfigurationRules.fallback($0)
      },
      ConfigurationKey(
        "native", property: "isNative", .boolean,
        "False on a platform that is not a native app. standInToken is then used instead of a sign-in. True by default."
      ) { $0.isNative = $1.flag },
      ConfigurationKey(
        "standInToken", or: ["stand_in_token"], .text, secret: true,
        "The access token to use on a platform that is not a native app."
      ) {
        $0.standInToken = Secret($1.text)
      } check: {
        ConfigurationRules.standInToken($0)
      },
      ConfigurationKey(
        "registrationCheckUri", property: "registrationCheckURI", or: ["registration_check_uri"], .url,
        "The URL of your back end that confirms that an account exists."
      ) {
        $0.registrationCheckURI = $1.text
      } check: {
        ConfiguredURL.endpoint($0.registrationCheckURI, of: $0)
      },
      ConfigurationKey(
        "requireCheck", or: ["require_check"], .boolean,
        "Whether registrationCheckUri must confirm the account before each state B, C and H. False by default: it is requested before H only, and only a contradiction in its response stops the sign-in."
      ) {
        $0.requireCheck = $1.flag
      } check: {
        $0.requireCheck && $0.registrationCheckURI == nil ? "it needs \(key: "registrationCheckUri")" : nil
      },
      ConfigurationKey(
        "profileUpdateUri", property: "profileUpdateURI", or: ["profile_update_uri"], .url,
        "The URL of your back end that receives the confirmed profile."
      ) {
        $0.profileUpdateURI = $1.text
      } check: {
        ConfiguredURL.endpoint($0.profileUpdateURI, of: $0)
      },
      ConfigurationKey(
        "errorReportUri", property: "errorReportURI", or: ["error_report_uri"], .url,
        "The URL of your back end that receives a report of every failure, without secrets."
      ) {
        $0.errorReportURI = $1.text
      } check: {
        ConfiguredURL.endpoint($0.errorReportURI, of: $0)
      },
      ConfigurationKey(
        "choices",
        .list(.named("ConfiguredChoice", "A way to register that the host presents.", .object(choiceKeys))),
        "The ways to register that the host presents."
      ) {
        $0.choices = $1.choices
      } check: {
        ConfigurationRules.choices($0.choices)
      },
      ConfigurationKey(
        "app2app", or: ["anotherApp", "another_app"],
        .named(
          "App2App", "Registration through another app, which returns through a link.", .object(app2appKeys)),
        "Registration through another app, which returns through a link."
      ) {
        $0.app2app = $1.app2app
      } check: {
        ConfigurationRules.app2app($0)
      },
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
        "A back end that signs the user in for the app (BFF)."
      ) {
        $0.bff = $1.bff
      } check: {
        ConfigurationRules.bff($0)
      },
      ConfigurationKey(
        "passwordless",
        .named(
          "PasswordlessDialect", "A provider's API for passwordless sign-in.",
          .oneOf(PasswordlessDialect.allCases.map { $0.rawValue })),
        "The provider whose passwordless sign-in API is used."
      ) { $0.passwordless = PasswordlessDialect(rawValue: $1.text) },
      ConfigurationKey(
        "connectionParameter", or: ["connection_parameter"], .text,
        "The name of the parameter that selects a connection: connection, idp, kc_idp_hint, provider, … connection by default."
      ) {
        $0.connectionParameter = $1.text
      } check: {
        CustomParameters.problem(in: [($0.connectionParameter, "")]).map { "\($0)" }
      },
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
}
