import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollJSON
@testable import EnrollTesting
import Expectations
import Testing

/// Tests with answers that a cache repeats: they do not answer the request that was sent, but an earlier request.
@Suite struct ReplayedAnswerTests {
  private static func answer(
    _ access: String, _ refresh: String? = nil, age: String? = nil, date: String? = nil
  ) -> FakeProvider.Reply {
    let rotated = refresh.map { #","refresh_token":"\#($0)""# } ?? ""
    return .status(
      200,
      headers: [age.map { HTTPHeader("Age", $0) }, date.map { HTTPHeader("Date", $0) }].compactMap { $0 },
      body: #"{"access_token":"\#(access)","token_type":"Bearer","expires_in":3600\#(rotated)}"#)
  }

  private func unavailable(_ engine: Engine) throws -> EnrollError? {
    guard case .expired(_, _, let error) = try engine.access() else { return nil }
    return error
  }

  @Test("tokens with an Age are no answer: what was sent stays, and is sent again")
  func aged() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    let before = try bench.record.confirmed
    bench.clock.advance(seconds: 3700)
    bench.provider.next(
      .token, Self.answer("old", "used", age: "400"), Self.answer("old", "used", age: "401"))
    try expect(unavailable(engine)?.code, is: .responseInvalid)
    try expect(bench.record.confirmed, is: before)
    bench.clock.advance(seconds: 60)
    #expect(try engine.token().hasPrefix("access-"))
  }

  @Test("of several values of Age the first one counts", arguments: ["400, 0", "400,401", " 400 , x"])
  func severalAges(age: String) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 3700)
    bench.provider.next(.token, Self.answer("old", "used", age: age), Self.answer("old", "used", age: age))
    try expect(unavailable(engine)?.code, is: .responseInvalid)
  }

  @Test(
    "an Age of a few seconds, or one that is no number, says nothing: proxies put it into answers that they forward",
    arguments: ["0", "1", "5", "soon", "-1"])
  func fresh(age: String) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 3700)
    bench.provider.next(.token, Self.answer("new", "r2", age: age))
    try expect(engine.token(), is: "new")
  }

  @Test("a refresh token that was sent before another one is no new one")
  func spent() throws {
    let bench = try Bench()
    var engine = try bench.signedIn()
    let first = try #require(try bench.record.confirmed?.refreshToken?.reveal())
    bench.clock.advance(seconds: 3700)
    _ = try engine.token()
    let second = try bench.record.confirmed?.refreshToken
    bench.clock.advance(seconds: 3700)
    // The next process also knows the tokens that were sent before.
    engine = bench.engine()
    bench.provider.next(.token, Self.answer("old", first), Self.answer("old", first))
    try expect(unavailable(engine)?.code, is: .responseInvalid)
    try expect(bench.record.confirmed?.refreshToken, is: second)
    bench.clock.advance(seconds: 60)
    _ = try engine.token()
    #expect(try bench.record.sessionEnded == nil)
  }

  @Test("a record that cannot be read when the answer comes costs no refresh token")
  func unreadable() throws {
    let bench = try Bench()
    let before = try bench.signedIn().access()
    let spent = try bench.record.confirmed?.refreshToken
    let store = FailingTokenStore(bench.store)
    let engine = bench.engine(store: store)
    bench.clock.advance(seconds: 3700)
    bench.provider.change { $0.tokens = { _ in store.refuseReads(true) } }
    _ = try? engine.access()
    store.refuseReads(false)
    bench.provider.change { $0.tokens = { _ in } }
    try expect(bench.record.confirmed?.refreshToken, isNot: spent)
    try expect(engine.access(), isNot: before)
    try expect(bench.record.sessionEnded, is: nil)
  }

  @Test("a provider that gives the same refresh token each time goes on")
  func withoutRotation() throws {
    let bench = try Bench()
    bench.provider.change { $0.rotates = false }
    let engine = try bench.signedIn()
    let same = try #require(try bench.record.confirmed?.refreshToken?.reveal())
    for number in 1...3 {
      bench.clock.advance(seconds: 3700)
      bench.provider.next(.token, Self.answer("new-\(number)", same))
      try expect(engine.token(), is: "new-\(number)")
    }
  }

  @Test("an answer from before its request is no answer, if nothing new in it can be lost")
  func early() throws {
    let bench = try Bench()
    bench.provider.change { $0.rotates = false }
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 3700)
    let earlier = httpDate(bench.clock.wallTime() + -3700)
    bench.provider.next(.token, Self.answer("old", date: earlier), Self.answer("old", date: earlier))
    try expect(unavailable(engine)?.code, is: .responseInvalid)
    bench.clock.advance(seconds: 60)
    bench.provider.next(.token, Self.answer("new", "r2", date: earlier))
    try expect(engine.token(), is: "new", "a new refresh token is kept, whatever the date")
  }

  @Test(
    "a refusal from before its request ends no session; one that repeats itself with a clock that runs does")
  func earlyRefusal() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 3700)
    let now = bench.clock.wallTime()
    func refusal(_ seconds: Int64) -> FakeProvider.Reply {
      .status(
        400, headers: [HTTPHeader("Date", httpDate(now + seconds))], body: #"{"error":"invalid_grant"}"#)
    }
    bench.provider.next(.token, refusal(-3700), refusal(-3700))
    try expect(unavailable(engine)?.code, is: .responseInvalid)
    try expect(bench.record.sessionEnded, is: nil)
    bench.clock.advance(seconds: 60)
    bench.provider.next(.token, refusal(-3640), refusal(-3638))
    try expect(engine.access(), is: .reauthenticate(reason: "invalid_grant"))
  }

  @Test("a server whose clock was set back is believed at the second answer: its clock goes on")
  func setBack() throws {
    let bench = try Bench()
    bench.provider.change { $0.rotates = false }
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 3700)
    let now = bench.clock.wallTime()
    bench.provider.next(
      .token, Self.answer("new", date: httpDate(now + -3700)),
      Self.answer("new", date: httpDate(now + -3698)))
    try expect(engine.token(), is: "new")
  }

  @Test("tokens with an Age are no answer to a code either: they were given to somebody else")
  func authorizationCode() throws {
    let bench = try Bench(scopes: [])
    let engine = bench.engine()
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    bench.provider.next(.token, Self.answer("mallory", "r", age: "30"))
    try expect(engine.failure(of: url), is: .responseInvalid)
    #expect(try !bench.record.hasTokens)
  }

  @Test("a device code with an Age is somebody else's, and a cached answer to a poll ends nothing")
  func device() throws {
    let bench = try Bench()
    let engine = bench.engine()
    let age = [HTTPHeader("Age", "30"), HTTPHeader("Content-Type", "application/json")]
    bench.provider.next(
      .deviceAuthorization,
      .status(
        200, headers: age,
        body:
          #"{"device_code": "d", "user_code": "A", "verification_uri": "https://id.example/", "expires_in": 600}"#
      ))
    expect(
      code { _ = try engine.signIn.begin(SignInOptions(kind: .device), cancellation: nil) },
      is: .responseInvalid)
    let begun = try engine.signIn.begin(SignInOptions(kind: .device), cancellation: nil)
    bench.provider.next(
      .token, .status(400, headers: age, body: #"{"error": "access_denied"}"#),
      Self.answer("mallory", "r", age: "30"))
    for _ in 1...2 {
      bench.clock.advance(seconds: 5)
      try expect(engine.device.pollDevice(begun.transactionID), is: nil)
    }
    bench.provider.change { $0.deviceError = nil }
    bench.clock.advance(seconds: 5)
    guard case .succeeded? = try engine.device.pollDevice(begun.transactionID)?.ending else {
      throw Unexpected(what: "\(engine.state)")
    }
    try expect(engine.identity.profile()["sub"], is: .string("alice"))
    for endpoint in [FakeProvider.Endpoint.deviceAuthorization, .token] {
      let sent = try #require(bench.provider.requests(endpoint).last)
      #expect(sent.headers.contains(HTTPHeader("Cache-Control", "no-store")))
    }
  }

  @Test(
    "tokens for a device code from before its request are not used, and not revoked: they are somebody else's"
  )
  func earlyDevice() throws {
    let bench = try Bench()
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(kind: .device), cancellation: nil)
    bench.provider.change { [bench] in
      $0.deviceError = nil
      $0.tokenHeaders = [HTTPHeader("Date", httpDate(bench.clock.wallTime() + -400))]
    }
    bench.clock.advance(seconds: 5)
    guard case .failed(let error)? = try engine.device.pollDevice(begun.transactionID)?.ending else {
      throw Unexpected(what: "\(engine.state)")
    }
    expect(error.code, is: .responseInvalid)
    #expect(try !bench.record.hasTokens)
    engine.outbox.sendOutbox(cancellation: nil)
    expect(bench.provider.revoked, is: [])
  }

  @Test(
    "userinfo out of a cache names nobody whom no id_token names",
    arguments: [("Age", "1"), ("Date", httpDate(UnixTime(seconds: 1_699_999_900)))])
  func userinfo(name: String, value: String) throws {
    let bench = try Bench(scopes: ["profile"])
    bench.provider.next(
      .userinfo,
      .status(
        200, headers: [HTTPHeader("Content-Type", "application/json"), HTTPHeader(name, value)],
        body: #"{"sub": "mallory"}"#))
    let engine = try bench.signedIn()
    try expect(engine.identity.profile(), is: JSONObject())
    try expect(engine.identity.userinfo(cancellation: nil)["sub"], is: .string("alice"))
    try expect(engine.identity.profile()["sub"], is: .string("alice"))
  }

  @Test(
    "an answer to another user out of a cache ends nothing and changes nothing: an Age or an older Date is enough",
    arguments: [("Age", "1"), ("Date", httpDate(UnixTime(seconds: 0)))])
  func foreign(name: String, value: String) throws {
    let bench = try Bench()
    bench.provider.change { $0.graceSeconds = 3600 }
    let engine = try bench.signedIn()
    let before = try bench.record.confirmed
    bench.clock.advance(seconds: 3700)
    bench.provider.change {
      $0.claims = { $0["sub"] = .string("mallory") }
      $0.tokenHeaders = [HTTPHeader(name, value)]
    }
    try expect(unavailable(engine)?.code, is: .responseInvalid)
    try expect(bench.record.confirmed, is: before)
    bench.provider.change {
      $0.claims = { _ in }
      $0.tokenHeaders = []
    }
    bench.clock.advance(seconds: 60)
    #expect(try engine.token().hasPrefix("access-"))
    try expect(bench.record.sessionEnded, is: nil)
    try expect(engine.identity.profile()["sub"], is: .string("alice"))
  }

  @Test(
    "a refusal ends no session by metadata that a cache kept since before it, and does by newer metadata",
    arguments: [true, false])
  func agedMetadata(hasAge: Bool) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 3700)
    bench.provider.endSessions()
    bench.provider.change {
      if hasAge { $0.documentHeaders = [HTTPHeader("Age", "400")] } else { $0.documentAgeSeconds = 400 }
    }
    for _ in 1...2 {
      guard case .rejected = try engine.access() else { throw Unexpected(what: "another outcome") }
      try expect(bench.record.sessionEnded, is: nil)
      bench.clock.advance(seconds: 61)
    }
    let asked = try #require(bench.provider.requests(.discovery).last)
    #expect(asked.headers.contains(HTTPHeader("Cache-Control", "no-cache")))
    // The next process knows when the refusals began.
    bench.clock.advance(seconds: 300)
    try expect(bench.engine().access(), is: .reauthenticate(reason: "invalid_grant"))
  }
}
