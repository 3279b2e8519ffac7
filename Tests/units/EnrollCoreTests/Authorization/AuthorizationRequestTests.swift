import EnrollRules
import EnrollCrypto
import Expectations
import Testing

@Suite("Authorize requests (RFC 6749 §4.1.1)")
struct AuthorizationRequestTests {
  static let random = (0..<AuthorizationRequest.randomByteCount).map { UInt8($0) }

  private func make(
    _ options: SignInOptions = SignInOptions(), configuration: Configuration? = nil,
    metadata: ProviderMetadata? = nil, redirectURI: String? = nil, asksForLogin: Bool = false
  ) throws -> AuthorizationRequest {
    try AuthorizationRequest.make(
      configuration: configuration ?? Fixture.configuration(), metadata: metadata ?? Fixture.metadata(),
      options: options, redirectURI: redirectURI, asksForLogin: asksForLogin, at: Fixture.moment(),
      random: Self.random)
  }

  private func fields(_ request: AuthorizationRequest) throws -> [(String, String)] {
    let query = try #require(request.url.firstIndex(of: "?"))
    return try FormEncoding.decode(Array(request.url[query...].dropFirst().utf8))
  }

  private func field(_ name: String, _ request: AuthorizationRequest) throws -> String? {
    try fields(request).first { $0.0 == name }?.1
  }

  @Test("the URL says code, PKCE S256, state and nonce, each once (R7, R13, R16)")
  func url() throws {
    let request = try make()
    let fields = try fields(request)
    #expect(
      request.url.hasPrefix("https://id.example.com/authorize?response_type=code&client_id=client%20one&"))
    expect(
      fields.map(\.0),
      is: [
        "response_type", "client_id", "redirect_uri", "scope", "state", "nonce", "code_challenge",
        "code_challenge_method",
      ])
    try expect(field("redirect_uri", request), is: "com.example.app:/cb")
    try expect(field("scope", request), is: "openid profile")
    try expect(field("state", request), is: request.sent.redirect.state.reveal())
    try expect(field("nonce", request), is: request.secrets.nonce.reveal())
    try expect(field("code_challenge", request), is: PKCE.challenge(for: request.secrets.codeVerifier))
    try expect(field("code_challenge_method", request), is: "S256")
    #expect(!request.url.contains(request.secrets.codeVerifier.reveal()))
  }

  @Test("the transaction holds what the answer will be held against (R7, R12, R14)")
  func transaction() throws {
    let options = SignInOptions(prompt: "login consent", maxAgeSeconds: 0, acrValues: ["urn:a", "b"])
    let request = try make(options)
    let (transaction, sent) = (request.transaction, request.sent)
    #expect(transaction.flow == .signIn(.init(sent)) && sent.secrets == request.secrets)
    expect(transaction.status, is: .pending)
    expect(transaction.issuer.text, is: Fixture.issuer)
    expect(transaction.redirectURI, is: "com.example.app:/cb")
    expect(transaction.scopes, is: ["openid", "profile"])
    expect(sent.demands.maxAgeSeconds, is: 0)
    expect(sent.demands.acrValues, is: ["urn:a", "b"])
    expect(sent.prompt, is: "login consent")
    #expect(!sent.redirect.listensOnLoopback)
    expect(transaction.began, is: Fixture.moment().wall)
    expect(transaction.deadline.secondsLeft(at: Fixture.moment()), is: 600)
    // The request uses 16, 32, 32 and 32 of the random bytes, and no byte twice.
    expect(Base64URL.decode(transaction.id.text), is: Array(Self.random[..<16]))
    expect(Base64URL.decode(sent.redirect.state.reveal()), is: Array(Self.random[16..<48]))
    expect(Base64URL.decode(request.secrets.nonce.reveal()), is: Array(Self.random[48..<80]))
    expect(Base64URL.decode(request.secrets.codeVerifier.reveal()), is: Array(Self.random[80...]))
  }

  @Test("fewer or more random bytes than needed are refused")
  func random() throws {
    let configuration = try Fixture.configuration()
    let metadata = try Fixture.metadata()
    for bytes in [Array(Self.random.dropLast()), Self.random + [0], []] {
      let error = refusal {
        try AuthorizationRequest.make(
          configuration: configuration, metadata: metadata, at: Fixture.moment(), random: bytes)
      }
      expect(error?.code, is: .invalidArgument)
    }
  }

  @Test("options become parameters")
  func options() throws {
    let request = try make(
      SignInOptions(
        scopes: ["openid", "api"], prompt: "none", loginHint: "a&b@example.com", maxAgeSeconds: 60,
        acrValues: ["x", "y"], uiLocales: ["de-CH", "fr"], idTokenHint: Secret("e30.e30."),
        parameters: [("idp", "go ogle")]))
    try expect(field("scope", request), is: "openid api")
    try expect(field("prompt", request), is: "none")
    try expect(field("login_hint", request), is: "a&b@example.com")
    try expect(field("max_age", request), is: "60")
    try expect(field("acr_values", request), is: "x y")
    try expect(field("ui_locales", request), is: "de-CH fr")
    try expect(field("id_token_hint", request), is: "e30.e30.")
    try expect(field("idp", request), is: "go ogle")
  }

  @Test("no scopes, no scope parameter: nothing is added silently")
  func noScopes() throws {
    let request = try make(configuration: Fixture.configuration(scopes: []))
    try expect(field("scope", request), is: nil)
  }

  @Test("configured parameters come first, a host's own takes the place of one of the same name")
  func parameters() throws {
    let configuration = try Fixture.configuration(parameters: [("audience", "a"), ("connection", "b")])
    let options = SignInOptions(parameters: [("x", "1"), ("audience", "c")])
    let fields = try fields(make(options, configuration: configuration)).suffix(3)
    expect(fields.map(\.0), is: ["audience", "connection", "x"])
    expect(fields.map(\.1), is: ["c", "b", "1"])
  }

  @Test(
    "a parameter of the protocol cannot be set, the error names it",
    arguments: [
      "response_type", "response_mode", "client_id", "redirect_uri", "scope", "state", "nonce",
      "code_challenge",
      "code_challenge_method", "request", "request_uri", "prompt", "login_hint", "max_age", "acr_values",
      "ui_locales", "id_token_hint", "client_secret", "code", "code_verifier", "dpop_jkt",
    ])
  func reserved(name: String) {
    let error = refusal { try make(SignInOptions(parameters: [(name, "x")])) }
    expect(error?.code, is: .invalidArgument)
    expect(error?.message.contains(name), is: true)
  }

  static let refused: [(SignInOptions, String)] = [
    (SignInOptions(parameters: [("a", "1"), ("a", "2")]), "parameters"),
    (SignInOptions(parameters: [("a\r\n", "1")]), "parameters"),
    (SignInOptions(parameters: [("", "1")]), "parameters"),
    (SignInOptions(parameters: [("a", "1\n")]), "parameters"),
    (SignInOptions(parameters: [("a", String(repeating: "x", count: 2049))]), "parameters"),
    (SignInOptions(parameters: (0..<33).map { ("a\($0)", "") }), "parameters"),
    (SignInOptions(scopes: ["a b"]), "scopes"), (SignInOptions(scopes: [""]), "scopes"),
    (SignInOptions(prompt: ""), "prompt"), (SignInOptions(prompt: "none login"), "prompt"),
    (SignInOptions(prompt: "login  consent"), "prompt"), (SignInOptions(loginHint: ""), "loginHint"),
    (SignInOptions(loginHint: "a\u{0}"), "loginHint"), (SignInOptions(maxAgeSeconds: -1), "maxAge"),
    (SignInOptions(acrValues: ["a b"]), "acrValues"), (SignInOptions(uiLocales: [""]), "uiLocales"),
    (SignInOptions(scopes: ["api"], maxAgeSeconds: 1), "scopes"),
    (SignInOptions(scopes: ["api"], acrValues: ["a"]), "scopes"),
  ]

  @Test("an option that is not acceptable is refused by name (R26)", arguments: refused.indices)
  func badOptions(index: Int) {
    let (options, field) = Self.refused[index]
    let error = refusal { try make(options) }
    expect(error?.code, is: .invalidArgument)
    expect(error?.field, is: field)
  }

  @Test(
    "the endpoint's own query is kept (RFC 6749 §3.1)",
    arguments: [
      ("https://id.example.com/a?p=policy", "https://id.example.com/a?p=policy&response_type=code&"),
      ("https://id.example.com/a?", "https://id.example.com/a?response_type=code&"),
      ("https://id.example.com/a?p=1&", "https://id.example.com/a?p=1&response_type=code&"),
    ])
  func existingQuery(endpoint: String, beginning: String) throws {
    #expect(try make(metadata: Fixture.metadata(authorization: endpoint)).url.hasPrefix(beginning))
  }

  @Test(
    "of a parameter that is in the endpoint's own query as well, ours alone is sent",
    arguments: [
      (
        "https://id.example.com/a?st%61te=1&q=%201&client_id=&response_type=token",
        "q=%201&response_type=code&"
      ),
      ("https://id.example.com/a?prompt=select_account", "prompt=select_account&response_type=code&"),
      ("https://id.example.com/a?p=policy&&q", "q&response_type=code&"),
    ])
  func overlap(endpoint: String, beginning: String) throws {
    let metadata = try Fixture.metadata(authorization: endpoint)
    let request = try make(SignInOptions(parameters: [("p", "x")]), metadata: metadata)
    #expect(request.url.hasPrefix("https://id.example.com/a?" + beginning))
    #expect(request.url.hasSuffix("&p=x"))
  }

  @Test("a nonce goes with the scope openid alone (OpenID Connect Core §3.1.2.1)")
  func nonce() throws {
    try expect(field("nonce", make()) == nil, is: false)
    try expect(field("nonce", make(SignInOptions(scopes: ["email"]))), is: nil)
  }

  @Test("after a logout another account can be chosen, unless the host asks for something else (flows.md §5)")
  func asksForLogin() throws {
    try expect(make(asksForLogin: true).sent.prompt, is: "login")
    try expect(field("prompt", make(asksForLogin: true)), is: "login")
    try expect(make().sent.prompt, is: nil)
  }

  static let prompts: [(String, [String]?, String?)] = [
    ("consent", nil, "login consent"), ("login", nil, "login"), ("select_account", nil, "select_account"),
    ("consent login", nil, "consent login"), ("consent select_account", nil, "consent select_account"),
    ("create", nil, "create"), ("consent", ["consent", "login"], "login consent"),
    ("consent", ["consent", "select_account"], "select_account consent"), ("consent", ["consent"], "consent"),
  ]

  @Test("what the host asks for is merged with the log-in that is due (flows.md §5)", arguments: prompts)
  func mergedPrompts(asked: String, announced: [String]?, expected: String?) throws {
    var metadata = try Fixture.metadata()
    metadata.promptValues = announced
    let request = try make(SignInOptions(prompt: asked), metadata: metadata, asksForLogin: true)
    expect(request.sent.prompt, is: expected)
    try expect(field("prompt", request), is: expected)
    expect((request.warning != nil), is: announced == ["consent"])
    // If the user need not log in again, nothing is added to the host's prompt.
    let plain = try make(SignInOptions(prompt: asked), metadata: metadata)
    #expect(plain.sent.prompt == asked && plain.warning == nil)
  }

  @Test("prompt=none after a logout is refused with words: the user has to be asked")
  func silentAfterLogout() throws {
    let error = refusal { try make(SignInOptions(prompt: "none"), asksForLogin: true) }
    #expect(error?.code == .loginRequired && error?.field == "prompt")
    try expect(make(SignInOptions(prompt: "none")).sent.prompt, is: "none")
  }

  @Test(
    "a log-in that the provider announces no prompt for is not asked for, and the request says so",
    arguments: [[], ["none", "create"], ["consent"]])
  func noPromptForLogin(announced: [String]) throws {
    var metadata = try Fixture.metadata()
    metadata.promptValues = announced
    let request = try make(metadata: metadata, asksForLogin: true)
    #expect(try field("prompt", request) == nil && request.sent.prompt == nil)
    #expect(request.warning?.code == .unsupported && request.warning?.field == "prompt")
    try expect(make(metadata: metadata).warning, is: nil)
    // If the host itself asks for a login, the request fails: the host's prompt is never dropped silently.
    expect(
      refusal { try make(SignInOptions(prompt: "login"), metadata: metadata, asksForLogin: true) }?.code,
      is: .unsupported)
  }

  @Test("a registration begins as configured, and waits for an e-mail (flows.md §3, R12)")
  func registration() throws {
    let register = SignInOptions(kind: .register)
    try expect(make(register).sent.prompt, is: nil)
    try expect(make(register).transaction.deadline.secondsLeft(at: Fixture.moment()), is: 86_400)
    let create = try Fixture.configuration(registration: .promptCreate)
    try expect(field("prompt", make(register, configuration: create)), is: "create")
    try expect(make(configuration: create).sent.prompt, is: nil)
    let page = try Fixture.configuration(registration: .page("https://gate.example.com/"))
    expect(refusal { try make(register, configuration: page) }?.code, is: .unsupported)
  }

  @Test("what the provider says it cannot do is an error, not a silent downgrade")
  func abilities() throws {
    var metadata = try Fixture.metadata()
    metadata.promptValues = ["none", "login"]
    expect(refusal { try make(SignInOptions(prompt: "create"), metadata: metadata) }?.code, is: .unsupported)
    expect(refusal { try make(SignInOptions(prompt: "login"), metadata: metadata) }, is: nil)
  }

  static let loopback: [(String, String?, Bool)] = [
    ("http://127.0.0.1/cb", "http://127.0.0.1:5000/cb", true),
    ("http://127.0.0.1/cb", "http://[::1]:5000/cb", true),
    ("http://[::1]/cb?a=1", "http://[::1]:5000/cb?a=1", true),
    ("http://127.0.0.1:80/cb/x", nil, false),
    ("http://127.0.0.1/cb", nil, false), ("http://127.0.0.1/cb", "http://127.0.0.1/cb", false),
    ("http://127.0.0.1/cb", "http://127.0.0.1:5000/other", false),
    ("http://127.0.0.1/cb", "http://localhost:5000/cb", false),
    ("http://127.0.0.1/cb", "https://127.0.0.1:5000/cb", false),
    ("http://127.0.0.1/cb", "http://127.0.0.1:5000/cb#", false),
    ("http://127.0.0.1/cb", "http://192.0.2.1:5000/cb", false),
    ("http://127.0.0.1:8765/cb", "http://127.0.0.1:8766/cb", false),
    ("http://127.0.0.1:8765/cb", "http://127.0.0.1:8765/cb", true),
    ("http://127.0.0.1:8765/cb", nil, true),
    ("com.example.app:/cb", "com.example.app:/cb", true),
    ("com.example.app:/cb", "com.example.app:/other", false),
    ("com.example.app:/cb", "http://127.0.0.1:5000/cb", false),
  ]

  @Test(
    "a listener may add its port to the configured loopback redirect, and change nothing else (R4)",
    arguments: loopback)
  func redirects(configured: String, given: String?, isAccepted: Bool) throws {
    guard let configuration = try? Fixture.configuration(redirectURI: configured) else {
      #expect(!isAccepted)
      return
    }
    let error = refusal { try make(configuration: configuration, redirectURI: given) }
    expect((error == nil), is: isAccepted)
    guard isAccepted else {
      expect(error?.field, is: "redirectUri")
      return
    }
    let request = try make(configuration: configuration, redirectURI: given)
    #expect(request.sent.redirect.uri == given ?? configured)
    expect(request.sent.redirect.listensOnLoopback, is: given?.hasPrefix("http://") == true)
    #expect(try field("redirect_uri", request) == given ?? configured)
  }
}
