import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@Suite("Pushed authorization requests: the rules (RFC 9126)")
struct PushedAuthorizationRuleTests {
  static let endpoint = "https://id.example.com/par"

  /// In each row: the configured policy; whether the provider has the endpoint; whether the provider requires pushed
  /// requests; and the endpoint that EnrollKit uses, or nil if EnrollKit does not push the request.
  static let table: [(FeaturePolicy, Bool, Bool, String?)] = [
    (.auto, false, false, nil), (.auto, true, false, endpoint), (.auto, true, true, endpoint),
    (.always, true, false, endpoint), (.always, true, true, endpoint), (.never, false, false, nil),
    (.never, true, false, nil),
  ]

  @Test("pushed where the provider has the endpoint, unless the configuration says never", arguments: table)
  func decision(use: FeaturePolicy, has: Bool, requires: Bool, expected: String?) throws {
    try expect(decide(use, has, requires), is: expected)
  }

  @Test(
    "what one side needs and the other rules out is an error, not a silent downgrade",
    arguments: [
      (FeaturePolicy.auto, false, true), (.always, false, false), (.always, false, true),
      (.never, true, true),
    ]
  )
  func impossible(use: FeaturePolicy, has: Bool, requires: Bool) throws {
    let error = refusal { try decide(use, has, requires) }
    expect(error?.code, is: .unsupported)
    expect(error?.field, is: "pushedRequests")
  }

  private func decide(_ use: FeaturePolicy, _ has: Bool, _ requires: Bool) throws -> String? {
    var metadata = try Fixture.metadata()
    metadata.pushedAuthorizationRequestEndpoint = has ? Self.endpoint : nil
    metadata.requiresPushedRequests = requires
    return try PushedAuthorizationRequest.endpoint(
      configuration: Fixture.configuration(pushedRequests: use), metadata: metadata)
  }

  @Test("everything that would be in the URL is in the body, and nothing of it in the URL (§2.1, §4)")
  func request() throws {
    let configuration = try Fixture.configuration(parameters: [("audience", "a b")])
    let metadata = try Fixture.metadata(authorization: "https://id.example.com/authorize?p=1")
    let request = try AuthorizationRequest.make(
      configuration: configuration, metadata: metadata, options: SignInOptions(loginHint: "a&b"),
      at: Fixture.moment(), random: AuthorizationRequestTests.random)
    let http = ClientAuthentication(naming: configuration.clientID)
      .adding(to: PushedAuthorizationRequest.make(request, endpoint: Self.endpoint))
    expect(http.method, is: .post)
    expect(http.url, is: Self.endpoint)
    #expect(http.headers.contains(HTTPHeader("Content-Type", "application/x-www-form-urlencoded")))
    let query = try #require(request.url.firstIndex(of: "?"))
    let direct = try FormEncoding.decode(Array(request.url[query...].dropFirst().utf8)).dropFirst()
    let pushed = try FormEncoding.decode(http.body)
    expect(pushed.map(\.0), is: direct.map(\.0))
    expect(pushed.map(\.1), is: direct.map(\.1))
    #expect(pushed.contains { $0 == ("client_id", "client one") })
    let url = PushedAuthorizationRequest.url(
      naming: "urn:x:a&b", configuration: configuration, metadata: metadata)
    expect(url, is: "https://id.example.com/authorize?p=1&client_id=client%20one&request_uri=urn%3Ax%3Aa%26b")
  }

  @Test(
    "a name that can be used is read, whatever 2xx it comes with",
    arguments: [
      (201, #"{"request_uri":"urn:a","expires_in":60}"#),
      (200, #"{"request_uri":"urn:a","expires_in":60.5}"#),
      (201, #"{"request_uri":"urn:a","expires_in":"60"}"#), (201, #"{"request_uri":"urn:a"}"#),
      (201, #"{"request_uri":"urn:a","expires_in":null}"#),
    ])
  func answer(status: Int, body: String) throws {
    let read = try PushedAuthorizationResponse(processing: Fixture.json(body, status: status))
    expect(read.requestURI, is: "urn:a")
  }

  static let refused: [(Int, String, EnrollError.Code, String?)] = [
    (201, "{}", .responseInvalid, nil), (201, #"{"expires_in":60}"#, .responseInvalid, nil),
    (201, #"{"request_uri":"","expires_in":60}"#, .responseInvalid, nil),
    (201, #"{"request_uri":"urn:a b","expires_in":60}"#, .responseInvalid, nil),
    (201, #"{"request_uri":7,"expires_in":60}"#, .responseInvalid, nil),
    (201, #"{"request_uri":"urn:a","expires_in":0}"#, .responseInvalid, nil),
    (201, #"{"request_uri":"urn:a","expires_in":-1}"#, .responseInvalid, nil),
    (201, #"{"request_uri":null,"expires_in":60}"#, .responseInvalid, nil),
    (201, "[]", .responseInvalid, nil), (201, "<html>", .responseInvalid, nil),
    (302, "", .responseInvalid, nil), (404, "", .responseInvalid, nil), (503, "", .server, nil),
    (429, "", .server, nil), (400, #"{"error":"invalid_request"}"#, .oauth, "invalid_request"),
    (401, #"{"error":"invalid_client"}"#, .oauth, "invalid_client"), (403, "", .oauth, nil),
  ]

  @Test("an answer without a usable name, one that is over, and a refusal are errors", arguments: refused)
  func bad(status: Int, body: String, code: EnrollError.Code, oauthError: String?) {
    let error = refusal {
      try PushedAuthorizationResponse(processing: Fixture.json(body, status: status))
    }
    expect(error?.code, is: code)
    expect(error?.oauthError, is: oauthError)
  }
}

@Suite("Pushed authorization requests: the flow (RFC 9126)")
struct PushedAuthorizationStepTests {
  private func bench(_ use: FeaturePolicy = .auto) throws -> Bench {
    let bench = try Bench(pushedRequests: use)
    bench.provider.change { $0.takesPushedRequests = true }
    return bench
  }

  @Test("the browser's URL holds the client and a name, and the sign-in goes on as ever")
  func whole() throws {
    let bench = try bench()
    let engine = bench.engine()
    let url = try engine.signIn.begin(SignInOptions(prompt: "login"), cancellation: nil).url
    expect(
      url,
      is:
        "https://id.example/authorize?client_id=native&request_uri=urn%3Aietf%3Aparams%3Aoauth%3Arequest_uri%3A1"
    )
    try expect(engine.failure(of: bench.provider.signIn(at: url)), is: nil)
    expect(engine.state, is: .active(.confirmed))
    expect(bench.provider.count(.pushed), is: 1)
  }

  @Test("until when the URL can be opened is told, by this machine's clock (RFC 9126 §2.2)")
  func lifetime() throws {
    let bench = try bench()
    let engine = bench.engine()
    let now = bench.clock.wallTime()
    for (body, seconds) in [
      (#"{"request_uri":"urn:a","expires_in":60}"#, 60), (#"{"request_uri":"urn:a"}"#, nil),
      (#"{"request_uri":"urn:a","expires_in":90000}"#, 600),
    ] as [(String, Int64?)] {
      bench.provider.next(.pushed, .status(201, body: body))
      let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
      expect(begun.urlExpiresAt, is: seconds.map { now + $0 })
    }
    try expect(
      self.bench(.never).engine().signIn.begin(SignInOptions(), cancellation: nil).urlExpiresAt, is: nil)
  }

  @Test(
    "a URL that is opened later is pushed only where that is required",
    arguments: [(FeaturePolicy.auto, false, false), (.auto, true, true), (.always, false, true)])
  func later(_ use: FeaturePolicy, _ isRequired: Bool, _ isPushed: Bool) throws {
    let bench = try bench(use)
    bench.provider.change {
      $0.metadata = { if isRequired { $0["require_pushed_authorization_requests"] = .bool(true) } }
    }
    let begun = try bench.engine().signIn.begin(SignInOptions(opensLater: true), cancellation: nil)
    expect(bench.provider.count(.pushed), is: isPushed ? 1 : 0)
    expect(begun.url.contains("request_uri="), is: isPushed)
  }

  @Test("a push that fails and is insisted on leaves no transaction behind, and may be tried again")
  func failed() throws {
    let bench = try bench(.always)
    let engine = bench.engine()
    let before = try bench.record
    bench.provider.next(
      .pushed, .unreachable, .status(503), .status(400, body: #"{"error":"invalid_request"}"#),
      .status(201, body: "{}"))
    for expected in [EnrollError.Code.network, .server, .oauth, .responseInvalid] {
      expect(code { _ = try engine.signIn.begin(SignInOptions(), cancellation: nil) }, is: expected)
      try expect(bench.record, is: before)
      expect(engine.state, is: .unregistered)
    }
    _ = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    try expect(bench.record.transactions.count, is: 1)
  }

  @Test(
    "a refused push of a client that its document names (a URL) is not final: it may be unknown until an authorize request"
  )
  func unknownClient() throws {
    let bench = try Bench([("clientId", .string("https://app.example/client.json"))])
    bench.provider.change { $0.takesPushedRequests = true }
    let engine = bench.engine()
    for body in [#"{"error":"invalid_client"}"#, #"{"error":"invalid_request"}"#, ""] {
      bench.provider.next(.pushed, .status(401, body: body))
      let url = try engine.signIn.begin(SignInOptions(), cancellation: nil).url
      #expect(
        url.contains("client_id=https%3A%2F%2Fapp.example%2Fclient.json") && url.contains("code_challenge="))
      try expect(engine.failure(of: bench.provider.signIn(at: url)), is: nil)
    }
    expect(bench.seen.warned.count, is: 3)
  }

  /// Refusals of a push that were recorded from servers. Each has the result for a public client, and the
  /// result for a client with a secret.
  static let refusals: [(status: Int, body: String, isFinal: Bool, isFinalWithSecret: Bool)] = [
    (401, #"{"error":"invalid_client"}"#, true, true),
    (400, #"{"error":"unauthorized_client"}"#, true, true),
    // Answers of Keycloak for an unknown client, and of Spring and Glewlwyd, which deny the endpoint to public clients.
    (401, #"{"error":"invalid_request","error_description":"Authentication failed."}"#, true, true),
    (401, "", false, true), (403, "", false, true),
    // Answers of Keycloak and node-oidc-provider to a redirect URI that is not registered.
    (400, #"{"error":"invalid_request","error_description":"Invalid parameter: redirect_uri"}"#, true, true),
    (
      400,
      #"{"error":"invalid_redirect_uri","error_description":"redirect_uri did not match any of the client's registered redirect_uris"}"#,
      true, true
    ),
    (400, #"{"error":"invalid_redirect_uri"}"#, true, true),
    (400, #"{"error":"invalid_request","error_description":"Missing parameter: username"}"#, false, false),
    (404, "", false, false), (503, "", false, false), (401, "<html>", false, false),
  ]

  @Test(
    "a refusal of the client or its redirect URI is final: the browser would only show the user an error page",
    arguments: refusals, [false, true])
  func final(
    _ row: (status: Int, body: String, isFinal: Bool, isFinalWithSecret: Bool), hasSecret: Bool
  ) throws {
    let bench = try Bench(hasSecret ? [("clientSecret", .string("s"))] : [])
    bench.provider.change {
      $0.takesPushedRequests = true
      $0.metadata = {
        $0["token_endpoint_auth_methods_supported"] = .array([
          .string("none"), .string("client_secret_basic"),
        ])
      }
    }
    let reply = FakeProvider.Reply.status(
      row.status,
      headers: [
        HTTPHeader("Content-Type", "application/json"),
        HTTPHeader("Content-Length", "\(row.body.utf8.count)"),
      ], body: row.body)
    bench.provider.next(.pushed, reply, reply)
    var error: EnrollError?
    do throws(EnrollError) {
      _ = try bench.engine().signIn.begin(SignInOptions(), cancellation: nil)
    } catch let thrown { error = thrown }
    expect(error != nil, is: hasSecret ? row.isFinalWithSecret : row.isFinal, "\(row)")
    if row.body.contains("redirect_uri") {
      #expect(error?.message.contains("com.example.app:/callback") ?? false, "\(error?.message ?? "")")
    }
    // The check of the provider reports the same fault without a sign-in.
    bench.provider.next(.pushed, reply, reply)
    let check = try bench.engine().providerCheck.checkProvider(cancellation: nil)
    let verdicts = check.findings.filter { $0.subject == .signIn }.map(\.verdict)
    expect(verdicts.contains(.fails), is: error != nil)
    expect(verdicts.contains(.works), is: error == nil)
  }

  @Test("a refusal of the client says nothing about the redirect URI, whatever its description mentions")
  func clientNotRedirect() throws {
    let bench = try Bench()
    bench.provider.change {
      $0.takesPushedRequests = true
      $0.metadata = { $0["token_endpoint_auth_methods_supported"] = .array([.string("none")]) }
    }
    bench.provider.next(
      .pushed,
      .status(
        401, body: #"{"error":"invalid_client","error_description":"unknown client for that redirect_uri"}"#))
    let error = try #require(throws: EnrollError.self) {
      try bench.engine().signIn.begin(SignInOptions(), cancellation: nil)
    }
    #expect(!error.message.contains("does not know the redirect URI"), "\(error.message)")
  }

  @Test("a push that neither side requires ends early enough for the browser; one that is required does not")
  func limit() throws {
    for isRequired in [false, true] {
      let bench = try Bench()
      bench.provider.change {
        $0.takesPushedRequests = true
        if isRequired { $0.metadata = { $0["require_pushed_authorization_requests"] = .bool(true) } }
      }
      bench.provider.next(.pushed, .timeout)
      let begun = try? bench.engine().signIn.begin(SignInOptions(), cancellation: nil)
      expect(begun?.url.contains("code_challenge="), is: isRequired ? nil : true)
      expect(bench.provider.requests(.pushed).map(\.timeoutSeconds), is: [isRequired ? nil : 10])
    }
  }

  @Test("a check names the endpoint that does not answer, although the browser replaces it")
  func hanging() throws {
    let bench = try Bench()
    bench.provider.change { $0.takesPushedRequests = true }
    bench.provider.next(.pushed, .timeout)
    let check = try bench.engine().providerCheck.checkProvider(cancellation: nil)
    let finding = try #require(check.findings.first { $0.verdict == .limited })
    #expect(finding.subject == .signIn && finding.key == "pushedRequests")
    #expect(finding.text.contains("https://id.example/par"), "\(finding.text)")
  }

  @Test(
    "a check whose pushed request is taken says that the provider knows the client, and warns of no scope")
  func proven() throws {
    let bench = try Bench([("scopes", .string("openid api"))])
    bench.provider.change {
      $0.takesPushedRequests = true
      $0.metadata = { $0["scopes_supported"] = .array([.string("openid")]) }
    }
    let check = try bench.engine().providerCheck.checkProvider(cancellation: nil)
    expect(bench.provider.count(.pushed), is: 1)
    #expect(check.findings.allSatisfy { $0.verdict == .works })
    #expect(
      check.findings[0].text.hasSuffix("the provider knows this client and its redirect URI"),
      "\(check.findings[0].text)")
    bench.provider.next(.pushed, .status(400, body: #"{"error":"invalid_scope"}"#))
    let refused = try bench.engine().providerCheck.checkProvider(cancellation: nil)
    #expect(refused.findings.contains { $0.subject == .scopes && $0.verdict == .fails })
  }

  @Test("never means never")
  func never() throws {
    let bench = try bench(.never)
    let url = try bench.engine().signIn.begin(SignInOptions(), cancellation: nil).url
    #expect(url.contains("code_challenge="))
    expect(bench.provider.count(.pushed), is: 0)
  }
}
