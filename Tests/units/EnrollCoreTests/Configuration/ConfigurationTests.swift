@testable import EnrollRules
import EnrollCrypto
import EnrollJSON
import Expectations
import Testing

@Suite("Configuration (flows.md §1)")
struct ConfigurationTests {
  static let minimum: [(String, JSON?)] = [
    ("issuer", .string("https://id.example.com")), ("clientId", .string("native")),
    ("redirectUri", .string("com.example.app:/cb")),
  ]

  private func read(_ changes: [(String, JSON?)]) throws -> Configuration {
    try Configuration(json: .object(Self.minimum + changes))
  }

  @Test("three keys suffice, the rest has defaults")
  func defaults() throws {
    let configuration = try read([])
    expect(configuration.issuer, is: "https://id.example.com")
    expect(configuration.clientID, is: "native")
    expect(configuration.redirectURI, is: "com.example.app:/cb")
    expect(configuration.scopes, is: ["openid", "profile", "offline_access"])
    expect(configuration.graceSeconds, is: 60)
    expect(configuration.transactionSeconds, is: 600)
    expect(configuration.emailWaitSeconds, is: 86_400)
    #expect(configuration.requiresConfirmation)
    #expect(configuration.isNative)
    #expect(!configuration.allowsLoopbackHTTP)
    expect(configuration.idTokenAlgorithms(at: nil).count, is: 11)
    expect(configuration.registration, is: .signIn)
    expect(configuration.activation, is: .authorize)
    expect(configuration.endpoints, is: nil)
  }

  @Test("code and JSON give the same values")
  func bothWays() throws {
    let fromCode = try Configuration(
      issuer: "https://id.example.com", clientID: "native", redirectURI: "com.example.app:/cb")
    let fromJSON = try read([])
    expect(fromCode.scopes, is: fromJSON.scopes)
    expect(fromCode.graceSeconds, is: fromJSON.graceSeconds)
    expect(fromCode.requiresConfirmation, is: fromJSON.requiresConfirmation)
    expect(fromCode.idTokenAlgorithms, is: fromJSON.idTokenAlgorithms)
  }

  @Test("every key is read")
  func everyKey() throws {
    let text = """
      {"discovery_uri": "https://id.example.com", "client_id": "native", "redirect_uri": "https://app.example/cb",
       "end_session_redirect_uri": "com.example.app:/out", "fallback_uri": "com.example.app://identity/fallback",
       "scopes": "openid email", "app_links": ["https://app.example/welcome/{activationToken}"], "grace": 5,
       "transaction_lifetime": 900, "email_wait": 3600, "authorize_parameters": {"audience": "api", "b": "c d"},
       "endpoints": {"authorization_endpoint": "https://id.example.com/a", "tokenEndpoint": "https://id.example.com/t",
         "jwks_uri": "https://id.example.com/j", "userinfo_endpoint": "https://id.example.com/u",
         "revocation_endpoint": "https://id.example.com/r", "end_session_endpoint": "https://id.example.com/e",
         "authorization_response_iss_parameter_supported": true},
       "id_token_algorithms": ["ES256"], "registration": {"registration_uri": "https://gate.example.com/r"},
       "activation": "openPage", "native": false, "stand_in_token": "stand-in", "confirmation": false,
       "registration_check_uri": "https://gate.example.com/c", "require_check": true,
       "profile_update_uri": "https://gate.example.com/p", "error_report_uri": "https://gate.example.com/x",
       "require_verified_email": true,
       "choices": [{"kind": "google", "connection": "google-oauth2", "label": "Google", "guidance": "fast"}],
       "app2app": {"init_uri": "https://gate.example.com/i", "complete_uri": "https://gate.example.com/f",
         "fields": {"session_id": "sessionID", "link": "digidRequest"}, "allowed_links": ["https://other.example/app"]},
       "bff": {"base": "https://bff.example.com"}, "passwordless": "auth0", "allow_loopback_http": true,
       "ca_file": "/etc/ca.pem"}
      """
    let configuration = try Configuration(json: JSON.parse(Array(text.utf8)))
    expect(configuration.redirectURI, is: "https://app.example/cb")
    expect(configuration.postLogoutRedirectURI, is: "com.example.app:/out")
    expect(configuration.fallbackURI, is: "com.example.app://identity/fallback")
    expect(configuration.scopes, is: ["openid", "email"])
    expect(configuration.appLinks, is: ["https://app.example/welcome/{activationToken}"])
    expect(configuration.graceSeconds, is: 5)
    expect(configuration.transactionSeconds, is: 900)
    expect(configuration.emailWaitSeconds, is: 3600)
    expect(configuration.authorizeParameters.map(\.0), is: ["audience", "b"])
    expect(configuration.authorizeParameters.map(\.1), is: ["api", "c d"])
    expect(
      configuration.endpoints,
      is: Endpoints(
        authorization: "https://id.example.com/a", token: "https://id.example.com/t",
        jwks: "https://id.example.com/j", userinfo: "https://id.example.com/u",
        revocation: "https://id.example.com/r", endSession: "https://id.example.com/e",
        announcesIssuerInRedirect: true))
    expect(configuration.idTokenAlgorithms, is: [.ES256])
    expect(configuration.registration, is: .page("https://gate.example.com/r"))
    expect(configuration.activation, is: .openPage)
    #expect(!configuration.isNative)
    expect(configuration.standInToken, is: Secret("stand-in"))
    #expect(!configuration.requiresConfirmation)
    expect(configuration.registrationCheckURI, is: "https://gate.example.com/c")
    #expect(configuration.requireCheck)
    expect(configuration.profileUpdateURI, is: "https://gate.example.com/p")
    expect(configuration.errorReportURI, is: "https://gate.example.com/x")
    #expect(configuration.requireVerifiedEmail)
    expect(
      configuration.choices,
      is: [
        RegistrationChoice(kind: "google", connection: "google-oauth2", label: "Google", guidance: "fast")
      ])
    expect(
      configuration.app2app,
      is: App2AppSettings(
        initURI: "https://gate.example.com/i", completeURI: "https://gate.example.com/f",
        sessionIDField: "sessionID", linkField: "digidRequest", artefactIDField: "artefactId",
        allowedLinks: ["https://other.example/app"]))
    expect(configuration.bff, is: BFFSettings(base: "https://bff.example.com"))
    expect(configuration.passwordless, is: .auth0)
    #expect(configuration.allowsLoopbackHTTP)
    expect(configuration.caFile, is: "/etc/ca.pem")
  }

  @Test("every spelling in the table is understood, beside no other of the same key")
  func spellings() {
    func check(_ keys: [ConfigurationKey]) {
      let names = keys.flatMap { [$0.name] + $0.otherSpellings }
      expect(Set(names).count, is: names.count)
      #expect(keys.allSatisfy { !$0.documentation.isEmpty })
    }
    check(Configuration.keys)
    for key in Configuration.keys {
      if case .object(let keys) = key.shape { check(keys) }
      for spelling in key.otherSpellings {
        var members = Self.minimum.filter { $0.0 != key.name }
        members.append((spelling, .array([.null])))
        let error = refusal { try Configuration(json: .object(members)) }
        expect(error?.code, is: .configuration)
        expect(error?.field?.hasPrefix(spelling), is: true, "\(spelling): \(error?.message ?? "accepted")")
      }
      let twice = refusal { try read([(key.name, .null), (key.otherSpellings.first ?? "unknown", .null)]) }
      expect(twice?.code, is: .configuration)
    }
  }

  @Test("one key in two spellings is refused")
  func twoSpellings() {
    let error = refusal { try read([("client_id", .string("native"))]) }
    expect(error?.field, is: "clientId")
    expect(error?.message.contains("two spellings"), is: true)
  }

  @Test("a missing key, an unknown one and a wrong type are refused by name")
  func shape() {
    for name in ["issuer", "clientId", "redirectUri"] {
      let members = Self.minimum.filter { $0.0 != name }
      expect(refusal { try Configuration(json: .object(members)) }?.field, is: name)
    }
    expect(refusal { try read([("issuer2\n", .string("x"))]) }?.field, is: "issuer2?")
    expect(refusal { try read([("endpoints", .object([("tokens", .null)]))]) }?.field, is: "endpoints.tokens")
    expect(refusal { try Configuration(json: .array([])) }?.field, is: "configuration")
    let error = refusal { try read([("grace", .string("60"))]) }
    expect(error?.field, is: "grace")
    expect(error?.message, is: "grace: expected an integer, got string")
  }

  static let refused: [(String, JSON, String)] = [
    ("connectionParameter", .string(""), "connectionParameter"),
    ("connectionParameter", .string("client_id"), "connectionParameter"),
    ("connectionParameter", .string("state"), "connectionParameter"),
    ("connectionParameter", .string("prompt"), "connectionParameter"),
    ("connectionParameter", .string("a b"), "connectionParameter"),
    ("grace", .integer(-1), "grace"), ("grace", .integer(86_401), "grace"), ("grace", .number(1.5), "grace"),
    ("transactionLifetime", .integer(29), "transactionLifetime"), ("emailWait", .integer(.max), "emailWait"),
    ("scopes", .string(""), "scopes"), ("scopes", .string("openid  profile"), "scopes"),
    ("scopes", .string("openid openid"), "scopes"), ("scopes", .array([.string("a b")]), "scopes"),
    ("scopes", .array([.integer(1)]), "scopes[0]"), ("scopes", .array([.string("é")]), "scopes"),
    ("scopes", .array([.string("a\"")]), "scopes"), ("scopes", .bool(true), "scopes"),
    ("authorizeParameters", .object([("state", .string("x"))]), "authorizeParameters"),
    ("authorizeParameters", .object([("prompt", .string("x"))]), "authorizeParameters"),
    ("authorizeParameters", .object([("a", .integer(1))]), "authorizeParameters.a"),
    ("authorizeParameters", .object([("a b", .string("x"))]), "authorizeParameters"),
    ("authorizeParameters", .object([("a", .string("x\n"))]), "authorizeParameters"),
    ("idTokenAlgorithms", .array([]), "idTokenAlgorithms"),
    ("idTokenAlgorithms", .array([.string("none")]), "idTokenAlgorithms[0]"),
    ("idTokenAlgorithms", .array([.string("HS256")]), "idTokenAlgorithms[0]"),
    (
      "endpoints", .object([("tokenEndpoint", .string("http://a.example/t"))]),
      "endpoints.tokenEndpoint"
    ),
    ("registration", .string("other"), "registration"),
    (
      "registration", .object([("registrationUri", .string("http://a.example/"))]),
      "registration.registrationUri"
    ),
    ("activation", .string("both"), "activation"),
    ("native", .bool(false), "standInToken"), ("standInToken", .string("a b"), "standInToken"),
    ("requireCheck", .bool(true), "requireCheck"), ("caFile", .string(""), "caFile"),
    ("caFile", .string("a\u{0}b"), "caFile"), ("passwordless", .string("sms"), "passwordless"),
    ("bff", .object([]), "bff.base"), ("bff", .object([("base", .string("x"))]), "bff.base"),
    ("choices", .array([.object([("kind", .string("a"))])]), "choices[0].label"),
    ("appLinks", .array([.string("https://a.example/w")]), "appLinks[0]"),
    ("fallbackUri", .string("com.example.app:/cb"), "fallbackUri"),
    ("fallbackUri", .string("http://127.0.0.1/f"), "fallbackUri"),
    ("fallbackUri", .string("app://identity/f"), "fallbackUri"),
    ("postLogoutRedirectUri", .string("app:/out"), "postLogoutRedirectUri"),
    ("profileUpdateUri", .string("http://localhost/"), "profileUpdateUri"),
    ("errorReportUri", .string("com.example.app:/x"), "errorReportUri"),
  ]

  @Test(
    "a misspelt key is told which one was meant, where one is near",
    arguments: [
      ("redirectUrl", "redirectUri"), ("redirect_url", "redirect_uri"), ("clientID", "clientId"),
      ("client-id", "clientId"), ("isuer", "issuer"), ("Scopes", "scopes"), ("grace", nil), ("colour", nil),
      (String(repeating: "redirectUri", count: 50), nil),
    ])
  func misspelt(key: String, meant: String?) throws {
    let json = JSON.object([("issuer", .string("https://id.example")), (key, .string("x"))])
    let error = refusal { try Configuration(json: json) }
    expect(error?.code, is: .configuration)
    expect(
      (error?.message.contains("perhaps \(meant ?? "") was meant") ?? false), is: meant != nil,
      "\(error?.message ?? "accepted")")
  }

  @Test("a client secret is read, and how it is sent; a method without one is refused")
  func clientSecret() throws {
    let read = try read([
      ("client_secret", .string("s")), ("token_endpoint_auth_method", .string("client_secret_basic")),
    ])
    #expect(read.clientSecret == Secret("s") && read.tokenEndpointAuthMethod == .basic)
    for (key, value) in [
      ("clientSecret", ""), ("clientSecret", "a\nb"), ("clientSecret", String(repeating: "x", count: 513)),
      ("tokenEndpointAuthMethod", "client_secret_post"), ("tokenEndpointAuthMethod", "private_key_jwt"),
    ] {
      let error = refusal { try self.read([(key, .string(value))]) }
      #expect(error?.code == .configuration && error?.field == key, "\(key)")
    }
  }

  @Test("a value that breaks a rule is refused by its key", arguments: refused)
  func values(key: String, value: JSON, field: String) {
    let error = refusal { try read([(key, value)]) }
    expect(error?.code, is: .configuration)
    expect(error?.field, is: field)
  }

  @Test(
    "an issuer is https, or loopback http where that is switched on (R19)",
    arguments: [
      ("https://id.example.com", true), ("https://id.example.com/", true),
      ("https://id.example.com:8443/t/a", true),
      ("http://id.example.com", false), ("http://localhost:5000", false),
      ("https://id.example.com?a=b", false),
      ("https://id.example.com#", false), ("com.example.app:/", false), ("id.example.com", false),
      ("https://u:p@id.example.com", false),
      ("https://id.example.com/.well-known/openid-configuration", false),
    ])
  func issuers(text: String, isAccepted: Bool) {
    let error = refusal {
      try Configuration(issuer: text, clientID: "c", redirectURI: "com.example.app:/cb")
    }
    expect((error == nil), is: isAccepted)
    if !isAccepted { expect(error?.field, is: "issuer") }
  }

  @Test("allowLoopbackHTTP lets http through to loopback, and to nothing else (R19)")
  func loopbackSwitch() throws {
    let allowed: [(String, JSON?)] = [("allowLoopbackHTTP", .bool(true))]
    func members(_ issuer: String) -> JSON {
      .object(Self.minimum.filter { $0.0 != "issuer" } + allowed + [("issuer", .string(issuer))])
    }
    try expect(Configuration(json: members("http://localhost:5000")).issuer, is: "http://localhost:5000")
    expect(refusal { try Configuration(json: members("http://id.example.com")) }?.field, is: "issuer")
  }

  @Test("discovery_uri may be the discovery document's address")
  func discoveryURI() throws {
    let rest = Self.minimum.filter { $0.0 != "issuer" }
    let address = JSON.string("https://id.example.com/t/.well-known/openid-configuration")
    try expect(
      Configuration(json: .object(rest + [("discovery_uri", address)])).issuer, is: "https://id.example.com/t"
    )
    expect(refusal { try Configuration(json: .object(rest + [("issuer", address)])) }?.field, is: "issuer")
  }

  @Test(
    "redirects are claimed https, a private scheme, or a loopback address or localhost (R2, R3, R4)",
    arguments: [
      ("https://app.example/cb", true), ("com.example.app:/cb", true), ("com.example.app:/", true),
      ("http://127.0.0.1/cb", true), ("http://127.0.0.1:8765/cb", true), ("http://[::1]:1/cb", true),
      ("https://app.example/cb?tenant=1", true),
      ("myapp:/cb", true), ("msal12-34://auth", true), ("com.example.app://cb", true),
      ("http://localhost/cb", true), ("http://localhost:8765/cb", true), ("com.example.app:cb", false),
      ("javascript:/cb", false), ("file:/cb", false), ("intent://cb", false),
      ("http://app.localhost/cb", false), ("http://127.0.0.2/cb", false), ("http://app.example/cb", false),
      ("https://app.example/cb#", false), ("com.example.app:/cb#x", false), ("https://app.example", false),
      ("https://App.example/cb", false), ("https://app.example:443/cb", false),
      ("http://127.0.0.1:80/cb", false),
      ("https://app.example/cb?state=1", false), ("https://app.example/cb?c%6Fde=1", false), ("", false),
    ])
  func redirects(text: String, isAccepted: Bool) {
    let error = refusal {
      try Configuration(issuer: "https://id.example.com", clientID: "c", redirectURI: text)
    }
    expect((error == nil), is: isAccepted, "\(error?.message ?? "accepted")")
    if !isAccepted { expect(error?.field, is: "redirectURI") }
  }

  @Test("a scheme without a dot is warned of, and is the redirect's own alone (R2)")
  func dotless() throws {
    func configuration(_ redirectURI: String, _ logout: String? = nil) throws(EnrollError) -> Configuration {
      try Configuration(
        issuer: "https://id.example.com", clientID: "c", redirectURI: redirectURI
      ) {
        $0.postLogoutRedirectURI = logout
      }
    }
    let own = try configuration("msal1://auth", "msal1://logout")
    expect(own.redirectWarning?.contains("has no dot"), is: true)
    try expect(own.ownership(of: "msal1://auth?code=x"), is: .redirect)
    try expect(own.ownership(of: "msal1://logout"), is: .logout)
    try expect(Redirect(parsing: "msal1://auth?code=x", configured: own.redirectURI).code(), isNot: nil)
    expect(refusal { _ = try own.ownership(of: "msal2://auth") }?.code, is: .redirectMalformed)
    expect(refusal { _ = try own.ownership(of: "msal://auth") }?.code, is: .redirectMalformed)
    expect(
      refusal { try configuration("com.example.app:/cb", "msal1://logout") }?.field,
      is: "postLogoutRedirectURI")
    for plain in ["com.example.app:/cb", "https://app.example/cb", "http://localhost/cb"] {
      try expect(configuration(plain).redirectWarning, is: nil)
    }
  }

  @Test("an error names a key as the configuration spells it, also in its words")
  func spelling() throws {
    let base: [(String, JSON?)] = [
      ("issuer", .string("https://id.example.com")), ("client_id", .string("c")),
      ("redirect_uri", .string("com.example.app:/cb")),
    ]
    func error(_ changes: [(String, JSON?)]) -> EnrollError? {
      var members = JSONObject(base)
      for (name, value) in changes { members[name] = value }
      return refusal { try Configuration(json: .object(members)) }
    }
    let redirect = error([("redirect_uri", .string("http://127.0.0.2/cb"))])
    expect(redirect?.field, is: "redirect_uri")
    expect(redirect?.message.hasPrefix("redirect_uri: "), is: true)
    let fallback = error([("fallback_uri", .string("com.example.app:/cb"))])
    expect(fallback?.field, is: "fallback_uri")
    expect(fallback?.message.contains("differ from redirect_uri,"), is: true)
    expect(error([("redirect_uri", .integer(1))])?.field, is: "redirect_uri")
    expect(error([("client_id", .string(""))])?.field, is: "client_id")
    expect(error([("client_id", nil)])?.message, is: "client_id: the key is missing")
    expect(error([("redirect_uri", nil)])?.field, is: "redirect_uri")
  }

  @Test(
    "the return page has bounded words, colours of six digits, and a link that a redirect could be",
    arguments: [
      ("appName", "Größe", true), ("app_name", "x", true), ("appName", "", false), ("text", "a\nb", false),
      ("logo", "data:image/png;base64,iVBORw0KGgo=", true),
      ("logo", "data:image/svg+xml;base64,PHN2Zy8+", true),
      ("logo", "data:image/png;base64,iVBORw0KGg", false), ("logo", "data:image/png;base64,", false),
      ("logo", "data:image/png;base64,a\"b=", false), ("logo", "data:image/png;base64,====", false),
      ("logo", "data:text/html;base64,PHN2Zy8+", false), ("logo", "https://app.example/logo.png", false),
      ("language", "de", true), ("language", "tlh", false), ("color", "#0B6e4f", true),
      ("colour", "#fff", false),
      ("backgroundColor", "red", false), ("link", "com.example.app://open", true),
      ("link", "https://app.example/", true), ("link", "javascript:alert(1)", false),
    ])
  func returnPage(key: String, value: String, isAccepted: Bool) {
    let page = JSON.object([(key, .string(value))])
    let error = refusal { try read([("returnPage", page)]) }
    expect((error == nil), is: isAccepted, "\(error?.message ?? "accepted")")
    if !isAccepted { expect(error?.field, is: "returnPage.\(key)") }
  }

  @Test("an empty client id, and one that is not printable, is refused", arguments: ["", "a\n", "é"])
  func clientIDs(text: String) {
    let error = refusal {
      try Configuration(issuer: "https://id.example.com", clientID: text, redirectURI: "com.example.app:/cb")
    }
    expect(error?.field, is: "clientID")
  }

  @Test("Swift's initializer names its arguments; JSON with the same fault, its keys")
  func swiftNames() throws {
    let error = refusal {
      try Configuration(
        issuer: "https://id.example.com", clientID: "c", redirectURI: "com.example.app:/cb"
      ) {
        $0.fallbackURI = "com.example.app:/cb"
      }
    }
    expect(error?.field, is: "fallbackURI")
    expect(error?.message.contains("differ from redirectURI,"), is: true)
    let plain = refusal {
      try Configuration(issuer: "http://127.0.0.1:1", clientID: "c", redirectURI: "com.example.app:/cb")
    }
    expect(plain?.message.contains("allowsLoopbackHTTP"), is: true)
    let standIn = refusal {
      try Configuration(
        issuer: "https://id.example", clientID: "c", redirectURI: "com.example.app:/cb"
      ) {
        $0.isNative = false
      }
    }
    expect(standIn?.message.contains("where isNative is false"), is: true)
    expect(refusal { try read([("fallbackUri", .string("com.example.app:/cb"))]) }?.field, is: "fallbackUri")
  }

  @Test("a key inside an object is named as it is spelt there")
  func nestedSpelling() throws {
    func error(_ app2app: String) throws -> EnrollError? {
      let json = try JSON.parse(Array(app2app.utf8))
      return refusal { try read([("another_app", json)]) }
    }
    let rest = #""complete_uri": "https://gate.example/c", "allowed_links": ["https://other.example/"]"#
    let url = try error(#"{"init_uri": "http://gate.example/i", \#(rest)}"#)
    expect(url?.field, is: "another_app.init_uri")
    expect(url?.message.hasPrefix("another_app.init_uri: "), is: true)
    let names = try error(
      #"{"initUri": "https://gate.example/i", "fields": {"session_id": "link"}, \#(rest)}"#)
    expect(names?.message, is: "another_app.fields: session_id must differ from the other names")
    let choice = JSON.array([.object([("kind", .string("a")), ("label", .string(""))])])
    expect(refusal { try read([("choices", choice)]) }?.field, is: "choices[0]")
  }

  @Test("a property that was set later is checked by validated()")
  func validated() throws {
    var configuration = try Configuration(
      issuer: "https://id.example.com", clientID: "native", redirectURI: "com.example.app:/cb")
    configuration.requireVerifiedEmail = true
    let checked = try configuration.validated()
    expect(checked.scopes, is: Configuration.Defaults.scopes + ["email"])
    #expect(checked.hasDefaultScopes)
    try expect(checked.validated().scopes, is: checked.scopes)
    configuration.scopes = Configuration.Defaults.scopes
    #expect(!configuration.hasDefaultScopes)
    configuration.graceSeconds = -1
    let error = refusal { try configuration.validated() }
    expect(error?.field, is: "graceSeconds")
    expect(error?.message, is: "graceSeconds: expected 0 to 86400 seconds, got -1")
  }

  @Test("an error about a part of the client's key names the property, or the key that was written")
  func clientKey() throws {
    let swift = refusal {
      try Configuration(issuer: "https://id.example", clientID: "c", redirectURI: "com.example.app:/cb") {
        $0.clientKey = ClientKeySettings(file: "/key.pem", id: "")
      }
    }
    expect(swift?.field, is: "clientKey.id")
    expect(swift?.message.hasPrefix("clientKey.id: "), is: true)
    let both = refusal {
      try Configuration(issuer: "https://id.example", clientID: "c", redirectURI: "com.example.app:/cb") {
        $0.clientKey = ClientKeySettings(file: "/key.pem")
        $0.clientSecret = Secret("s")
      }
    }
    expect(
      both?.message, is: "clientSecret: the client proves itself with clientKey.file; leave one of them out")
    let written = refusal {
      try read([("client_key_file", .string("/key.pem")), ("client_key_id", .string(""))])
    }
    expect(written?.field, is: "client_key_id")
  }

  @Test("each property of the table is one of Configuration, and has a reader and a key")
  func properties() throws {
    let configuration = try Configuration(
      issuer: "https://id.example.com", clientID: "native", redirectURI: "com.example.app:/cb")
    let properties = Mirror(reflecting: configuration).children.compactMap(\.label)
    let keys = Configuration.keys.filter { key in
      !ProviderPreset.partNames.contains(key.name) && key.name != "provider"
    }
    let names = keys.map { $0.property.prefix { $0 != "." } }
    expect(
      Set(names.map { String($0) }).union(["preset", "isOfServer", "hasDefaultScopes"]), is: Set(properties))
    let parts = Mirror(reflecting: ClientKeySettings(file: "")).children.compactMap(\.label)
    expect(
      keys.map(\.property).filter { $0.hasPrefix("clientKey.") }, is: parts.map { "clientKey." + $0 })
    expect(keys.filter { $0.read == nil }.map(\.name), is: ["issuer"])
  }

  @Test("requireVerifiedEmail adds the scope email once, and needs openid")
  func verifiedEmail() throws {
    try expect(read([("requireVerifiedEmail", .bool(true))]).scopes.last, is: "email")
    let scopes: [(String, JSON?)] = [
      ("requireVerifiedEmail", .bool(true)), ("scopes", .string("email openid")),
    ]
    try expect(read(scopes).scopes, is: ["email", "openid"])
    let without: [(String, JSON?)] = [("requireVerifiedEmail", .bool(true)), ("scopes", .string("profile"))]
    expect(refusal { try read(without) }?.field, is: "requireVerifiedEmail")
  }

  @Test("no error text repeats a stand-in token (R40)")
  func secrets() {
    let error = refusal { try read([("standInToken", .string("hidden value"))]) }
    expect(error?.field, is: "standInToken")
    expect(error?.message.contains("hidden"), is: false)
    expect(Configuration.keys.filter(\.isSecret).map(\.name), is: ["clientSecret", "standInToken"])
  }
}
