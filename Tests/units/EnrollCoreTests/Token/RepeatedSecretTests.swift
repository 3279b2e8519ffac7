import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollStore
import EnrollTesting
import Expectations
import Testing

@Suite("A server's text never repeats a secret that was sent (R40)")
struct RepeatedSecretTests {
  /// All text that a host, a log or a report could contain.
  private func told(_ bench: Bench, _ engine: Engine, _ errors: EnrollError?...) throws -> String {
    let outbox = try bench.store.updateOutbox { _ in }
    return "\(errors) \(errors.map { $0?.oauthError ?? "" }) \(bench.seen.reported) \(bench.seen.warned) "
      + "\(bench.seen.reported.map { $0.oauthError ?? "" }) \(try bench.record) \(outbox) \(engine.state)"
  }

  private func error(_ body: () throws -> Void) -> EnrollError? {
    do {
      try body()
      return nil
    } catch { return error as? EnrollError }
  }

  @Test("a granted scope that repeats the refresh token or the client secret is dropped, the others stay")
  func scope() throws {
    let secret = "Zq7Xw9Kp2Lm4Nv6Rt8Yb1Cd3"
    let bench = try Bench(dpop: .never, clientSecret: secret)
    bench.provider.change { $0.clientSecret = secret }
    let engine = try bench.signedIn()
    let sent = try #require(try bench.record.confirmed?.refreshToken).withBytes {
      String(decoding: $0, as: UTF8.self)
    }
    bench.clock.advance(seconds: 3700)
    bench.provider.next(
      .token,
      .status(
        200,
        body:
          #"{"access_token":"a-1","token_type":"Bearer","expires_in":3600,"scope":"openid x\#(sent) \#(secret) read"}"#
      ))
    expect(try engine.access().token().scopes, is: ["openid", "read"])
  }

  @Test("a refresh token in the error code of a renewal", arguments: [400, 401, 403, 404, 503])
  func renewal(status: Int) throws {
    let bench = try Bench(tellsBackEnd: true)
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 3700)
    let reply = FakeProvider.Reply.status(status, body: #"{"error":"unknown_token_refresh-2"}"#)
    bench.provider.next(.token, reply, reply)
    guard case .expired(_, _, let reason) = try engine.access() else { throw Unexpected(what: "not expired") }
    let told = try told(bench, engine, reason)
    #expect(!told.contains("refresh-2"), "\(told)")
    try expect(bench.record.sessionEnded, is: nil)
  }

  @Test(
    "an error code that is built as no registered one is not shown: it may be a part of a token, or a token in another coding",
    arguments: [
      "3f9c1b7de05a48c2a6d94e7708b1c2", "UkVGUkVTSC0yLVRPS0VO", "REFRESHTOKENVALUEOFTHEUSER", "a b",
      "fehler_ä",
      "code.with.1234.567",
    ])
  func unusualCode(_ code: String) throws {
    let bench = try Bench(tellsBackEnd: true)
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 3700)
    let reply = FakeProvider.Reply.status(400, body: #"{"error":"\#(code)"}"#)
    bench.provider.next(.token, reply, reply)
    let outcome = try engine.access()
    let reason =
      switch outcome {
      case .expired(_, _, let reason), .rejected(let reason): reason
      default: throw Unexpected(what: "\(outcome)")
      }
    let told = try told(bench, engine, reason)
    #expect(!told.contains(code), "\(told)")
    try expect(bench.record.sessionEnded, is: nil)
  }

  /// A token with a part that has no digits and is as long as a word of an error code may be.
  private static let token = "eyQhgTrWmpLkdNbvXzAsRfUoCjIq"

  @Test(
    "a run of a token is not shown, neither as an error code of a token endpoint nor in a redirect",
    arguments: ["QhgTrWmpLkdNbvXz", "not_mplkdnbv", "LKDNBVXZ.gone"])
  func run(_ code: String) throws {
    let bench = try Bench(tellsBackEnd: true)
    bench.provider.change { $0.tokens = { $0["refresh_token"] = .string(Self.token) } }
    let engine = try bench.signedIn()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    let back = bench.provider.refuse(begun.url, error: code) + "&error_description=of%20QhgTrWmpLkdNbvXz"
    guard case .failed(let inRedirect) = try engine.signIn.resume(back, cancellation: nil).ending else {
      throw Unexpected(what: "no failure")
    }
    bench.clock.advance(seconds: 3700)
    bench.provider.next(.token, .status(400, body: #"{"error":"\#(code)"}"#))
    guard case .rejected(let reason) = try engine.access() else { throw Unexpected(what: "not rejected") }
    for error in [inRedirect, reason] { expect(error.oauthError, is: "other_error") }
    let told = "\(bench.seen.reported) \(bench.seen.warned) \(inRedirect) \(reason)"
    #expect(!told.contains(code) && !told.contains("QhgTrWmp"), "\(told)")
  }

  @Test("an error code in a redirect that is built as no registered one is not shown")
  func unusualInRedirect() throws {
    let bench = try Bench()
    let engine = bench.engine()
    for (code, shown) in [("UkVGUkVTSC0yLVRPS0VO", "other_error"), ("quota_exceeded", "quota_exceeded")] {
      let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
      let back = bench.provider.refuse(begun.url, error: code)
      guard case .failed(let error) = try engine.signIn.resume(back, cancellation: nil).ending else {
        throw Unexpected(what: "no failure")
      }
      expect(error.oauthError, is: shown)
      expect(error.message.contains(code), is: code == shown)
    }
  }

  @Test(
    "an error code that is built as the registered ones are is shown",
    arguments: ["quota_exceeded", "AADSTS.700", "E0017"])
  func usualCode(_ code: String) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 3700)
    bench.provider.next(.token, .status(400, body: #"{"error":"\#(code)"}"#))
    guard case .rejected(let reason) = try engine.access() else { throw Unexpected(what: "not rejected") }
    expect(reason.oauthError, is: code)
  }

  @Test("a token in the error code of an introspection, in a claim of it, and in the name of a claim")
  func introspection() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    bench.provider.next(.introspection, .status(400, body: #"{"error":"refresh-2_is_gone"}"#))
    let refusal = error { _ = try engine.introspection.introspect(.refreshToken, cancellation: nil) }
    #expect(refusal?.code == .oauth && !"\(refusal!)\(refusal?.oauthError ?? "")".contains("refresh-2"))
    bench.provider.next(
      .introspection,
      .status(
        200,
        body: #"{"active":true,"scope":"openid","token":"refresh-2","ext":{"a":["x refresh-2"],"b":1},"#
          + #""refresh-2":true,"list":["refresh-2",2]}"#))
    let claims = try engine.introspection.introspect(.refreshToken, cancellation: nil)
    expect(
      claims,
      is: JSONObject([
        ("active", .bool(true)), ("scope", .string("openid")),
        ("ext", .object([("a", .array([])), ("b", .integer(1))])), ("list", .array([.integer(2)])),
      ]))
  }

  @Test("a code in a claim of the id_token that is refused", arguments: ["iss", "aud", "azp"])
  func idToken(claim: String) throws {
    let bench = try Bench(tellsBackEnd: true)
    let engine = bench.engine()
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    bench.provider.change { $0.claims = { $0[claim] = .string("https://evil.example/code-1") } }
    guard case .failed(let error) = try engine.signIn.resume(url, cancellation: nil).ending else {
      throw Unexpected(what: "accepted")
    }
    let told = try told(bench, engine, error)
    #expect(error.code == .idTokenInvalid && !told.contains("code-1"), "\(told)")
  }

  @Test("a one-time code, a device code and an authorization code in an error code")
  func codes() throws {
    let bench = try Bench(passwordless: .auth0, tellsBackEnd: true)
    let engine = bench.engine()
    func refuse(_ code: String) {
      bench.provider.next(.token, .status(400, body: #"{"error":"wrong_\#(code)"}"#))
    }
    let mail = SignInOptions(
      kind: .passwordless, recipient: Recipient(.email, address: "alice@example.org"))
    let begun = try engine.signIn.begin(mail, cancellation: nil)
    refuse("123456")
    let first = error {
      _ = try engine.passwordless.submitCode(
        Secret("123456"), transactionID: begun.transactionID, cancellation: nil)
    }
    #expect(try !told(bench, engine, first).contains("123456"))

    let device = try engine.signIn.begin(SignInOptions(kind: .device), cancellation: nil)
    bench.clock.advance(seconds: 5)
    refuse("device-1")
    try expect(engine.device.pollDevice(device.transactionID), is: nil)

    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    let code = try #require(url.split(separator: "=")[1].split(separator: "&").first)
    refuse(String(code))
    guard case .failed(let last) = try engine.signIn.resume(url, cancellation: nil).ending else {
      throw Unexpected(what: "accepted")
    }
    #expect(!"\(last)\(last.oauthError ?? "")\(bench.seen.reported)".contains(code))
  }

  @Test("a state, a verifier or a token in an error redirect", arguments: ["error", "error_description"])
  func redirect(parameter: String) throws {
    let bench = try Bench(tellsBackEnd: true)
    let engine = try bench.signedIn()
    for index in 0..<4 {
      let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
      let kept = try #require(bench.record.transactions.last)
      guard case .signIn(let flow) = kept.flow, let own = flow.request.secrets else {
        throw Unexpected(what: "no sign-in")
      }
      let state = flow.request.redirect.state.reveal()
      let secret = [state, own.codeVerifier.reveal(), "refresh-2", "access-2"][index]
      let error = parameter == "error" ? "x_\(secret)" : "access_denied&error_description=no+\(secret)"
      let url = bench.provider.refuse(begun.url, error: error)
      guard case .failed(let failure) = try engine.signIn.resume(url, cancellation: nil).ending else {
        throw Unexpected(what: "accepted")
      }
      let told =
        "\(failure) \(failure.oauthError ?? "") \(bench.seen.reported.map { "\($0) \($0.oauthError ?? "")" }) "
        + "\(try bench.store.updateOutbox { _ in }) \(engine.state) \(engine.diagnostics.diagnostics())"
      #expect(!told.contains(secret), "\(told)")
    }
  }

  @Test("a token in a claim of an id_token, of a renewed one, and of userinfo")
  func claims() throws {
    let bench = try Bench()
    let token = "a-token-of-more-than-sixteen-bytes"
    bench.provider.change {
      $0.tokens = { $0["access_token"] = .string(token) }
      $0.claims = { $0["nickname"] = .string("x \(token)") }
      $0.userinfo = { $0["website"] = .string("https://a.example/\(token)") }
    }
    let engine = try bench.signedIn()
    #expect(try engine.identity.profile()["nickname"] == nil && engine.identity.profile()["name"] != nil)
    let told = try engine.identity.userinfo(cancellation: nil)
    #expect(told["website"] == nil && told["email"] != nil && told["sub"] == .string("alice"))
    bench.clock.advance(seconds: 3700)
    _ = try engine.token()
    try expect(bench.record.confirmed?.unprovenIDToken, is: nil)
    #expect(
      try engine.identity.profile()["nickname"] == nil && engine.identity.profile()["sub"] == .string("alice")
    )
  }

  @Test(
    "a sub that repeats a secret is refused", arguments: ["client secret", "access token", "refresh token"])
  func subject(secret: String) throws {
    let value = "a-\(secret.split(separator: " ")[0])-of-more-than-sixteen-bytes"
    let bench = try Bench([
      ("clientSecret", .string(secret == "client secret" ? value : "another-one-of-many-bytes"))
    ])
    bench.provider.change {
      $0.clientSecret = secret == "client secret" ? value : "another-one-of-many-bytes"
      $0.tokens = {
        if secret == "access token" { $0["access_token"] = .string(value) }
        if secret == "refresh token" { $0["refresh_token"] = .string(value) }
      }
      $0.claims = { $0["sub"] = .string(value) }
    }
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    guard
      case .failed(let error) = try engine.signIn.resume(
        bench.provider.signIn(at: begun.url), cancellation: nil
      )
      .ending
    else { throw Unexpected(what: "accepted") }
    #expect(
      error.field == "sub" && error.message.contains("repeats a secret") && !error.message.contains(value))
    #expect(try bench.record.provisional == nil && bench.record.confirmed == nil)
  }

  @Test("a token that the request did not carry, in userinfo, an introspection and a renewed id_token")
  func others() throws {
    let bench = try Bench()
    bench.provider.change { $0.refreshTokenSuffix = "-is-longer" }
    let engine = try bench.signedIn()
    let spent = try #require(bench.record.confirmed?.refreshToken).reveal()
    bench.provider.change {
      $0.userinfo = { $0["website"] = .string("https://a.example/\(spent)") }
      $0.claims = { $0["nickname"] = .string(spent) }
    }
    try expect(engine.identity.userinfo(cancellation: nil)["website"], is: nil)
    bench.provider.next(
      .introspection, .status(200, body: #"{"active":true,"username":"x \#(spent)","scope":"openid"}"#))
    try expect(
      engine.introspection.introspect(.accessToken, cancellation: nil),
      is: JSONObject([("active", .bool(true)), ("scope", .string("openid"))]))
    bench.clock.advance(seconds: 3700)
    _ = try engine.token()
    let renewed = try #require(bench.record.confirmed)
    #expect(renewed.refreshToken != Secret(spent) && renewed.unprovenIDToken == nil)
    try expect(engine.identity.profile()["nickname"], is: nil)
  }

  @Test("scopes that nobody asked for are counted in the diagnostics, and not shown")
  func scopes() throws {
    let bench = try Bench(scopes: ["openid", "api:read"])
    bench.provider.change { $0.tokens = { $0["scope"] = .string("openid api:read refresh-2 email") } }
    let engine = try bench.signedIn()
    try expect(bench.record.confirmed?.scopes.contains("refresh-2"), is: true)
    let confirmed = engine.diagnostics.diagnostics()["account"]?["confirmed"]
    expect(confirmed?["scopes"], is: .array([.string("openid"), .string("api:read"), .string("email")]))
    expect(confirmed?["otherScopes"], is: .integer(1))
    #expect(!"\(engine.diagnostics.diagnostics())".contains("refresh-2"))
  }

  @Test("an error code that repeats nothing is told as it is")
  func innocent() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    bench.provider.next(.introspection, .status(400, body: #"{"error":"invalid_request"}"#))
    expect(
      error { _ = try engine.introspection.introspect(.refreshToken, cancellation: nil) }?.oauthError,
      is: "invalid_request"
    )
  }
}
