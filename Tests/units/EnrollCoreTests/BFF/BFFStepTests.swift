import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollTesting
import Expectations
import Testing

@Suite("Signing in through a back end (flows.md §10)")
struct BFFStepTests {
  @Test("begin, one-time code, redeemed with the verifier: G with an empty profile, H, and the session token")
  func whole() throws {
    let bench = try BFFBench(requiresConfirmation: true)
    let engine = bench.engine()
    let begun = try bench.begin(engine)
    expect(begun.action, is: .openURL(begun.url))
    #expect(begun.url.hasPrefix("https://bff.example/app/v1/auth/google?code_challenge="))
    let sent = query(begun.url)
    #expect(sent["code_challenge_method"] == "S256" && sent["platform"] == "mobile")
    #expect(sent["state"]?.utf8.count == 43 && sent.keys.contains("redirect_uri") == false)
    expect(engine.state, is: .authenticating(transactionID: begun.transactionID, step: .browser))

    bench.bff.next(#"{"session_token": "session-1", "expires_in": 600, "id_token": "ignored"}"#)
    let settlement = try engine.signIn.resume(bench.answer("code=once", to: begun), cancellation: nil)
    expect(
      settlement.ending,
      is: .succeeded(.awaitingConfirmation(transactionID: begun.transactionID, profile: JSONObject())))
    let request = try #require(bench.bff.requests.last)
    #expect(request.url == "https://bff.example/app/v1/auth/google/redeem" && request.method == .post)
    #expect(request.freshConnection)
    expect(bench.bff.lastBody["code"], is: .string("once"))
    let verifier = try #require(bench.bff.lastBody["code_verifier"]?.string)
    try expect(PKCE.challenge(for: Secret(verifier)), is: sent["code_challenge"])

    try expect(engine.registration.confirm(), is: .active(.confirmed))
    try expect(engine.token(), is: "session-1")
    try expect(engine.registration.readAccount().registrationType, is: "SOCIAL")
    try expect(engine.registration.readAccount().idToken, is: nil)
    expect(bench.issuerCount, is: 0, "a back end's session concerns nobody else")
  }

  @Test("a login survives the app: another process redeems, with the sealed verifier (R12)")
  func anotherProcess() throws {
    let bench = try BFFBench()
    let begun = try bench.begin(bench.engine())
    bench.bff.next(#"{"session_token": "session-1"}"#)
    try expect(bench.engine().failure(of: bench.answer("code=once", to: begun)), is: nil)
    let record = try bench.record
    expect(record.confirmed?.expiry.lifetimeSeconds, is: 300, "a missing expires_in counts as 300 s (R32)")
    guard case .bff(let settled)? = record.transactions.first?.flow else {
      throw Unexpected(what: "another flow")
    }
    expect(settled.exchange, is: nil)
  }

  @Test("an expired session cannot be renewed: E says register again, and so does the token call")
  func expired() throws {
    let bench = try BFFBench()
    let engine = bench.engine()
    bench.bff.next(#"{"session_token": "session-1", "expires_in": 600}"#)
    _ = try engine.signIn.resume(bench.answer("code=once", to: bench.begin(engine)), cancellation: nil)
    bench.clock.advance(seconds: 590)
    try expect(engine.token(), is: "session-1", "due, and nothing renews it: it serves to its end")
    try expect(engine.registration.adoptStoredState(), is: .known(.active(.confirmed)))
    bench.clock.advance(seconds: 20)
    guard case .known(.renewalFailed(let failure)) = try engine.registration.adoptStoredState() else {
      throw Unexpected(what: "\(try engine.registration.adoptStoredState())")
    }
    #expect(failure.remedy == .registerAgain && !failure.isTokenUsable)
    expect(failure.error.code, is: .reauthenticate)
    guard case .reauthenticate = try engine.access() else { throw Unexpected(what: "\(try engine.access())") }
    _ = try bench.begin(engine)
  }

  @Test("without state nothing happens, whatever else the URL says (R6)")
  func noState() throws {
    let bench = try BFFBench()
    let engine = bench.engine()
    let begun = try bench.begin(engine)
    let before = try bench.record
    for rest in ["code=once", "session_token=t", "error=access_denied", "code=once&state=nobody"] {
      let url = "\(BFFBench.redirectURI)?\(rest)"
      expect(code { _ = try engine.signIn.resume(url, cancellation: nil) }, is: .unsolicited, "\(rest)")
      expect(
        code { _ = try engine.signIn.resume(url, transactionID: begun.transactionID, cancellation: nil) },
        is: .unsolicited, "\(rest)")
    }
    #expect(try bench.record == before && bench.bff.requests.isEmpty)
  }

  @Test("a token in the redirect is not taken unless that is switched on, and leaves the transaction pending")
  func tokenUnasked() throws {
    let bench = try BFFBench()
    let engine = bench.engine()
    let begun = try bench.begin(engine)
    let before = try bench.record
    let url = bench.answer("session_token=stolen", to: begun)
    expect(code { _ = try engine.signIn.resume(url, cancellation: nil) }, is: .redirectMalformed)
    try expect(bench.record, is: before)
    bench.bff.next(#"{"session_token": "session-1"}"#)
    try expect(engine.failure(of: bench.answer("code=once", to: begun)), is: nil)
  }

  @Test("switched on: a token in the redirect, with the state or with the sole transaction of its kind (R6)")
  func tokenInRedirect() throws {
    for hasState in [true, false] {
      let bench = try BFFBench(acceptsTokens: true)
      let engine = bench.engine()
      let begun = try bench.begin(engine)
      _ = try engine.signIn.begin(SignInOptions(), cancellation: nil)  // another kind, which does not count
      let url =
        hasState
        ? bench.answer("session_token=session-1&expires_in=900", to: begun)
        : "\(BFFBench.redirectURI)?session_token=session-1"
      try expect(engine.failure(of: url), is: nil)
      try expect(engine.token(), is: "session-1")
      try expect(bench.record.confirmed?.expiry.lifetimeSeconds, is: hasState ? 900 : 300)
      #expect(bench.bff.requests.isEmpty)
      let second = code { _ = try engine.signIn.resume(url, cancellation: nil) }
      expect(second, is: hasState ? .alreadySettled : .unsolicited)
    }
  }

  @Test("switched on, but two pending: without state only the one that the host names (R6)")
  func twoPending() throws {
    let bench = try BFFBench(acceptsTokens: true)
    let engine = bench.engine()
    let first = try bench.begin(engine)
    let second = try bench.begin(engine)
    let url = "\(BFFBench.redirectURI)?session_token=session-1"
    let before = try bench.record
    expect(code { _ = try engine.signIn.resume(url, cancellation: nil) }, is: .unsolicited)
    expect(
      code { _ = try engine.signIn.resume(url, transactionID: "nobody", cancellation: nil) }, is: .notFound)
    let wrong = bench.answer("session_token=session-1", to: second)
    expect(
      code { _ = try engine.signIn.resume(wrong, transactionID: first.transactionID, cancellation: nil) },
      is: .unsolicited)
    try expect(bench.record, is: before)
    let settlement = try engine.signIn.resume(url, transactionID: first.transactionID, cancellation: nil)
    expect(settlement.transactionID, is: first.transactionID)
    try expect(bench.record.transactions.map(\.status), is: [.succeeded, .pending])
  }

  @Test(
    "switched on, a bad redirect still has no effect (R5, R6, R8)",
    arguments: [
      ("com.example.app:/callback?code=once", EnrollError.Code.unsolicited),
      ("com.example.app:/callback?error=access_denied", .unsolicited),
      ("com.example.app:/other?session_token=t", .redirectMismatch),
      ("com.example.app:/callback?session_token=t&session_token=u", .redirectMalformed),
      ("com.example.app:/callback?session_token=t&code=once", .redirectMalformed),
      ("com.example.app:/callback?session_token=t&error=access_denied", .redirectMalformed),
      ("com.example.app:/callback?session_token=", .redirectMalformed),
      ("com.example.app:/callback?session_token=a%0Ab", .redirectMalformed),
      ("com.example.app:/callback?session_token=a%20b", .redirectMalformed),
      ("com.example.app:/callback?session_token=t&state=nobody", .unsolicited),
    ])
  func badTokens(url: String, expected: EnrollError.Code) throws {
    let bench = try BFFBench(acceptsTokens: true)
    let engine = bench.engine()
    _ = try bench.begin(engine)
    let before = try bench.record
    expect(code { _ = try engine.signIn.resume(url, cancellation: nil) }, is: expected)
    try expect(bench.record, is: before)
  }

  @Test("a token in the redirect of an ordinary sign-in is ignored, switched on or not (R8)")
  func otherKinds() throws {
    let bench = try BFFBench(acceptsTokens: true)
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    try expect(engine.failure(of: bench.issuer.signIn(at: begun.url, extra: "&session_token=evil")), is: nil)
    try expect(engine.token(), isNot: "evil")
  }

  @Test(
    "what redeem may not answer ends in F, and the code is never sent again (R15)",
    arguments: [
      (#"{"error": "invalid_grant"}"#, 400, EnrollError.Code.oauth), ("", 401, .oauth), ("{}", 503, .server),
      ("{}", 200, .responseInvalid), (#"{"session_token": ""}"#, 200, .responseInvalid),
      (#"{"session_token": "a\nb"}"#, 200, .responseInvalid),
      (#"{"session_token": 7}"#, 200, .responseInvalid),
      (#"{"access_token": "t"}"#, 200, .responseInvalid), ("[]", 200, .responseInvalid),
      ("<html>", 200, .responseInvalid), ("", 302, .responseInvalid),
      (#"{"session_token": "a", "session_token": "b"}"#, 200, .responseInvalid),
    ])
  func badRedeem(body: String, status: Int, expected: EnrollError.Code) throws {
    let bench = try BFFBench()
    let engine = bench.engine()
    let begun = try bench.begin(engine)
    bench.bff.next(body, status: status)
    try expect(engine.failure(of: bench.answer("code=once", to: begun)), is: expected)
    expect(engine.state.kind, is: .registrationFailed)
    #expect(try !bench.record.hasTokens)
    expect(
      code { _ = try engine.signIn.resume(bench.answer("code=once", to: begun), cancellation: nil) },
      is: .alreadySettled)
    expect(bench.bff.requests.count, is: 1)
  }

  @Test("an outage of redeem ends in F as well: the user starts again (R15)")
  func unreachable() throws {
    let bench = try BFFBench()
    let engine = bench.engine()
    let begun = try bench.begin(engine)
    try expect(engine.failure(of: bench.answer("code=once", to: begun)), is: .network)
    expect(bench.bff.requests.count, is: 1)
  }

  @Test("an error of the back end's with a live state settles, typed")
  func errors() throws {
    let bench = try BFFBench()
    let engine = bench.engine()
    let begun = try bench.begin(engine)
    try expect(engine.failure(of: bench.answer("error=access_denied", to: begun)), is: .accessDenied)
    expect(engine.state.kind, is: .registrationFailed)
  }

  @Test("a loopback redirect is told to the back end with its port, which it cannot know (R4)")
  func loopback() throws {
    let bench = try BFFBench(redirectURI: "http://127.0.0.1/callback")
    let begun = try bench.engine().signIn.begin(
      bench.options, loopbackRedirectURI: "http://127.0.0.1:4711/callback", cancellation: nil)
    expect(query(begun.url)["redirect_uri"], is: "http://127.0.0.1:4711/callback")
    #expect(!begun.survivesProcess)
  }

  @Test("after a logout the next request asks for a login, and no server of the issuer's hears of the token")
  func logout() throws {
    let bench = try BFFBench()
    let engine = bench.engine()
    bench.bff.next(#"{"session_token": "session-1"}"#)
    _ = try engine.signIn.resume(bench.answer("code=once", to: bench.begin(engine)), cancellation: nil)
    try expect(engine.logout.beginLogout(localOnly: false, cancellation: nil).url, is: nil)
    #expect(try !bench.record.hasTokens)
    expect(bench.issuerCount, is: 0)
    expect(query(try bench.begin(engine).url)["prompt"], is: "login")
    var options = bench.options
    options.prompt = "consent"
    let begun = try engine.signIn.begin(options, cancellation: nil)
    expect(query(begun.url)["prompt"], is: "login consent")
    options.prompt = "none"
    expect(code { _ = try engine.signIn.begin(options, cancellation: nil) }, is: .loginRequired)
  }

  @Test("a session token goes to a userinfo endpoint only on the back end's own origin")
  func userinfo() throws {
    let elsewhere = try BFFBench()
    let engine = elsewhere.engine()
    elsewhere.bff.next(#"{"session_token": "session-1"}"#)
    _ = try engine.signIn.resume(
      elsewhere.answer("code=once", to: elsewhere.begin(engine)), cancellation: nil)
    expect(code { _ = try engine.identity.userinfo(cancellation: nil) }, is: .unsupported)
    expect(elsewhere.issuerCount, is: 0)

    // The back end belongs to the issuer itself, so the profile comes from userinfo.
    let clock = FakeClock()
    let issuer = try FakeProvider(clock: clock)
    let bff = ScriptedServer()
    let bench = try BFFBench(base: issuer.issuer)
    let own = Engine(
      configuration: bench.configuration, account: .default, platform: Platform(),
      transport: Routes((issuer.issuer + "/v1", bff), (issuer.issuer, issuer)), store: bench.store,
      clock: clock, random: SystemRandomSource(), observer: bench.seen, exclusion: { Mutex() })
    let begun = try bench.begin(own)
    bff.next(#"{"session_token": "session-2"}"#)
    _ = try own.signIn.resume(bench.answer("code=once", to: begun), cancellation: nil)
    try expect(own.identity.profile()["email"], is: .string("alice@example.com"))
  }

  @Test("a request that cannot be made is refused, by its field")
  func badOptions() throws {
    let cases: [(String, (inout SignInOptions) -> Void)] = [
      ("connection", { $0.connection = nil }), ("connection", { $0.connection = "" }),
      ("connection", { $0.connection = "../admin" }), ("connection", { $0.connection = "a/b" }),
      ("connection", { $0.connection = "a?b" }), ("connection", { $0.connection = "a%2Fb" }),
      ("connection", { $0.connection = String(repeating: "a", count: 65) }),
      ("scopes", { $0.scopes = ["openid"] }), ("maxAge", { $0.maxAgeSeconds = 1 }),
      ("acrValues", { $0.acrValues = ["gold"] }), ("loginHint", { $0.loginHint = "alice" }),
      ("parameters", { $0.parameters = [("state", "mine")] }),
      ("parameters", { $0.parameters = [("code_challenge", "mine")] }),
      ("parameters", { $0.parameters = [("platform", "web")] }),
    ]
    let bench = try BFFBench()
    for (index, (field, change)) in cases.enumerated() {
      var options = bench.options
      change(&options)
      let error = refusal { try bench.engine().signIn.begin(options, cancellation: nil) }
      #expect(error?.code == .invalidArgument && error?.field == field, "case \(index)")
    }
    #expect(try bench.record.transactions.isEmpty)
  }

  @Test("without the key `bff` there is none to ask; a base with a query is no base")
  func configuration() throws {
    let bench = try Bench()
    var options = SignInOptions(kind: .bff)
    options.connection = "google"
    expect(refusal { try bench.engine().signIn.begin(options, cancellation: nil) }?.code, is: .configuration)
    expect(refusal { try BFFBench(base: "https://bff.example/?a=b") }?.field, is: "bff.base")
    let slashed = try BFFBench(base: "https://bff.example/")
    #expect(try slashed.begin(slashed.engine()).url.hasPrefix("https://bff.example/v1/auth/google?"))
  }

  @Test("a transaction of a back end and its tokens survive the store")
  func stored() throws {
    let bench = try BFFBench()
    let engine = bench.engine()
    let begun = try bench.begin(engine)
    var record = try bench.record
    record.confirmed = Sample.tokens
    record.confirmed?.source = .bff
    let document = AccountDocument(account: .default, lineage: "lineage", record: record)
    let read = try AccountDocument(decoding: document.encoded())
    expect(read.record, is: record)
    guard case .bff(let pending)? = read.record.transactions.first?.flow else {
      throw Unexpected(what: "another flow")
    }
    expect(pending.exchange?.provider, is: "google")
    expect(read.record.transactions.first?.id, is: begun.transactionID)
  }
}
