// The checks that every configuration passes, from code or from JSON. The first broken rule is reported, with its key.

import EnrollCrypto

enum ConfigurationRules {
  static func check(_ configuration: Configuration) throws(EnrollError) {
    try checkURLs(configuration)
    try checkEndpoints(configuration)
    try checkClient(configuration)
    try checkTimes(configuration)
    try checkFlows(configuration)
    try checkFiles(configuration)
  }

  static func links(_ texts: [String], key: String) throws(EnrollError) -> [LinkTemplate] {
    guard texts.count <= 32 else { throw refusal(key, "expected at most 32 links, got \(texts.count)") }
    var templates: [LinkTemplate] = []
    for (index, text) in texts.enumerated() {
      do throws(LinkTemplate.Problem) {
        templates.append(try LinkTemplate(text))
      } catch {
        throw refusal("\(key)[\(index)]", error.text)
      }
    }
    return templates
  }

  static func page(
    _ text: String?, key: String, allowsLoopbackHTTP: Bool
  ) throws(EnrollError) -> LinkTemplate? {
    guard let text else { return nil }
    do throws(LinkTemplate.Problem) {
      let page = try LinkTemplate(text, mayBeLoopback: allowsLoopbackHTTP)
      guard page.isPage else { throw LinkTemplate.Problem(text: "expected https, got a private scheme") }
      return page
    } catch {
      throw refusal(key, error.text)
    }
  }

  /// With `openPage`, the page returns through the fallback link, and the URL to open must be a web page
  /// (flows.md §3).
  private static func checkActivation(_ configuration: Configuration) throws(EnrollError) {
    guard configuration.activation == .openPage else {
      guard configuration.welcomePage == nil else {
        throw refusal("welcomePage", "it needs activation: openPage")
      }
      return
    }
    guard configuration.fallbackURI != nil else {
      throw refusal("fallbackUri", "activation openPage needs it: the welcome page leads back to it")
    }
    guard configuration.welcomePage != nil || configuration.appLinks.allSatisfy({ $0.isPage }) else {
      throw refusal("welcomePage", "activation openPage needs it unless every app link is an https page")
    }
  }

  /// The name of the provider if its clients are only servers; nil for every other provider. The sign-in of an app
  /// would fail later, with a misleading error.
  static func servesNoApp(_ issuer: Issuer) -> String? {
    let host = (try? StrictURL(issuer.text))?.hostText ?? ""
    let servers = [
      ("appleid.apple.com", "Apple"), ("www.linkedin.com", "LinkedIn"), ("linkedin.com", "LinkedIn"),
      ("slack.com", "Slack"),
    ]
    return servers.first { ASCII.equals($0.0, host) }?.1
  }

  private static func checkServesApps(_ issuer: Issuer) throws(EnrollError) {
    guard let name = servesNoApp(issuer) else { return }
    throw refusal(
      "issuer",
      "\(name) serves no app by itself: its clients are servers with a secret. Sign in through a back end, with bff"
    )
  }

  static func checkIssuer(
    _ configuration: Configuration, ofServer: Bool = false
  ) throws(EnrollError) {
    let issuer = configuration.issuer
    if let problem = issuer.templateProblem { throw refusal("issuer", problem) }
    try ConfiguredURL.issuer(
      issuer.of(tenant: "tenant").text, key: "issuer", allowsLoopbackHTTP: configuration.allowsLoopbackHTTP)
    if !ofServer { try checkServesApps(issuer) }
    guard configuration.tenants.allSatisfy({ Issuer.isTenant($0) }), configuration.tenants.count <= 64 else {
      throw refusal("tenants", "expected at most 64 GUIDs such as 72f988bf-86f1-41af-91ab-2d7cd011db47")
    }
    guard issuer.isTemplate else {
      guard configuration.tenants.isEmpty else {
        throw refusal("tenants", "it needs an issuer with {tenantid} in its path; this one has one tenant")
      }
      return
    }
    guard configuration.discoveryURI != nil || configuration.endpointsOfSignIn != nil else {
      throw refusal("discoveryUri", "an issuer with {tenantid} needs it: no document is below a template")
    }
    guard configuration.passwordless == nil, configuration.logoutDialect != .auth0 else {
      throw refusal("issuer", "Auth0 has no issuer with {tenantid}")
    }
  }

  private static func checkProfile(_ profile: ProfileMapping) throws(EnrollError) {
    guard !profile.subject.isEmpty else {
      throw refusal("profile.subject", "expected a path, such as id")
    }
    let paths = [
      ("subject", profile.subject), ("name", profile.name), ("email", profile.email),
      ("emailVerified", profile.emailVerified), ("picture", profile.picture),
    ]
    for (name, paths) in paths {
      guard paths.count <= 8 else { throw refusal("profile.\(name)", "expected at most 8 paths") }
      for path in paths {
        if let problem = ProfileMapping.problem(in: path) { throw refusal("profile.\(name)", problem) }
      }
    }
  }

  private static func checkURLs(_ configuration: Configuration) throws(EnrollError) {
    try checkIssuer(configuration)
    try endpoint(configuration.discoveryURI, "discoveryUri", configuration)
    try endpoint(configuration.profile?.endpoint, "profile.endpoint", configuration)
    try endpoint(configuration.profile?.emailsEndpoint, "profile.emailsEndpoint", configuration)
    let redirectURI = configuration.redirectURI
    try ConfiguredURL.redirect(redirectURI, configured: redirectURI, key: "redirectUri")
    if let uri = configuration.postLogoutRedirectURI {
      try ConfiguredURL.redirect(uri, configured: redirectURI, key: "postLogoutRedirectUri")
    }
    if let uri = configuration.fallbackURI {
      try ConfiguredURL.link(uri, key: "fallbackUri")
      guard !ASCII.equals(uri, configuration.redirectURI) else {
        throw refusal("fallbackUri", "it must differ from redirectUri, or the two cannot be told apart")
      }
    }
    let servers: [(String, String?)] = [
      ("registrationCheckUri", configuration.registrationCheckURI),
      ("profileUpdateUri", configuration.profileUpdateURI),
      ("errorReportUri", configuration.errorReportURI),
      ("bff.base", configuration.bff?.base),
      ("app2app.initUri", configuration.app2app?.initURI),
      ("app2app.completeUri", configuration.app2app?.completeURI),
    ]
    for (key, uri) in servers { try endpoint(uri, key, configuration) }
    if case .page(let uri) = configuration.registration {
      try endpoint(uri, "registration.registrationUri", configuration)
    }
  }

  private static func checkEndpoints(_ configuration: Configuration) throws(EnrollError) {
    guard let endpoints = configuration.endpoints else { return }
    try endpoint(endpoints.authorization, "endpoints.authorizationEndpoint", configuration)
    try endpoint(endpoints.token, "endpoints.tokenEndpoint", configuration)
    try endpoint(endpoints.jwks, "endpoints.jwksUri", configuration)
    try endpoint(endpoints.userinfo, "endpoints.userinfoEndpoint", configuration)
    try endpoint(endpoints.revocation, "endpoints.revocationEndpoint", configuration)
    try endpoint(endpoints.endSession, "endpoints.endSessionEndpoint", configuration)
    try endpoint(endpoints.introspection, "endpoints.introspectionEndpoint", configuration)
    try endpoint(
      endpoints.pushedAuthorizationRequest, "endpoints.pushedAuthorizationRequestEndpoint", configuration)
    try endpoint(endpoints.deviceAuthorization, "endpoints.deviceAuthorizationEndpoint", configuration)
  }

  private static func checkClient(_ configuration: Configuration) throws(EnrollError) {
    // VSCHAR of RFC 6749 §A.1.
    guard isPrintable(configuration.clientID.text, maximumBytes: 512) else {
      throw refusal("clientId", "expected 1 to 512 printable ASCII characters")
    }
    if let secret = configuration.clientSecret {
      guard secret.withBytes({ (1...512).contains($0.count) && $0.allSatisfy { (0x20...0x7E).contains($0) } })
      else {
        throw refusal("clientSecret", "expected 1 to 512 printable ASCII characters")
      }
    } else if configuration.tokenEndpointAuthMethod != nil {
      throw refusal("tokenEndpointAuthMethod", "it needs clientSecret")
    }
    if let key = configuration.clientKey {
      guard configuration.clientSecret == nil else {
        throw refusal("clientSecret", "the client proves itself with clientKeyFile; leave one of them out")
      }
      guard !configuration.issuer.isTemplate || key.audience != nil else {
        throw refusal("clientAssertionAudience", "an issuer with {tenantid} needs it: it is no audience")
      }
      for (name, text) in [("clientKeyId", key.id), ("clientAssertionAudience", key.audience)] {
        guard text.map({ isPrintable($0, maximumBytes: 512) }) ?? true else {
          throw refusal(name, "expected 1 to 512 printable ASCII characters")
        }
      }
    }
    if let prompt = configuration.prompt {
      if let expected = PromptText.expectation(brokenBy: prompt) {
        throw refusal("prompt", "expected \(expected)")
      }
      guard !Scopes.contains("none", in: Scopes.split(prompt)) else {
        throw refusal("prompt", "none cannot be configured: nobody could ever sign in")
      }
    }
    if let problem = Scopes.problem(in: configuration.scopes) { throw refusal("scopes", problem) }
    if let problem = CustomParameters.problem(in: configuration.authorizeParameters) {
      throw refusal("authorizeParameters", problem)
    }
    let parameter = configuration.resourceParameter.rawValue
    if !configuration.requestedResources.isEmpty,
      configuration.authorizeParameters.contains(where: { ASCII.equals($0.0, parameter) })
    {
      throw refusal("authorizeParameters", "\(parameter) is given twice: the configuration has a key for it")
    }
    if let problem = CustomParameters.problem(in: [(configuration.connectionParameter, "")]) {
      throw refusal("connectionParameter", problem)
    }
    guard configuration.idTokenAlgorithms.map({ !$0.isEmpty }) ?? true else {
      throw refusal("idTokenAlgorithms", "at least one algorithm is needed")
    }
    guard configuration.trustedAudiences.count <= 64,
      configuration.trustedAudiences.allSatisfy({ isPrintable($0, maximumBytes: 512) })
    else { throw refusal("trustedAudiences", "expected at most 64 texts of 1 to 512 printable characters") }
  }

  private static func checkTimes(_ configuration: Configuration) throws(EnrollError) {
    try range(configuration.graceSeconds, ConfigurationLimits.grace, "grace")
    try range(configuration.transactionSeconds, ConfigurationLimits.transaction, "transactionLifetime")
    try range(configuration.emailWaitSeconds, ConfigurationLimits.emailWait, "emailWait")
    if configuration.withoutExpirySeconds != Configuration.Defaults.neverExpiresSeconds {
      try range(configuration.withoutExpirySeconds, ConfigurationLimits.withoutExpiry, "withoutExpiry")
    }
  }

  private static func checkFlows(_ configuration: Configuration) throws(EnrollError) {
    try checkActivation(configuration)
    if configuration.requireCheck && configuration.registrationCheckURI == nil {
      throw refusal("requireCheck", "it needs registrationCheckUri")
    }
    if configuration.requireVerifiedEmail && !Scopes.contains("openid", in: configuration.scopes) {
      throw refusal("requireVerifiedEmail", "it needs the scope openid")
    }
    if let token = configuration.standInToken {
      guard token.withBytes({ TokenText.isAcceptable($0) }) else {
        throw refusal("standInToken", "expected 1 to \(TokenText.maximumBytes) printable characters")
      }
    } else if !configuration.isNative {
      throw refusal("standInToken", "it is needed where native is false")
    }
    if let another = configuration.app2app { try checkApp2App(another, configuration) }
    if let base = configuration.bff?.base, base.utf8.contains(0x3F) {
      throw refusal("bff.base", "a query is not allowed: paths are added to it")
    }
    try checkReturnPage(configuration.returnPage)
    if let profile = configuration.profile { try checkProfile(profile) }
    if let userAgent = configuration.userAgent, !isPrintable(userAgent, maximumBytes: 256) {
      throw refusal("userAgent", "expected 1 to 256 printable ASCII characters, such as App/2.1")
    }
    guard configuration.choices.count <= 32 else { throw refusal("choices", "expected at most 32") }
    for (index, choice) in configuration.choices.enumerated() {
      for text in [choice.kind, choice.connection ?? "-", choice.label, choice.guidance ?? "-"] {
        guard (1...1024).contains(text.utf8.count) else {
          throw refusal("choices[\(index)]", "every text must be 1 to 1024 bytes")
        }
      }
    }
  }

  private static func checkReturnPage(_ page: ReturnPage) throws(EnrollError) {
    for (key, text) in [("appName", page.appName), ("text", page.text)] {
      guard
        text.map({ (1...500).contains($0.utf8.count) && $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } })
          ?? true
      else { throw refusal("returnPage.\(key)", "expected 1 to 500 bytes without control characters") }
    }
    for (key, text) in [("color", page.color), ("backgroundColor", page.backgroundColor)] {
      guard let text else { continue }
      guard ReturnPage.channels(of: text) != nil else {
        throw refusal("returnPage.\(key)", "expected a colour such as #0b6e4f")
      }
    }
    guard page.logo.map(ReturnPage.isLogo) ?? true else {
      throw refusal(
        "returnPage.logo",
        "expected a data: URL of at most 64 KiB, such as data:image/png;base64,iVBORw0KGgo=; the kinds are "
          + ReturnPage.logoKinds.joined(separator: ", "))
    }
    if let link = page.link { try ConfiguredURL.link(link, key: "returnPage.link") }
  }

  private static func checkApp2App(
    _ settings: App2AppSettings, _ configuration: Configuration
  ) throws(EnrollError) {
    for field in [settings.sessionIDField, settings.linkField, settings.artefactIDField] {
      guard isPrintable(field, maximumBytes: 64) else {
        throw refusal("app2app.fields", "expected 1 to 64 printable ASCII characters")
      }
    }
    guard !CustomParameters.contains(settings.artefactIDField, in: ["state", "code", "error", "iss"]) else {
      throw refusal("app2app.fields.artefactId", "a provider's redirect uses that name")
    }
    guard !ASCII.equals(settings.sessionIDField, settings.linkField),
      !ASCII.equals(settings.sessionIDField, settings.artefactIDField)
    else { throw refusal("app2app.fields", "sessionId must differ from the other names") }
    guard (1...32).contains(settings.allowedLinks.count) else {
      throw refusal(
        "app2app.allowedLinks", "expected 1 to 32 links, got \(settings.allowedLinks.count)")
    }
    for (index, link) in settings.allowedLinks.enumerated() {
      let key = "app2app.allowedLinks[\(index)]"
      try ConfiguredURL.link(link, key: key, allowsLoopbackHTTP: configuration.allowsLoopbackHTTP)
      guard !link.utf8.contains(0x3F) else {
        throw refusal(key, "a query is not allowed: links are compared up to it")
      }
    }
  }

  private static func checkFiles(_ configuration: Configuration) throws(EnrollError) {
    for (key, path) in [("caFile", configuration.caFile), ("clientKeyFile", configuration.clientKey?.file)] {
      guard
        path.map({ (1...4096).contains($0.utf8.count) && $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } })
          ?? true
      else { throw refusal(key, "expected a path of 1 to 4096 bytes without control characters") }
    }
  }

  private static func endpoint(
    _ uri: String?, _ key: String, _ configuration: Configuration
  ) throws(EnrollError) {
    guard let uri else { return }
    try ConfiguredURL.endpoint(uri, key: key, allowsLoopbackHTTP: configuration.allowsLoopbackHTTP)
  }

  private static func range(_ value: Int64, _ range: ClosedRange<Int64>, _ key: String) throws(EnrollError) {
    guard range.contains(value) else {
      throw refusal(key, "expected \(range.lowerBound) to \(range.upperBound) seconds, got \(value)")
    }
  }

  private static func isPrintable(_ text: String, maximumBytes: Int) -> Bool {
    (1...maximumBytes).contains(text.utf8.count) && text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
  }

  static func refusal(_ key: String, _ text: String) -> EnrollError {
    EnrollError(.configuration, "\(key): \(text)", field: key)
  }
}

/// Limits of numbers, shared by the checks and the table of keys.
enum ConfigurationLimits {
  static let grace: ClosedRange<Int64> = 0...86_400
  static let transaction: ClosedRange<Int64> = 30...86_400
  static let emailWait: ClosedRange<Int64> = 60...604_800
  static let withoutExpiry: ClosedRange<Int64> = 30...31_536_000
}
