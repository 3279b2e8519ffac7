import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollJSON
import EnrollTesting
import Expectations
import Foundation
import Testing

@Suite("Signing in (flows.md §2)")
struct SignInStepTests {
  @Test("begin, redirect, exchange, confirmation: D, browser, G, H, and a token")
  func whole() throws {
    let bench = try Bench(requiresConfirmation: true)
    let engine = bench.engine()
    try expect(engine.registration.adoptStoredState(), is: .known(.unregistered))
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    #expect(begun.url.contains("code_challenge_method=S256"))
    expect(engine.state, is: .authenticating(transactionID: begun.transactionID, step: .browser))

    let settlement = try engine.signIn.resume(bench.provider.signIn(at: begun.url), cancellation: nil)
    guard case .succeeded(.awaitingConfirmation(_, let profile)) = settlement.ending else {
      throw Unexpected(what: "\(settlement)")
    }
    expect(profile["sub"], is: .string("alice"))
    expect(code { _ = try engine.token() }, is: .illegalState)

    try expect(engine.registration.confirm(), is: .active(.confirmed))
    try expect(engine.token(), is: "access-2")
    try expect(engine.identity.profile()["name"], is: .string("Alice Example"))
    expect(bench.seen.names.filter { $0 == "registration.settled" }.count, is: 1)
    expect(code { _ = try engine.registration.confirm() }, is: .illegalState)
  }

  @Test("scopes that are refused are told with what was asked and what the provider lists")
  func scopesRefused() throws {
    let bench = try Bench(scopes: ["openid", "parties"])
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    let state = try #require(
      URLComponents(string: begun.url)?.queryItems?.first { $0.name == "state" }?.value)
    let url = "com.example.app:/callback?error=invalid_scope&state=\(state)"
    guard case .failed(let error) = try engine.signIn.resume(url, cancellation: nil).ending else {
      throw Unexpected(what: "a success")
    }
    expect(error.oauthError, is: "invalid_scope")
    expect(error.field, is: "scopes")
    #expect(error.message.contains("; asked: openid parties; the provider lists"), "\(error.message)")
  }

  @Test("without confirmation G is passed through at once")
  func unconfirmed() throws {
    let engine = try Bench().signedIn()
    expect(engine.state, is: .active(.confirmed))
  }

  @Test("a redirect finds its transaction in another process (R7, R12)")
  func anotherProcess() throws {
    let bench = try Bench()
    let begun = try bench.engine().signIn.begin(SignInOptions(), cancellation: nil)
    let second = bench.engine()
    try expect(
      second.registration.adoptStoredState(),
      is: .known(.authenticating(transactionID: begun.transactionID, step: .browser)))
    try expect(second.failure(of: bench.provider.signIn(at: begun.url)), is: nil)
    try expect(second.token(), is: "access-2")
  }

  @Test("a redirect with another state changes nothing, and the right one still works (R6)")
  func wrongState() throws {
    let bench = try Bench()
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    let right = bench.provider.signIn(at: begun.url)
    let before = try bench.record
    let wrong = [
      "com.example.app:/callback?code=x&state=nobody", "com.example.app:/callback?code=x",
      "com.example.app:/callback?error=access_denied&state=nobody",
      right.replacingOccurrences(of: "/callback", with: "/callback/"),
    ]
    for url in wrong {
      let refused: Set<EnrollError.Code> = [.unsolicited, .redirectMismatch]
      #expect(
        refused.contains(code { _ = try engine.signIn.resume(url, cancellation: nil) } ?? .internal), "\(url)"
      )
    }
    try expect(bench.record, is: before)
    expect(bench.provider.count(.token), is: 0)
    try expect(engine.failure(of: right), is: nil)
  }

  @Test("a redirect of another issuer with our state ends the attempt, and its code goes nowhere (R17)")
  func anotherIssuer() throws {
    let bench = try Bench()
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    let right = bench.provider.signIn(at: begun.url)
    let wrong = right.replacingOccurrences(of: "id%2Eexample", with: "evil%2Eexample")
    guard case .failed(let error) = try engine.signIn.resume(wrong, cancellation: nil).ending else {
      throw Unexpected(what: "\(engine.state)")
    }
    expect(error.code, is: .issuerMismatch)
    #expect(error.message.contains("https://evil.example") && error.message.contains("https://id.example"))
    expect(engine.state.kind, is: .registrationFailed)
    expect(bench.provider.count(.token), is: 0)
    expect(code { _ = try engine.signIn.resume(right, cancellation: nil) }, is: .alreadySettled)
    // An existing session must not change.
    let signedIn = try Bench()
    let second = try signedIn.signedIn()
    let again = signedIn.provider.signIn(at: try second.signIn.begin(SignInOptions(), cancellation: nil).url)
    let mixed = again.replacingOccurrences(of: "id%2Eexample", with: "evil%2Eexample")
    try expect(second.failure(of: mixed), is: .issuerMismatch)
    expect(second.state, is: .active(.confirmed))
  }

  @Test("a redirect twice: the second is told that the first came (R7)")
  func twice() throws {
    let bench = try Bench()
    let engine = bench.engine()
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    _ = try engine.signIn.resume(url, cancellation: nil)
    expect(code { _ = try engine.signIn.resume(url, cancellation: nil) }, is: .alreadySettled)
    expect(bench.provider.count(.token), is: 1)
    try expect(engine.token(), is: "access-2")
  }

  @Test("of the transactions that are kept, settled ones give way, then given-up ones, a live one never")
  func room() throws {
    let bench = try Bench()
    let engine = bench.engine()
    let failed = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    _ = try engine.signIn.resume(bench.provider.refuse(failed.url, error: "access_denied"), cancellation: nil)
    let left = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    _ = try engine.registration.cancel(transactionID: left.transactionID)
    let live = try (0..<32).map { _ in try engine.signIn.begin(SignInOptions(), cancellation: nil) }
    try expect(bench.record.transactions.map(\.id), is: live.map(\.transactionID))
    let error = refusal { try engine.signIn.begin(SignInOptions(), cancellation: nil) }
    #expect(error?.code == .busy && error?.retryAfterSeconds == 600)
    try expect(engine.failure(of: bench.provider.signIn(at: live[0].url)), is: nil)
    _ = try engine.signIn.begin(SignInOptions(), cancellation: nil)
  }

  @Test("two redirects at once: one wins, the code is sent once (R7, R15)")
  func atOnce() throws {
    let bench = try Bench()
    let engine = bench.engine()
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    let second = bench.engine()
    nonisolated(unsafe) var refused: EnrollError.Code?
    // The second redirect arrives while the server still processes the token request for the first redirect.
    bench.provider.next(
      .token, .during { refused = code { _ = try second.signIn.resume(url, cancellation: nil) } })
    try expect(engine.failure(of: url), is: nil)
    expect(refused, is: .alreadySettled)
    expect(bench.provider.count(.token), is: 1)
  }

  @Test(
    "an error with a live state settles the transaction, typed",
    arguments: [
      ("login_required", EnrollError.Code.loginRequired), ("interaction_required", .interactionRequired),
      ("consent_required", .consentRequired), ("access_denied", .accessDenied), ("server_error", .server),
    ])
  func errors(error: String, expected: EnrollError.Code) throws {
    let bench = try Bench()
    let engine = bench.engine()
    let url = bench.provider.refuse(
      try engine.signIn.begin(SignInOptions(), cancellation: nil).url, error: error)
    try expect(engine.failure(of: url), is: expected)
    expect(engine.state.kind, is: .registrationFailed)
    expect(code { _ = try engine.signIn.resume(url, cancellation: nil) }, is: .alreadySettled)
    #expect(bench.seen.names.contains("error.reported"))
    // The state registrationFailed must remain until the next sign-in begins.
    try expect(engine.registration.adoptStoredState(), is: .known(engine.state))
    _ = try engine.signIn.begin(SignInOptions(), cancellation: nil)
  }

  @Test("after an unclear failure the code is not sent again: the user starts again (R15)")
  func unclear() throws {
    let bench = try Bench()
    let engine = bench.engine()
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    bench.provider.next(.token, .answerLost)
    try expect(engine.failure(of: url), is: .network)
    expect(code { _ = try engine.signIn.resume(url, cancellation: nil) }, is: .alreadySettled)
    expect(bench.provider.count(.token), is: 1)
    let request = try #require(bench.provider.requests(.token).first)
    #expect(request.freshConnection)
  }

  @Test(
    "an id_token that breaks a rule yields no token (R24-R26)",
    arguments: [
      ("nonce", JSON.string("other")), ("nonce", .null), ("aud", .string("other")),
      ("iss", .string("https://evil.example")),
      ("exp", .integer(1)), ("sub", .null),
    ])
  func badIDToken(claim: String, value: JSON) throws {
    let bench = try Bench()
    let engine = bench.engine()
    bench.provider.change { $0.claims = { $0[claim] = value } }
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    try expect(engine.failure(of: url), is: .idTokenInvalid)
    #expect(try !bench.record.hasTokens)
  }

  @Test(
    "a wrong clock on the device does not block the login: the server's is learned (R25)",
    arguments: [Int64(-86_400), 31_536_000])
  func wrongClock(offset: Int64) throws {
    let bench = try Bench()
    bench.provider.change { $0.clockOffsetSeconds = offset }
    let engine = try bench.signedIn()
    try expect(bench.record.serverClock.offsetSeconds, is: offset)
    try expect(engine.token(), is: "access-2")
  }

  /// Makes the `Date` of the token endpoint differ by this many seconds; the id_token follows the device's clock.
  private func sign(atDate offset: Int64, _ bench: Bench) {
    let now = bench.clock.wallTime().seconds
    bench.provider.change {
      $0.clockOffsetSeconds = offset
      $0.claims = {
        $0["iat"] = .integer(now)
        $0["exp"] = .integer(now + 3600)
      }
    }
  }

  @Test(
    "a wrong Date of the token endpoint blocks no login: the clock that fits is used and learned (R25)",
    arguments: [Int64(4000), -4000, 315_360_000, -315_360_000])
  func wrongDate(offset: Int64) throws {
    let bench = try Bench()
    sign(atDate: offset, bench)
    let engine = try bench.signedIn()
    try expect(bench.record.serverClock.offsetSeconds, is: 0)
    try expect(engine.token(), is: "access-2")
  }

  @Test(
    "a device whose clock is wrong signs in at a server that tells no time: the nonce shows that the id_token is new (R25)",
    arguments: [-86_400, 86_400])
  func noDate(_ offset: Int64) throws {
    let bench = try Bench()
    bench.provider.change { ($0.sendsDate, $0.clockOffsetSeconds) = (false, offset) }
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    try expect(engine.failure(of: bench.provider.signIn(at: begun.url)), is: nil)
    expect(engine.state, is: .active(.confirmed))
    try expect(bench.record.serverClock.offsetSeconds, is: offset)
  }

  @Test("an id_token that fits no clock is refused, and the error names the clocks that were tried (R25)")
  func noClockFits() throws {
    let bench = try Bench()
    sign(atDate: 4000, bench)
    bench.provider.change {
      $0.claims = {
        $0["iat"] = .integer(1)
        $0["exp"] = .integer(2)
      }
    }
    let engine = bench.engine()
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    guard case .failed(let error) = try engine.signIn.resume(url, cancellation: nil).ending else {
      throw Unexpected(what: "accepted")
    }
    expect(error.code, is: .idTokenInvalid)
    #expect(error.message.contains("the answer's Date") && error.message.contains("this machine's clock"))
    #expect(error.message.contains("\(bench.clock.wallTime().seconds)"))
  }

  @Test("tokens of an answer that is no acceptable JSON are revoked, where it gives them without doubt (R35)")
  func unacceptableAnswer() throws {
    let bench = try Bench()
    bench.provider.change { $0.tokens = { $0["id_token"] = .string("\u{0}") } }
    let engine = bench.engine()
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    try expect(engine.failure(of: url), is: .responseInvalid)
    engine.outbox.sendOutbox(cancellation: nil)
    expect(Set(bench.provider.revoked), is: ["refresh-2", "access-2"])
  }

  @Test("members of the answer that are null, and scopes as an array, cost nothing once the code is spent")
  func oddAnswer() throws {
    let bench = try Bench(scopes: ["openid", "offline_access", "profile"])
    bench.provider.change {
      $0.tokens = {
        $0["refresh_token"] = .null
        $0["expires_in"] = .null
        $0["not_before_policy"] = .null
        $0["scope"] = .array([.string("openid"), .string("profile")])
      }
    }
    let engine = try bench.signedIn()
    try expect(engine.token(), is: "access-2")
    try expect(bench.record.confirmed?.scopes, is: ["openid", "profile"])
    try expect(bench.record.confirmed?.refreshToken, is: nil)
  }

  @Test("openid was asked for and no id_token came: refused")
  func missingIDToken() throws {
    let bench = try Bench()
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    let url = bench.provider.signIn(at: begun.url.replacingOccurrences(of: "openid", with: "other"))
    try expect(engine.failure(of: url), is: .idTokenInvalid)
  }

  @Test("without openid the profile comes from userinfo")
  func plainOAuth() throws {
    let bench = try Bench(scopes: ["offline_access"])
    let engine = try bench.signedIn()
    try expect(engine.identity.profile()["email"], is: .string("alice@example.com"))
  }

  @Test("an id_token that nobody asked for is ignored, whatever it says")
  func unaskedIDToken() throws {
    for token: JSON in [.string("e30.e30.e30"), .string("no token"), .integer(1), .object([])] {
      let bench = try Bench(scopes: ["offline_access"])
      bench.provider.change { $0.tokens = { $0["id_token"] = token } }
      let engine = try bench.signedIn()
      try expect(engine.token(), is: "access-2")
      try expect(engine.identity.profile()["email"], is: .string("alice@example.com"))
      try expect(bench.record.confirmed?.idToken, is: nil)
    }
  }

  static let lostProfiles: [FakeProvider.Reply] = [
    .status(401), .status(403, body: "<html>"), .status(404), .status(503), .unreachable, .timeout,
    .status(200, headers: [HTTPHeader("Content-Type", "text/html")], body: "<html>"),
    .status(200, headers: [HTTPHeader("Content-Type", "application/json")], body: "{}"),
  ]

  @Test(
    "without openid, userinfo that fails leaves a good sign-in without a profile",
    arguments: lostProfiles.indices)
  func lostProfile(index: Int) throws {
    let bench = try Bench(requiresConfirmation: true, scopes: ["offline_access"])
    bench.provider.next(.userinfo, Self.lostProfiles[index])
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    let settlement = try engine.signIn.resume(bench.provider.signIn(at: begun.url), cancellation: nil)
    expect(
      settlement.ending,
      is: .succeeded(.awaitingConfirmation(transactionID: begun.transactionID, profile: JSONObject())))
    try expect(engine.registration.confirm(), is: .active(.confirmed))
    try expect(engine.token(), is: "access-2")
    try expect(engine.identity.profile(), is: JSONObject())
    // The log must get the warning, but the user must not see it.
    #expect(bench.seen.warned.count == 1 && bench.seen.reported.isEmpty)
    expect(bench.seen.warned.first?.message.contains("without a profile"), is: true)
    expect(engine.diagnostics.diagnostics()["errors"]?.array?.count, is: 1)
    // Userinfo can be requested again.
    try expect(engine.identity.userinfo(cancellation: nil)["email"], is: .string("alice@example.com"))
  }

  @Test(
    "once the code is sent nothing is retryable: the attempt has ended, and what helps is to begin again",
    arguments: [0, 1, 2, 3])
  func ended(index: Int) throws {
    let failure: FakeProvider.Reply = [
      .status(500), .status(503, headers: [HTTPHeader("Retry-After", "7")]), .timeout, .answerLost,
    ][index]
    let bench = try Bench()
    let engine = bench.engine()
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    bench.provider.next(.token, failure)
    guard case .failed(let error) = try engine.signIn.resume(url, cancellation: nil).ending else {
      throw Unexpected(what: "\(engine.state)")
    }
    #expect(!error.isRetryable && error.helps == .registerAgain)
    #expect(error.message.contains("Begin the sign-in again"))
    expect(error.httpStatus, is: [500, 503, nil, nil][index])
    expect(error.retryAfterSeconds, is: [nil, 7, nil, nil][index])
    expect(engine.state, is: .registrationFailed(error))
    expect(bench.seen.reported, is: [error])
    expect(code { _ = try engine.signIn.resume(url, cancellation: nil) }, is: .alreadySettled)
    let again = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    try expect(engine.failure(of: bench.provider.signIn(at: again.url)), is: nil)
  }

  @Test("a provider that is away before the code is sent can be asked again, and that is told")
  func retryableBefore() throws {
    let bench = try Bench()
    let url = bench.provider.signIn(
      at: try bench.engine().signIn.begin(SignInOptions(), cancellation: nil).url)
    let engine = bench.engine()
    bench.provider.next(.discovery, .status(503))
    do throws(EnrollError) {
      _ = try engine.signIn.resume(url, cancellation: nil)
      Issue.record("an error was expected")
    } catch {
      #expect(error.isRetryable)
    }
    try expect(engine.failure(of: url), is: nil)
  }

  @Test("after a cancel, a late valid redirect still wins (R12)")
  func late() throws {
    let bench = try Bench()
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    try expect(engine.registration.cancel(transactionID: begun.transactionID), is: .unregistered)
    try expect(engine.failure(of: bench.provider.signIn(at: begun.url)), is: nil)
    expect(engine.state, is: .active(.confirmed))
  }

  @Test("many transactions at once: the newest is not the only one (R12)")
  func many() throws {
    let bench = try Bench()
    let engine = bench.engine()
    let first = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    _ = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    try expect(engine.failure(of: bench.provider.signIn(at: first.url)), is: nil)
  }

  @Test("a redirect after the deadline is refused (R12)")
  func deadline() throws {
    let bench = try Bench()
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    bench.clock.advance(seconds: 601)
    expect(
      code { _ = try engine.signIn.resume(bench.provider.signIn(at: begun.url), cancellation: nil) },
      is: .transactionExpired)
    try expect(engine.registration.adoptStoredState(), is: .known(.unregistered))
  }

  @Test("a step-up that fails leaves the session as it was (flows.md §6)")
  func stepUp() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    let begun = try engine.signIn.begin(SignInOptions(prompt: "login"), cancellation: nil)
    try expect(
      engine.failure(of: bench.provider.refuse(begun.url, error: "access_denied")), is: .accessDenied)
    expect(engine.state, is: .active(.confirmed))
    try expect(engine.token(), is: "access-2")
  }

  @Test("a step-up that fails or is given up returns to the state before, be it B, C, E or H")
  func stepUpFromEach() throws {
    for before in [RegistrationState.Kind.valid, .renewed, .renewalFailed, .confirmed] {
      for isGivenUp in [false, true] {
        let bench = try Bench()
        var engine = try bench.signedIn()
        if before != .confirmed { engine = bench.engine() }
        if before == .renewed || before == .renewalFailed { bench.clock.advance(seconds: 3550) }
        if before == .renewalFailed { bench.provider.next(.token, .unreachable, .unreachable) }
        if try engine.registration.adoptStoredState() == .needsRenewal { _ = try engine.access() }
        let stood = engine.state
        expect(stood.kind, is: before)
        let begun = try engine.signIn.begin(SignInOptions(prompt: "login"), cancellation: nil)
        if isGivenUp {
          try expect(engine.registration.cancel(transactionID: begun.transactionID), is: stood)
        } else {
          let url = bench.provider.refuse(begun.url, error: "access_denied")
          try expect(engine.failure(of: url), is: .accessDenied)
        }
        expect(engine.state, is: stood)
      }
    }
  }

  @Test("a sign-in that fails after the provider ended the session says why, and leads back to E")
  func failureAfterEnd() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    bench.provider.endSessions()
    bench.clock.advance(seconds: 3550)
    _ = try engine.access()
    expect(engine.state.kind, is: .renewalFailed)
    // The same must happen if another process receives the redirect.
    for taking in [engine, bench.engine()] {
      let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
      try expect(
        taking.failure(of: bench.provider.refuse(begun.url, error: "access_denied")), is: .accessDenied)
      expect(taking.state.kind, is: .renewalFailed)
    }
  }

  @Test("a sign-in that nobody ends leaves the state before, also where the session is over or due")
  func abandoned() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    _ = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    bench.clock.advance(seconds: 601)
    try expect(engine.registration.adoptStoredState(), is: .known(.active(.confirmed)))
    _ = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    bench.clock.advance(seconds: 3000)
    try expect(engine.registration.adoptStoredState(), is: .needsRenewal)
    expect(engine.state, is: .active(.confirmed))
    bench.provider.endSessions()
    _ = try engine.access()
    _ = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    bench.clock.advance(seconds: 601)
    guard case .known(.renewalFailed) = try engine.registration.adoptStoredState() else {
      throw Unexpected(what: "\(engine.state)")
    }
  }

  @Test("of two attempts beside a session, the one that fails leaves the other one under way")
  func twoBesideSession() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    let first = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    let second = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    _ = try engine.failure(of: bench.provider.refuse(first.url, error: "access_denied"))
    expect(engine.state, is: .authenticating(transactionID: second.transactionID, step: .browser))
  }

  @Test("a retry in the middle of an exchange is refused, and the tokens arrive (R15)")
  func retryWhileExchanging() throws {
    let bench = try Bench(requiresConfirmation: true)
    let engine = bench.engine()
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    nonisolated(unsafe) var refused: EnrollError.Code?
    bench.provider.next(
      .token, .during { refused = code { _ = try engine.registration.retry(cancellation: nil) } })
    try expect(engine.failure(of: url), is: nil)
    expect(refused, is: .illegalState)
    expect(engine.state.kind, is: .awaitingConfirmation)
  }

  @Test(
    "after a retry the configured prompt lets the user choose another account",
    arguments: [PromptAfterLogout.login, .selectAccount], [nil, "login", "select_account"])
  func promptAfterLogout(configured: PromptAfterLogout, announced: String?) throws {
    let configuration = try Configuration(
      issuer: Fixture.issuer, clientID: "native", redirectURI: "com.example.app:/callback"
    ) {
      $0.promptAfterLogout = configured
    }
    var metadata = try Fixture.metadata()
    metadata.promptValues = announced.map { [$0] }
    let request = try AuthorizationRequest.make(
      configuration: configuration, metadata: metadata, asksForLogin: true, at: Fixture.moment(),
      random: [UInt8](repeating: 1, count: AuthorizationRequest.randomByteCount))
    #expect(request.sent.prompt == announced ?? configured.rawValue)
  }

  @Test("a provider that announces no prompt for a log-in gets none, and support is told")
  func noPromptForLogin() throws {
    let bench = try Bench()
    bench.provider.change {
      $0.metadata = { $0["prompt_values_supported"] = .array([.string("none"), .string("create")]) }
    }
    let engine = try bench.signedIn()
    #expect(bench.seen.warned.isEmpty)
    _ = try engine.logout.beginLogout(localOnly: true, cancellation: nil)
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    #expect(!begun.url.contains("prompt="))
    #expect(bench.seen.warned.map(\.field) == ["prompt"] && bench.seen.reported.isEmpty)
    expect(engine.diagnostics.diagnostics()["errors"]?.array?.count, is: 1)
    try expect(engine.failure(of: bench.provider.signIn(at: begun.url)), is: nil)
  }

  @Test("after a logout a silent sign-in is refused: it could bring back the user who left (flows.md §5)")
  func silentAfterLogout() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    _ = try engine.logout.beginLogout(localOnly: true, cancellation: nil)
    expect(
      code { _ = try engine.signIn.begin(SignInOptions(prompt: "none"), cancellation: nil) },
      is: .loginRequired)
    expect(engine.state, is: .unregistered)
    // Once the user has signed in, the host decides about the next step.
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    try expect(engine.failure(of: bench.provider.signIn(at: begun.url)), is: nil)
    #expect(
      try engine.signIn.begin(SignInOptions(prompt: "none"), cancellation: nil).url.contains("prompt=none"))
  }

  @Test("retry clears and revokes provisional tokens, and the next request asks for a log-in")
  func retry() throws {
    let bench = try Bench(requiresConfirmation: true)
    let engine = try bench.signedIn()
    try expect(engine.registration.retry(cancellation: nil), is: .unregistered)
    #expect(bench.provider.revoked.contains("refresh-2"))
    #expect(try !bench.record.hasTokens)
    #expect(try engine.signIn.begin(SignInOptions(), cancellation: nil).url.contains("prompt=login"))
  }

  @Test("retry keeps an earlier confirmed session")
  func retryBesideSession() throws {
    let bench = try Bench(requiresConfirmation: true)
    let engine = try bench.signedIn()
    _ = try engine.registration.confirm()
    bench.provider.change { $0.subject = "bob" }
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    _ = try engine.signIn.resume(bench.provider.signIn(at: begun.url), cancellation: nil)
    expect(engine.state.kind, is: .awaitingConfirmation)
    try expect(engine.registration.retry(cancellation: nil), is: .active(.valid))
    try expect(engine.token(), is: "access-2")
    try expect(engine.identity.profile()["sub"], is: .string("alice"))
  }

  @Test("a platform that is not native uses the stand-in token (A)")
  func notNative() throws {
    let bench = try Bench(isNative: false)
    let engine = bench.engine()
    try expect(engine.registration.adoptStoredState(), is: .known(.active(.notNative)))
    try expect(engine.token(), is: "stand-in")
    expect(code { _ = try engine.signIn.begin(SignInOptions(), cancellation: nil) }, is: .illegalState)
  }

  @Test("discovery of another issuer is refused (R18)")
  func otherIssuer() throws {
    let bench = try Bench()
    bench.provider.change { $0.metadata = { $0["issuer"] = .string("https://evil.example") } }
    expect(
      code { _ = try bench.engine().signIn.begin(SignInOptions(), cancellation: nil) }, is: .issuerMismatch)
  }

  @Test("an unreachable provider is a network error, and begin works once it is back")
  func unreachable() throws {
    let bench = try Bench()
    let engine = bench.engine()
    bench.provider.next(.discovery, .unreachable)
    expect(code { _ = try engine.signIn.begin(SignInOptions(), cancellation: nil) }, is: .network)
    expect(engine.state, is: .unregistered)
    _ = try engine.signIn.begin(SignInOptions(), cancellation: nil)
  }

  @Test(
    "a redirect that finds the provider away stays pending until the code is sent, and works later",
    arguments: [FakeProvider.Endpoint.discovery, .keys])
  func providerAway(endpoint: FakeProvider.Endpoint) throws {
    let bench = try Bench()
    let begun = try bench.engine().signIn.begin(SignInOptions(), cancellation: nil)
    let url = bench.provider.signIn(at: begun.url)
    let engine = bench.engine()
    bench.provider.next(endpoint, .unreachable)
    let refused = code { _ = try engine.signIn.resume(url, cancellation: nil) }
    #expect(refused == .network || refused == .keysUnavailable)
    expect(bench.provider.count(.token), is: 0)
    try expect(engine.failure(of: url), is: nil)
    try expect(engine.token(), is: "access-2")
  }

  @Test(
    "a code that was not sent is not spent: the transaction waits, and the same redirect works later (R15)")
  func unsentCode() throws {
    let bench = try Bench()
    let engine = bench.engine()
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    bench.provider.next(.token, .unreachable)
    expect(code { _ = try engine.signIn.resume(url, cancellation: nil) }, is: .network)
    try expect(bench.record.transactions.first?.status, is: .pending)
    guard case .authenticating(_, .browser) = engine.state else {
      Issue.record("the state is \(engine.state)")
      return
    }
    try expect(engine.failure(of: url), is: nil)
    try expect(engine.token(), is: "access-2")
  }

  @Test("settled transactions keep no secret but the state, to know a second redirect by")
  func forgets() throws {
    let bench = try Bench()
    _ = try bench.signedIn()
    let transaction = try #require(try bench.record.transactions.first)
    expect(transaction.status, is: .succeeded)
    expect(transaction.codeRequest?.secrets, is: nil)
    expect(transaction.redirect?.state.isEmpty, is: false)
  }

  @Test("userinfo about somebody else is discarded (R28)")
  func userinfo() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    try expect(engine.identity.userinfo(cancellation: nil)["email"], is: .string("alice@example.com"))
    bench.provider.change { $0.userinfoSubject = "mallory" }
    expect(code { _ = try engine.identity.userinfo(cancellation: nil) }, is: .profileMismatch)
  }
}
