// The checks of the table of keys that are longer than a line. All of them apply to every configuration, whether it was
// made in code or read from JSON. A check returns what is wrong with its own key; nil if nothing is wrong.

import EnrollCrypto

enum ConfigurationRules {
  // MARK: The provider

  static func issuer(_ configuration: Configuration) -> ConfigurationFault? {
    let issuer = configuration.issuer
    if let problem = issuer.templateProblem { return "\(problem)" }
    if let fault = ConfiguredURL.issuer(
      issuer.of(tenant: "tenant").text, allowsLoopbackHTTP: configuration.allowsLoopbackHTTP)
    {
      return fault
    }
    if !configuration.isOfServer, let name = servesNoApp(issuer) {
      return
        "\(name) serves no app by itself: its clients are servers with a secret. Sign in through a back end, with \(key: "bff")"
    }
    let isAuth0 = configuration.passwordless != nil || configuration.logoutDialect == .auth0
    return issuer.isTemplate && isAuth0 ? "Auth0 has no issuer with {tenantid}" : nil
  }

  /// The name of the provider if its clients are only servers; nil for every other provider. The sign-in of an app
  /// would fail later, with a misleading error.
  private static func servesNoApp(_ issuer: Issuer) -> String? {
    let host = (try? StrictURL(issuer.text))?.hostText ?? ""
    let servers = [
      ("appleid.apple.com", "Apple"), ("www.linkedin.com", "LinkedIn"), ("linkedin.com", "LinkedIn"),
      ("slack.com", "Slack"),
    ]
    return servers.first { ASCII.equals($0.0, host) }?.1
  }

  static func discovery(_ configuration: Configuration) -> ConfigurationFault? {
    guard let uri = configuration.discoveryURI else {
      return configuration.issuer.isTemplate && configuration.endpointsOfSignIn == nil
        ? "an issuer with {tenantid} needs it: no document is below a template" : nil
    }
    return ConfiguredURL.endpoint(uri, of: configuration)
  }

  static func tenants(_ configuration: Configuration) -> ConfigurationFault? {
    let tenants = configuration.tenants
    guard tenants.allSatisfy({ Issuer.isTenant($0) }), tenants.count <= 64 else {
      return "expected at most 64 GUIDs such as 72f988bf-86f1-41af-91ab-2d7cd011db47"
    }
    guard configuration.issuer.isTemplate || tenants.isEmpty else {
      return "it needs an issuer with {tenantid} in its path; this one has one tenant"
    }
    return nil
  }

  static func endpoints(_ configuration: Configuration) -> ConfigurationFault? {
    guard let endpoints = configuration.endpoints else { return nil }
    let named: [(String, String?)] = [
      ("authorizationEndpoint", endpoints.authorization), ("tokenEndpoint", endpoints.token),
      ("jwksUri", endpoints.jwks), ("userinfoEndpoint", endpoints.userinfo),
      ("revocationEndpoint", endpoints.revocation), ("endSessionEndpoint", endpoints.endSession),
      ("introspectionEndpoint", endpoints.introspection),
      ("pushedAuthorizationRequestEndpoint", endpoints.pushedAuthorizationRequest),
      ("deviceAuthorizationEndpoint", endpoints.deviceAuthorization),
    ]
    return urls(named, configuration)
  }

  static func profile(_ configuration: Configuration) -> ConfigurationFault? {
    guard let profile = configuration.profile else { return nil }
    let named: [(String, String?)] = [
      ("endpoint", profile.endpoint), ("emailsEndpoint", profile.emailsEndpoint),
    ]
    if let fault = urls(named, configuration) { return fault }
    guard !profile.subject.isEmpty else {
      return ConfigurationFault("expected a path, such as id").inside("subject")
    }
    let paths = [
      ("subject", profile.subject), ("name", profile.name), ("email", profile.email),
      ("emailVerified", profile.emailVerified), ("picture", profile.picture),
    ]
    for (name, paths) in paths {
      guard paths.count <= 8 else { return ConfigurationFault("expected at most 8 paths").inside(name) }
      for path in paths {
        if let problem = ProfileMapping.problem(in: path) {
          return ConfigurationFault("\(problem)").inside(name)
        }
      }
    }
    return nil
  }

  // MARK: The client

  static func clientSecret(_ configuration: Configuration) -> ConfigurationFault? {
    guard let secret = configuration.clientSecret else { return nil }
    guard secret.withBytes({ (1...512).contains($0.count) && $0.allSatisfy { (0x20...0x7E).contains($0) } })
    else { return "expected 1 to 512 printable ASCII characters" }
    return configuration.clientKey == nil
      ? nil : "the client proves itself with \(key: "clientKeyFile"); leave one of them out"
  }

  static func assertionAudience(_ configuration: Configuration) -> ConfigurationFault? {
    guard let key = configuration.clientKey else { return nil }
    guard !configuration.issuer.isTemplate || key.audience != nil else {
      return "an issuer with {tenantid} needs it: it is no audience"
    }
    return printable(key.audience, maximumBytes: 512)
  }

  static func prompt(_ prompt: String?) -> ConfigurationFault? {
    guard let prompt else { return nil }
    if let expected = PromptText.expectation(brokenBy: prompt) { return "expected \(expected)" }
    return Scopes.contains("none", in: Scopes.split(prompt))
      ? "none cannot be configured: nobody could ever sign in" : nil
  }

  static func authorizeParameters(_ configuration: Configuration) -> ConfigurationFault? {
    if let problem = CustomParameters.problem(in: configuration.authorizeParameters) { return "\(problem)" }
    let parameter = configuration.resourceParameter.rawValue
    let isTwice =
      !configuration.requestedResources.isEmpty && configuration.resourceParameter != .unsent
      && configuration.authorizeParameters.contains { ASCII.equals($0.0, parameter) }
    return isTwice ? "\(parameter) is given twice: the configuration has a key for it" : nil
  }

  static func trustedAudiences(_ audiences: [String]) -> ConfigurationFault? {
    audiences.count <= 64 && audiences.allSatisfy { printable($0, maximumBytes: 512) == nil }
      ? nil : "expected at most 64 texts of 1 to 512 printable characters"
  }

  // MARK: Registration

  static func registration(_ configuration: Configuration) -> ConfigurationFault? {
    guard case .page(let uri) = configuration.registration else { return nil }
    return ConfiguredURL.endpoint(uri, of: configuration)?.inside("registrationUri")
  }

  static func appLinks(_ texts: [String]) -> ConfigurationFault? {
    guard texts.count <= 32 else { return "expected at most 32 links, got \(texts.count)" }
    return firstFault(in: texts) {
      do throws(LinkTemplate.Problem) { _ = try LinkTemplate($0) } catch { return "\(error.text)" }
      return nil
    }
  }

  /// Checks that, with `openPage`, the URL to open is a web page (flows.md §3).
  static func welcomePage(_ configuration: Configuration) -> ConfigurationFault? {
    guard let text = configuration.welcomePage else {
      return configuration.activation == .openPage && !configuration.linkTemplates.allSatisfy { $0.isPage }
        ? "\(key: "activation") openPage needs it unless every app link is an https page" : nil
    }
    do throws(LinkTemplate.Problem) {
      let page = try LinkTemplate(text, mayBeLoopback: configuration.allowsLoopbackHTTP)
      guard page.isPage else { return "expected https, got a private scheme" }
    } catch {
      return "\(error.text)"
    }
    return configuration.activation == .openPage ? nil : "it needs \(key: "activation"): openPage"
  }

  static func fallback(_ configuration: Configuration) -> ConfigurationFault? {
    guard let uri = configuration.fallbackURI else {
      return configuration.activation == .openPage
        ? "\(key: "activation") openPage needs it: the welcome page leads back to it" : nil
    }
    if let fault = ConfiguredURL.link(uri) { return fault }
    return ASCII.equals(uri, configuration.redirectURI)
      ? "it must differ from \(key: "redirectUri"), or the two cannot be told apart" : nil
  }

  static func standInToken(_ configuration: Configuration) -> ConfigurationFault? {
    guard let token = configuration.standInToken else {
      return configuration.isNative ? nil : "it is needed where \(key: "native") is false"
    }
    return token.withBytes { TokenText.isAcceptable($0) }
      ? nil : "expected 1 to \(TokenText.maximumBytes) printable characters"
  }

  static func choices(_ choices: [RegistrationChoice]) -> ConfigurationFault? {
    guard choices.count <= 32 else { return "expected at most 32" }
    return firstFault(in: choices) { choice in
      [choice.kind, choice.connection ?? "-", choice.label, choice.guidance ?? "-"].allSatisfy {
        (1...1024).contains($0.utf8.count)
      } ? nil : "every text must be 1 to 1024 bytes"
    }
  }

  static func app2app(_ configuration: Configuration) -> ConfigurationFault? {
    guard let settings = configuration.app2app else { return nil }
    if let fault = urls(
      [("initUri", settings.initURI), ("completeUri", settings.completeURI)], configuration)
    {
      return fault
    }
    let fields = [settings.sessionIDField, settings.linkField, settings.artefactIDField]
    for field in fields {
      if let fault = printable(field, maximumBytes: 64) { return fault.inside("fields") }
    }
    guard !CustomParameters.contains(settings.artefactIDField, in: ["state", "code", "error", "iss"]) else {
      return ConfigurationFault("a provider's redirect uses that name").inside("fields.artefactId")
    }
    guard !CustomParameters.contains(settings.sessionIDField, in: Array(fields.dropFirst())) else {
      return ConfigurationFault(
        "\(key: "app2app.fields.sessionId") must differ from the other names"
      ).inside("fields")
    }
    guard (1...32).contains(settings.allowedLinks.count) else {
      return ConfigurationFault("expected 1 to 32 links, got \(settings.allowedLinks.count)")
        .inside("allowedLinks")
    }
    return firstFault(in: settings.allowedLinks) { link in
      if let fault = ConfiguredURL.link(link, allowsLoopbackHTTP: configuration.allowsLoopbackHTTP) {
        return fault
      }
      return link.utf8.contains(0x3F) ? "a query is not allowed: links are compared up to it" : nil
    }?.inside("allowedLinks")
  }

  static func bff(_ configuration: Configuration) -> ConfigurationFault? {
    guard let base = configuration.bff?.base else { return nil }
    if let fault = ConfiguredURL.endpoint(base, of: configuration) { return fault.inside("base") }
    return base.utf8.contains(0x3F)
      ? ConfigurationFault("a query is not allowed: paths are added to it").inside("base") : nil
  }

  static func returnPage(_ page: ReturnPage) -> ConfigurationFault? {
    for (key, text) in [("appName", page.appName), ("text", page.text)] {
      guard isWithoutControls(text, maximumBytes: 500) else {
        return ConfigurationFault("expected 1 to 500 bytes without control characters").inside(key)
      }
    }
    for (key, text) in [("color", page.color), ("backgroundColor", page.backgroundColor)] {
      guard let text, ReturnPage.channels(of: text) == nil else { continue }
      return ConfigurationFault("expected a colour such as #0b6e4f").inside(key)
    }
    guard page.logo.map(ReturnPage.isLogo) ?? true else {
      let kinds = ReturnPage.logoKinds.joined(separator: ", ")
      return ConfigurationFault(
        "expected a data: URL of at most 64 KiB, such as data:image/png;base64,iVBORw0KGgo=; the kinds are \(kinds)"
      ).inside("logo")
    }
    return page.link.flatMap { ConfiguredURL.link($0) }?.inside("link")
  }

  // MARK: Values of any key

  static func file(_ path: String?) -> ConfigurationFault? {
    isWithoutControls(path, maximumBytes: 4096)
      ? nil : "expected a path of 1 to 4096 bytes without control characters"
  }

  static func range(_ value: Int64, _ range: ClosedRange<Int64>) -> ConfigurationFault? {
    range.contains(value)
      ? nil : "expected \(range.lowerBound) to \(range.upperBound) seconds, got \(value)"
  }

  /// Checks that a text has only printable ASCII characters and spaces (VSCHAR of RFC 6749 §A.1). An absent text has no
  /// fault.
  static func printable(_ text: String?, maximumBytes: Int, example: String = "") -> ConfigurationFault? {
    guard let text else { return nil }
    return (1...maximumBytes).contains(text.utf8.count) && text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
      ? nil : "expected 1 to \(maximumBytes) printable ASCII characters\(example)"
  }

  private static func isWithoutControls(_ text: String?, maximumBytes: Int) -> Bool {
    guard let text else { return true }
    return (1...maximumBytes).contains(text.utf8.count) && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }

  private static func urls(
    _ named: [(String, String?)], _ configuration: Configuration
  ) -> ConfigurationFault? {
    for (name, uri) in named {
      if let fault = ConfiguredURL.endpoint(uri, of: configuration) { return fault.inside(name) }
    }
    return nil
  }

  static func firstFault<Item>(
    in items: [Item], _ check: (Item) -> ConfigurationFault?
  ) -> ConfigurationFault? {
    for (index, item) in items.enumerated() {
      if let fault = check(item) { return fault.inside("[\(index)]") }
    }
    return nil
  }
}

/// Limits of numbers, shared by the checks and the table of keys.
enum ConfigurationLimits {
  static let grace: ClosedRange<Int64> = 0...86_400
  static let transaction: ClosedRange<Int64> = 30...86_400
  static let emailWait: ClosedRange<Int64> = 60...604_800
  static let withoutExpiry: ClosedRange<Int64> = 30...31_536_000
}
