import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@Suite("What providers do differently, and what is not taken for it")
struct DialectTests {
  private func query(_ url: String) -> [String: String] {
    var parts: [String: String] = [:]
    for pair in url.split(separator: "?").last?.split(separator: "&") ?? [] {
      let sides = pair.split(separator: "=", maxSplits: 1).map(String.init)
      parts[sides[0]] = sides.count == 2 ? sides[1] : ""
    }
    return parts
  }

  // MARK: Scopes

  @Test(
    "only the default scopes leave offline_access out, and only where the provider lists scopes without it",
    arguments: [
      (nil, nil, "openid%20profile%20offline_access"), (nil, ["openid", "profile"], "openid%20profile"),
      (nil, ["openid", "offline_access"], "openid%20profile%20offline_access"),
      (["openid", "offline_access"], ["openid"], "openid%20offline_access"),
    ] as [([String]?, [String]?, String)])
  func scopes(configured: [String]?, listed: [String]?, sent: String) throws {
    let bench = try Bench(scopes: configured)
    bench.provider.change {
      $0.metadata = { $0["scopes_supported"] = listed.map { .array($0.map { .string($0) }) } }
    }
    let begun = try bench.engine().signIn.begin(SignInOptions(), cancellation: nil)
    expect(query(begun.url)["scope"], is: sent)
    let device = bench.engine()
    _ = try device.signIn.begin(SignInOptions(kind: .device), cancellation: nil)
    let asked = try #require(bench.provider.requests(.deviceAuthorization).first)
    #expect(
      String(decoding: asked.body, as: UTF8.self).contains(
        "scope=" + sent.split(separator: "%20").joined(separator: "+") + "&"))
  }

  // MARK: prompt

  @Test("a configured prompt is sent where the host names none")
  func prompt() throws {
    let bench = try Bench(prompt: "select_account")
    let engine = bench.engine()
    expect(
      query(try engine.signIn.begin(SignInOptions(), cancellation: nil).url)["prompt"], is: "select_account")
    let named = try engine.signIn.begin(SignInOptions(prompt: "consent"), cancellation: nil)
    expect(query(named.url)["prompt"], is: "consent")
    for bad in ["none", "consent none", "", "a\nb"] {
      expect(refusal { try Bench(prompt: bad) }?.field, is: "prompt", "\(bad)")
    }
  }

  // MARK: Tokens are bound where the host asks for it

  @Test("a provider that announces DPoP gets no proof unasked")
  func dpop() throws {
    let configuration = try Configuration(
      json: .object([
        ("issuer", .string("https://id.example")), ("clientId", .string("native")),
        ("redirectUri", .string("com.example.app:/callback")),
      ]))
    expect(configuration.dpop, is: .never)
    try expect(
      Configuration(
        issuer: "https://id.example", clientID: "native", redirectURI: "com.example.app:/callback"
      ).dpop, is: .never)
  }

  // MARK: Pushed requests

  @Test(
    "a push that fails leads to the plain request where neither side insists on pushing",
    arguments: [
      FakeProvider.Reply.unreachable, .status(503), .status(400, body: #"{"error":"invalid_request"}"#),
      .status(401, headers: [HTTPHeader("Content-Length", "0")]), .status(201, body: "{}"),
    ])
  func plainRequest(reply: FakeProvider.Reply) throws {
    let bench = try Bench(pushedRequests: .auto)
    bench.provider.change { $0.takesPushedRequests = true }
    bench.provider.next(.pushed, reply)
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    #expect(query(begun.url)["code_challenge"] != nil && query(begun.url)["request_uri"] == nil)
    #expect(bench.seen.warned.contains { $0.message.contains("through the browser instead") })
    try expect(engine.failure(of: bench.provider.signIn(at: begun.url)), is: nil)
  }

  @Test("a refused scope is told at once, since the plain request would be refused as well")
  func pushedScope() throws {
    let bench = try Bench(pushedRequests: .auto)
    bench.provider.change { $0.takesPushedRequests = true }
    bench.provider.next(.pushed, .status(400, body: #"{"error":"invalid_scope"}"#))
    let error = refusal { try bench.engine().signIn.begin(SignInOptions(), cancellation: nil) }
    #expect(error?.oauthError == "invalid_scope" && error?.field == "scopes")
  }

  // MARK: Errors inside a success

  @Test("a success that says an error and brings no tokens is a refusal: of a code")
  func refusedCode() throws {
    let bench = try Bench()
    let engine = bench.engine()
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    bench.provider.next(.token, .status(200, body: #"{"error":"bad_verification_code"}"#))
    guard case .failed(let error) = try engine.signIn.resume(url, cancellation: nil).ending else {
      throw Unexpected(what: "tokens")
    }
    #expect(error.code == .oauth && error.oauthError == "bad_verification_code")
  }

  @Test("tokens beside an error are not taken for a code, and are revoked")
  func tokensBesideError() throws {
    let bench = try Bench()
    bench.provider.change { $0.tokens = { $0["error"] = .string("invalid_grant") } }
    let engine = bench.engine()
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    try expect(engine.failure(of: url), is: .responseInvalid)
    try expect(bench.record.confirmed, is: nil)
    engine.outbox.sendOutbox(cancellation: nil)
    expect(Set(bench.provider.revoked), is: ["refresh-2", "access-2"])
  }

  @Test(
    "a refused refresh token inside a success ends the session by GitHub's own code alone",
    arguments: [
      ("bad_refresh_token", true), ("invalid_grant", false), ("incorrect_client_credentials", false),
      ("server_error", false), ("something", false),
    ])
  func refusedRefreshToken(error: String, ends: Bool) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 4000)
    bench.provider.next(.token, .status(200, body: #"{"error":"\#(error)"}"#))
    let outcome = try engine.access()
    expect((code { _ = try outcome.token() } == .reauthenticate), is: ends)
  }

  @Test("a new refresh token beside an error is kept, even where no access token came")
  func rotatedAlone() {
    let body = #"{"error":"bad_refresh_token","refresh_token":"r2"}"#
    guard case .rotatedOnly(let kept, _) = RefreshAnswer(processing: Fixture.json(body, status: 200)) else {
      Issue.record("the refresh token is lost")
      return
    }
    expect(kept, is: Secret("r2"))
  }

  @Test("tokens beside an error replace a refresh token all the same: nothing may be lost")
  func rotatedBesideError() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 4000)
    bench.provider.change { $0.tokens = { $0["error"] = .string("invalid_grant") } }
    try expect(engine.token(), is: "access-3")
    try expect(bench.record.confirmed?.refreshToken, is: Secret("refresh-3"))
  }

  // MARK: The device grant

  @Test("verification_url is read, and verification_uri goes before it")
  func verificationURL() throws {
    for (both, expected) in [(false, "https://www.google.com/device"), (true, "https://id.example/activate")]
    {
      let bench = try Bench()
      bench.provider.change {
        $0.deviceAuthorization = { answer in
          answer["verification_url"] = .string("https://www.google.com/device")
          if !both { answer["verification_uri"] = nil }
        }
      }
      let begun = try bench.engine().signIn.begin(SignInOptions(kind: .device), cancellation: nil)
      guard case .showDeviceCode(let code) = begun.action else { throw Unexpected(what: "\(begun.action)") }
      expect(code.verificationURI, is: expected)
    }
    let bench = try Bench()
    bench.provider.change {
      $0.deviceAuthorization = {
        $0["verification_uri"] = nil
        $0["verification_url"] = .string("http://www.google.com/device")
      }
    }
    expect(
      code { _ = try bench.engine().signIn.begin(SignInOptions(kind: .device), cancellation: nil) },
      is: .responseInvalid)
  }

  @Test(
    "words that some providers use for the end of a device's wait",
    arguments: [
      ("authorization_declined", 400, EnrollError.Code.accessDenied), ("access_denied", 403, .accessDenied),
      ("bad_verification_code", 400, .oauth), ("incorrect_device_code", 200, .oauth),
      ("incorrect_client_credentials", 200, .oauth), ("expired_token", 200, .transactionExpired),
    ])
  func declined(error: String, status: Int, expected: EnrollError.Code) throws {
    let bench = try Bench()
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(kind: .device), cancellation: nil)
    bench.clock.advance(seconds: 5)
    bench.provider.next(.token, .status(status, body: #"{"error":"\#(error)"}"#))
    guard case .failed(let reason)? = try engine.device.pollDevice(begun.transactionID)?.ending else {
      throw Unexpected(what: "still waiting")
    }
    expect(reason.code, is: expected)
  }

  @Test("slow_down may name the interval, which never gets shorter by it")
  func slowDown() throws {
    for (named, seconds) in [(30, Int64(30)), (1, 10), (100_000, DeviceIntervals.maximum)] {
      let bench = try Bench()
      let engine = bench.engine()
      let begun = try engine.signIn.begin(SignInOptions(kind: .device), cancellation: nil)
      bench.clock.advance(seconds: 5)
      bench.provider.next(.token, .status(429, body: #"{"error":"slow_down","interval":\#(named)}"#))
      _ = try engine.device.pollDevice(begun.transactionID)
      bench.clock.advance(seconds: seconds - 1)
      #expect(try !engine.device.isDevicePollDue(begun.transactionID))
      bench.clock.advance(seconds: 1)
      #expect(try engine.device.isDevicePollDue(begun.transactionID))
    }
  }

  private enum DeviceIntervals { static let maximum: Int64 = 300 }

  // MARK: Discovery

  @Test("what a sign-in can do without and cannot be used counts as not announced, and diagnostics say so")
  func unusableMembers() throws {
    let bench = try Bench()
    bench.provider.change {
      $0.metadata = {
        $0["userinfo_endpoint"] = .string("http://id.example/userinfo")
        $0["revocation_endpoint"] = .bool(true)
        $0["prompt_values_supported"] = .string("login")
      }
    }
    let engine = try bench.signedIn()
    expect(code { _ = try engine.identity.userinfo(cancellation: nil) }, is: .unsupported)
    let shown = "\(engine.diagnostics.diagnostics())"
    for name in ["userinfo_endpoint", "revocation_endpoint", "prompt_values_supported"] {
      #expect(shown.contains("discovery document, \(name)"), "\(name)")
    }
    bench.provider.change { $0.metadata = { $0["jwks_uri"] = .string("http://id.example/keys") } }
    expect(
      code { _ = try Bench.other(bench).signIn.begin(SignInOptions(), cancellation: nil) },
      is: .responseInvalid)
  }

  // MARK: The profile

  @Test("claims that a thin id_token leaves out come from userinfo, and its own go before them")
  func thinIDToken() throws {
    let bench = try Bench(scopes: ["openid", "profile", "email"])
    bench.provider.change {
      $0.userinfo = {
        $0["name"] = .string("Somebody Else")
        $0["groups"] = .array([.string("staff")])
        $0["nonce"] = .string("n")
        $0["acr"] = .string("gold")
      }
    }
    let profile = try bench.signedIn().identity.profile()
    expect(profile["email"], is: .string("alice@example.com"))
    expect(profile["name"], is: .string("Alice Example"))
    expect(profile["groups"], is: .array([.string("staff")]))
    expect(profile["acr"], is: nil)
    expect(bench.provider.count(.userinfo), is: 1)
  }

  @Test("userinfo is not asked where the id_token has what was granted")
  func fullIDToken() throws {
    let bench = try Bench(scopes: ["openid", "profile"])
    _ = try bench.signedIn()
    expect(bench.provider.count(.userinfo), is: 0)
  }

  @Test("userinfo about somebody else, or none, leaves the sign-in as it is")
  func foreignUserinfo() throws {
    for reply in [FakeProvider.Reply?.none, .unreachable, .status(500), .status(200, body: "<html>")] {
      let bench = try Bench(scopes: ["openid", "email"])
      if let reply {
        bench.provider.next(.userinfo, reply)
      } else {
        bench.provider.change { $0.userinfoSubject = "mallory" }
      }
      let profile = try bench.signedIn().identity.profile()
      #expect(profile["sub"] == .string("alice") && profile["email"] == nil)
      #expect(bench.seen.warned.contains { $0.message.contains("The sign-in goes on") })
    }
  }

  // MARK: Providers whose clients are servers

  @Test(
    "a provider that serves no app by itself is refused with the way that works",
    arguments: ["https://appleid.apple.com", "https://www.linkedin.com/oauth", "https://slack.com"])
  func servers(issuer: String) {
    let error = refusal {
      try Configuration(issuer: issuer, clientID: "native", redirectURI: "com.example.app:/callback")
    }
    #expect(error?.field == "issuer" && error?.message.contains("bff") == true)
    let alike = issuer.replacingOccurrence(of: "https://", with: "https://not-")
    expect(
      refusal {
        try Configuration(issuer: alike, clientID: "native", redirectURI: "com.example.app:/callback")
      }, is: nil)
  }
}

extension String {
  fileprivate func replacingOccurrence(of part: String, with other: String) -> String {
    hasPrefix(part) ? other + dropFirst(part.count) : self
  }
}

extension Bench {
  /// A new engine, as in a process that has not read anything from the provider yet.
  fileprivate static func other(_ bench: Bench) -> Engine { bench.engine(account: .default) }
}
