// The configuration keys that concern a sign-in, the return page, and development.

import EnrollCrypto

extension Configuration {
  static var signInKeys: [ConfigurationKey] {
    [
      ConfigurationKey(
        "scopes", .either(.text, .list(.text)),
        "The scopes to request, as a list or separated by spaces. openid profile offline_access by default; offline_access is left out if the provider lists its scopes without it."
      ) {
        $0.scopes = $1.scopes
      } check: {
        Scopes.problem(in: $0.scopes).map { "\($0)" }
      },
      ConfigurationKey(
        "authorizeParameters", or: ["authorize_parameters"], .texts,
        "Additional parameters of every authorization request. Names that the protocol uses are rejected."
      ) {
        $0.authorizeParameters = $1.fields
      } check: {
        ConfigurationRules.authorizeParameters($0)
      },
      ConfigurationKey(
        "grace", property: "graceSeconds", .integer(ConfigurationLimits.grace),
        "How many seconds before its expiry an access token is renewed. 60 by default."
      ) {
        $0.graceSeconds = $1.integer
      } check: {
        ConfigurationRules.range($0.graceSeconds, ConfigurationLimits.grace)
      },
      ConfigurationKey(
        "transactionLifetime", property: "transactionSeconds", or: ["transaction_lifetime"],
        .integer(ConfigurationLimits.transaction),
        "Seconds that a sign-in may take. 600 by default."
      ) {
        $0.transactionSeconds = $1.integer
      } check: {
        ConfigurationRules.range($0.transactionSeconds, ConfigurationLimits.transaction)
      },
      ConfigurationKey(
        "emailWait", property: "emailWaitSeconds", or: ["email_wait"],
        .integer(ConfigurationLimits.emailWait),
        "Seconds to wait for the link in an e-mail. 86400 by default."
      ) {
        $0.emailWaitSeconds = $1.integer
      } check: {
        ConfigurationRules.range($0.emailWaitSeconds, ConfigurationLimits.emailWait)
      },
      ConfigurationKey(
        "confirmation", property: "requiresConfirmation", .boolean,
        "Whether the user must confirm the profile before the tokens are used. True by default."
      ) { $0.requiresConfirmation = $1.flag },
      ConfigurationKey(
        "requireVerifiedEmail", or: ["require_verified_email"], .boolean,
        "Whether the user must have a verified e-mail address. Adds the scope email. False by default."
      ) {
        $0.requireVerifiedEmail = $1.flag
      } check: {
        $0.requireVerifiedEmail && !Scopes.contains("openid", in: $0.scopes)
          ? "it needs the scope openid" : nil
      },
    ]
  }

  static var developmentKeys: [ConfigurationKey] {
    [
      ConfigurationKey(
        "returnPage", or: ["return_page"],
        .named("ReturnPage", "The content of the page after a loopback redirect.", .object(returnPageKeys)),
        "The page that the browser shows after a loopback redirect."
      ) {
        $0.returnPage = $1.returnPage
      } check: {
        ConfigurationRules.returnPage($0.returnPage)
      },
      ConfigurationKey(
        "allowLoopbackHTTP", property: "allowsLoopbackHTTP",
        or: ["allow_loopback_http", "allowLoopbackHttp"], .boolean,
        "Whether http to a provider on this machine is allowed. False by default."
      ) { $0.allowsLoopbackHTTP = $1.flag },
      ConfigurationKey(
        "caFile", or: ["ca_file"], .text, file: true,
        "A PEM file with the certificate authorities to trust instead of the system's. The file that the environment variable SSL_CERT_FILE names by default. A relative path in a profile starts at the profile's folder; in a configuration that a program passes it starts at the current directory of the process."
      ) {
        $0.caFile = $1.text
      } check: {
        ConfigurationRules.file($0.caFile)
      },
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
}
