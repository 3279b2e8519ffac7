import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@Suite("The provider's own words about its errors (RFC 6749 §5.2)")
struct ServerWordsTests {
  static let words = "The client is not allowed to do this. Ask the administrator"
  private static let body = #"{"error":"unauthorized_client","error_description":"\#(words)."}"#

  private func error(_ body: () throws -> Void) -> EnrollError? {
    do {
      try body()
      return nil
    } catch { return error as? EnrollError }
  }

  private func expectWords(_ error: EnrollError?) {
    expect(error?.oauthErrorDescription, is: Self.words + ".")
    #expect(
      error?.message.contains("unauthorized_client: \(Self.words)") ?? false, "\(error.debugDescription)")
  }

  @Test("the error of a code, of a device authorization, of a poll, of a pushed request, of an introspection")
  func endpoints() throws {
    let bench = try Bench([("pushedRequests", .string("always"))])
    bench.provider.change { $0.takesPushedRequests = true }
    let engine = bench.engine()
    let refused = FakeProvider.Reply.status(400, body: Self.body)

    bench.provider.next(.pushed, refused)
    expectWords(error { _ = try engine.signIn.begin(SignInOptions(), cancellation: nil) })
    bench.provider.next(.deviceAuthorization, refused)
    expectWords(error { _ = try engine.signIn.begin(SignInOptions(kind: .device), cancellation: nil) })
    let device = try engine.signIn.begin(SignInOptions(kind: .device), cancellation: nil)
    bench.clock.advance(seconds: 5)
    bench.provider.next(.token, refused)
    guard case .failed(let polled) = try engine.device.pollDevice(device.transactionID)?.ending else {
      throw Unexpected(what: "the poll goes on")
    }
    expectWords(polled)
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    bench.provider.next(.token, refused)
    let back = bench.provider.signIn(at: begun.url)
    guard case .failed(let exchanged) = try engine.signIn.resume(back, cancellation: nil).ending else {
      throw Unexpected(what: "no failure")
    }
    expectWords(exchanged)
    let signedIn = try bench.signedIn()
    bench.provider.next(.introspection, refused)
    expectWords(error { _ = try signedIn.introspection.introspect(.accessToken, cancellation: nil) })
  }

  @Test("the error of a renewal, and of the refusal that is remembered; the reason of a session that ended")
  func renewal() throws {
    let bench = try Bench()
    var engine = try bench.signedIn()
    bench.clock.advance(seconds: 3700)
    bench.provider.next(.token, .status(400, body: Self.body))
    for isRemembered in [false, true] {
      if isRemembered { engine = bench.engine() }
      guard case .rejected(let reason) = try engine.access() else { throw Unexpected(what: "not rejected") }
      expectWords(reason)
    }
    bench.clock.advance(seconds: 120)
    bench.provider.next(
      .token, .status(400, body: #"{"error":"invalid_grant","error_description":"Session not active"}"#))
    for isRemembered in [false, true] {
      if isRemembered { engine = bench.engine() }
      let outcome = try engine.access()
      expect(
        outcome, is: .reauthenticate(reason: "invalid_grant", oauthErrorDescription: "Session not active"))
      expect(outcome.failure?.oauthErrorDescription, is: "Session not active")
      expect(
        outcome.failure?.message,
        is: "the provider ended the session (invalid_grant: Session not active); sign in again")
      guard !isRemembered else { continue }
      guard case .renewalFailed(let failure) = engine.state else { throw Unexpected(what: "\(engine.state)") }
      expect(failure.error.oauthError, is: "invalid_grant")
      expect(failure.error.oauthErrorDescription, is: "Session not active")
    }
  }

  @Test("the words of a revocation endpoint, and of a server in trouble with the time that it asks to wait")
  func others() throws {
    var response = HTTPResponse(status: 400, body: Array(Self.body.utf8))
    guard case .refused(let refusal) = RevocationAnswer(processing: response) else {
      throw Unexpected(what: "not refused")
    }
    expectWords(refusal)
    response = HTTPResponse(
      status: 429, headers: [HTTPHeader("Retry-After", "40")],
      body: Array(#"{"error":"slow_down","error_description":"Too many requests"}"#.utf8))
    let busy = error { _ = try TokenResponse(processing: response) }
    expect(
      busy?.message,
      is: "expected tokens, got status 429: slow_down: Too many requests; the server asks to wait 40 s")
    expect(busy?.oauthErrorDescription, is: "Too many requests")
    expect(busy?.retryAfterSeconds, is: 40)
  }

  @Test("words are kept to 512 printable bytes, in an answer and in a redirect")
  func bounds() throws {
    let bench = try Bench()
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    let long = String(repeating: "many words ", count: 60)
    let query = long.replacing(" ", with: "%20")
    let back = bench.provider.refuse(begun.url, error: "access_denied") + "&error_description=\(query)%1B"
    guard case .failed(let inRedirect) = try engine.signIn.resume(back, cancellation: nil).ending else {
      throw Unexpected(what: "no failure")
    }
    let refused = HTTPResponse(
      status: 400,
      body: Array(#"{"error":"invalid_request","error_description":"\#(long)\u001b"}"#.utf8))
    let answered = error { _ = try TokenResponse(processing: refused) }
    for error in [inRedirect, answered] {
      expect(error?.oauthErrorDescription, is: String(long.prefix(512)) + "...")
    }
    let control = HTTPResponse(
      status: 400, body: Array(#"{"error":"invalid_request","error_description":"a\u001b[31mb"}"#.utf8))
    expect(error { _ = try TokenResponse(processing: control) }?.oauthErrorDescription, is: "a?[31mb")
  }

  /// A token as long as a refresh token, with every kind of character.
  private static let token = "v1.MRrtnqQ-7hU_zXw9Kc2TeLd+PgBsFa/oYi4Jm"

  /// The ways in which a server, or a proxy in front of it, may write a token.
  static let spellings: [(String, @Sendable (String) -> String)] = [
    ("as it is", { $0 }), ("without its last three characters", { String($0.dropLast(3)) }),
    ("without its first three characters", { String($0.dropFirst(3)) }),
    ("in upper case", { $0.uppercased() }),
    ("in the middle", { String($0.dropFirst(8).prefix(17)) }),
    ("percent-encoded", { $0.replacing("+", with: "%2B").replacing("/", with: "%2F") }),
    ("in hexadecimal", { $0.utf8.map { Hexadecimal.text($0) }.joined() }),
    ("in upper hexadecimal", { $0.utf8.map { Hexadecimal.text($0) }.joined().uppercased() }),
    ("in base64", { Base64.encode(Array($0.utf8)) }), ("in base64url", { Base64URL.encode(Array($0.utf8)) }),
    ("in base64 behind one byte", { Base64.encode(Array("x\($0)".utf8)) }),
    ("in base64 behind two bytes", { Base64.encode(Array("xy\($0) and more".utf8)) }),
    ("in base64 without its last three characters", { Base64.encode(Array($0.utf8.dropLast(3))) }),
    ("in base64 and upper case", { Base64.encode(Array($0.utf8)).uppercased() }),
    ("in a JWT", { _ in "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2ln" }),
  ]

  @Test("words that repeat a secret, in whatever spelling, are not shown (R40)", arguments: spellings.indices)
  func secrets(_ index: Int) throws {
    let bench = try Bench(tellsBackEnd: true)
    bench.provider.change { $0.tokens = { $0["refresh_token"] = .string(Self.token) } }
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 3700)
    let spelled = Self.spellings[index].1(Self.token)
    bench.provider.next(
      .token,
      .status(
        400, body: #"{"error":"invalid_request","error_description":"unknown token \#(spelled), sorry"}"#))
    guard case .rejected(let reason) = try engine.access() else { throw Unexpected(what: "not rejected") }
    expect(reason.oauthError, is: "invalid_request")
    expect(reason.oauthErrorDescription, is: nil)
    let told =
      "\(reason) \(bench.seen.reported) \(bench.seen.warned) \(try bench.record) \(engine.diagnostics.diagnostics())"
    #expect(!told.contains(spelled) && !told.contains("sorry"), "\(Self.spellings[index].0): \(told)")
  }

  @Test("words that share nothing with a secret are shown beside it")
  func innocent() throws {
    let bench = try Bench()
    bench.provider.change { $0.tokens = { $0["refresh_token"] = .string(Self.token) } }
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 3700)
    bench.provider.next(.token, .status(400, body: Self.body))
    guard case .rejected(let reason) = try engine.access() else { throw Unexpected(what: "not rejected") }
    expectWords(reason)
  }
}

private enum Hexadecimal {
  static func text(_ byte: UInt8) -> String {
    let text = String(byte, radix: 16)
    return text.count == 1 ? "0" + text : text
  }
}
