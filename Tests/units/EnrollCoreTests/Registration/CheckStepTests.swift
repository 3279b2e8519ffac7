import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollStore
import EnrollTesting
import Expectations
import Testing

extension Engine {
  /// The state that a host gets; before that, if necessary, this renews the tokens and runs the registration check.
  fileprivate func settled() throws -> RegistrationState {
    if try registration.adoptStoredState() == .needsRenewal { _ = try access() }
    guard try registration.adoptStoredState() == .needsCheck else { return state }
    return try check.checkSession(cancellation: nil)
  }
}

@Suite("The registration check and the verified address (flows.md §7)")
struct CheckStepTests {
  private func arrived(_ bench: Bench) throws -> Engine {
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    guard
      case .succeeded = try engine.signIn.resume(bench.provider.signIn(at: begun.url), cancellation: nil)
        .ending
    else { throw Unexpected(what: "\(engine.state)") }
    return engine
  }

  @Test("before H, before B in the next process, before C after a renewal: each is asked once")
  func asked() throws {
    let bench = try Bench(requiresConfirmation: true, checks: true)
    let engine = try arrived(bench)
    expect(bench.provider.count(.registrationCheck), is: 0)
    try expect(engine.registration.confirm(), is: .active(.confirmed))
    try expect(engine.settled(), is: .active(.confirmed))
    expect(bench.provider.count(.registrationCheck), is: 1)

    let next = bench.engine()
    try expect(next.registration.adoptStoredState(), is: .needsCheck)
    expect(next.state, is: .starting)
    try expect(next.settled(), is: .active(.valid))
    try expect(next.settled(), is: .active(.valid))
    expect(bench.provider.count(.registrationCheck), is: 2)

    bench.clock.advance(seconds: 3550)
    _ = try next.access()
    expect(next.state, is: .active(.valid))
    next.registration.checkIfNeeded()
    expect(next.state, is: .active(.renewed))
    try expect(next.settled(), is: .active(.renewed))
    expect(bench.provider.count(.registrationCheck), is: 3)
  }

  @Test("it tells installation id and platform facts, the same id each time")
  func facts() throws {
    let bench = try Bench(checks: true)
    let engine = try bench.signedIn()
    _ = try bench.engine().settled()
    _ = engine
    let bodies = try bench.provider.requests(.registrationCheck).map { try JSON.parse($0.body) }
    #expect(bodies.count == 2 && bodies[0] == bodies[1])
    expect(bodies[0]["installationId"]?.string, is: try bench.store.installationID())
    expect(bodies[0]["platform"]?["type"], is: .string("android"))
    expect(bodies[0]["platform"]?["deviceId"], is: .string("device-9"))
  }

  @Test("a 401 brings one renewal and one more question")
  func renewedOnce() throws {
    let bench = try Bench(checks: true)
    _ = try bench.signedIn()
    let engine = bench.engine()
    bench.provider.next(.registrationCheck, .status(401))
    try expect(engine.settled(), is: .active(.renewed))
    expect(bench.provider.count(.token), is: 2)
    let sent = bench.provider.requests(.registrationCheck).suffix(2).map { request in
      request.headers.first { $0.name == "Authorization" }?.value
    }
    expect(sent, is: ["Bearer access-2", "Bearer access-3"])
  }

  @Test("a second 401 is E with the tokens kept; it stays E until somebody tries again")
  func refused() throws {
    let bench = try Bench(checks: true)
    _ = try bench.signedIn()
    let engine = bench.engine()
    bench.provider.next(.registrationCheck, .status(401), .status(401))
    guard case .renewalFailed(let failure) = try engine.settled() else {
      throw Unexpected(what: "\(engine.state)")
    }
    #expect(failure.remedy == .registerAgain && failure.isTokenUsable && failure.error.httpStatus == 401)
    try expect(bench.record.confirmed?.accessToken, is: Secret("access-3"))
    try expect(engine.settled().kind, is: .renewalFailed)
    expect(bench.provider.count(.registrationCheck), is: 3)
    expect(bench.seen.reported.map(\.code), is: [.oauth])
    try expect(engine.registration.retry(cancellation: nil), is: .active(.renewed))
  }

  @Test(
    "an outage changes nothing: the session stands, and the question is asked again a minute later",
    arguments: [
      FakeProvider.Reply.unreachable, .timeout, .status(503), .status(429), .status(200, body: "?"),
    ])
  func outage(reply: FakeProvider.Reply) throws {
    let bench = try Bench(checks: true)
    _ = try bench.signedIn()
    let before = try bench.record
    let engine = bench.engine()
    bench.provider.next(.registrationCheck, reply)
    try expect(engine.settled(), is: .active(.valid))
    try expect(engine.settled(), is: .active(.valid))
    expect(bench.provider.count(.registrationCheck), is: 2)
    try expect(bench.record, is: before)
    bench.clock.advance(seconds: 61)
    bench.provider.next(.registrationCheck, .status(401), .status(401))
    try expect(engine.settled().kind, is: .renewalFailed)
  }

  @Test("another sub or e-mail is F; a confirmed session's tokens are kept", arguments: ["sub", "email"])
  func mismatch(member: String) throws {
    let bench = try Bench(checks: true)
    bench.provider.change { $0.claims = { $0["email"] = .string("alice@example.com") } }
    _ = try bench.signedIn()
    bench.provider.change { $0.checkAnswer = { $0[member] = .string("mallory@example.com") } }
    let engine = bench.engine()
    guard case .registrationFailed(let error) = try engine.settled() else {
      throw Unexpected(what: "\(engine.state)")
    }
    #expect(error.code == .profileMismatch && error.field == member)
    try expect(engine.settled().kind, is: .registrationFailed)
    try expect(bench.record.confirmed, isNot: nil)
    expect(bench.provider.count(.registrationCheck), is: 2)
  }

  @Test("before H another sub is F, and the provisional tokens are dropped and revoked")
  func mismatchAtConfirmation() throws {
    let bench = try Bench(requiresConfirmation: true, checks: true)
    let engine = try arrived(bench)
    bench.provider.change { $0.checkAnswer = { $0["sub"] = .string("mallory") } }
    expect(code { _ = try engine.registration.confirm() }, is: .profileMismatch)
    let failed = engine.state
    expect(failed.kind, is: .registrationFailed)
    #expect(try !bench.record.hasTokens)
    #expect(bench.provider.revoked.contains("refresh-2"))
    try expect(engine.registration.adoptStoredState(), is: .known(failed))
  }

  @Test("an unknown account is passed on: G stays, and the user confirms again once there is one")
  func unknownAccount() throws {
    let bench = try Bench(requiresConfirmation: true, checks: true)
    let engine = try arrived(bench)
    bench.provider.change { $0.checkAnswer = { $0 = JSONObject([("unknownAccount", .bool(true))]) } }
    expect(code { _ = try engine.registration.confirm() }, is: .unknownAccount)
    expect(engine.state.kind, is: .awaitingConfirmation)
    expect(bench.seen.reported.map(\.helps), is: [.createAccount])
    bench.provider.change { $0.checkAnswer = { _ in } }
    try expect(engine.registration.confirm(), is: .active(.confirmed))
  }

  @Test("an account that the back end forgot is E, and registering again helps")
  func forgotten() throws {
    let bench = try Bench(checks: true)
    _ = try bench.signedIn()
    bench.provider.change { $0.checkAnswer = { $0 = JSONObject([("unknownAccount", .bool(true))]) } }
    guard case .renewalFailed(let failure) = try bench.engine().settled() else {
      throw Unexpected(what: "not E")
    }
    #expect(failure.error.code == .unknownAccount && failure.remedy == .registerAgain)
  }

  @Test("before H an outage is said, G stays, and a later yes counts")
  func outageAtConfirmation() throws {
    let bench = try Bench(requiresConfirmation: true, checks: true)
    let engine = try arrived(bench)
    bench.provider.next(.registrationCheck, .unreachable)
    expect(code { _ = try engine.registration.confirm() }, is: .network)
    expect(engine.state.kind, is: .awaitingConfirmation)
    try expect(bench.record.confirmed, is: nil)
    try expect(engine.registration.confirm(), is: .active(.confirmed))
  }

  @Test("before H a 401 renews the tokens that wait; a second one is E, and they are kept")
  func refusedAtConfirmation() throws {
    let bench = try Bench(requiresConfirmation: true, checks: true)
    let engine = try arrived(bench)
    bench.provider.next(.registrationCheck, .status(401), .status(401))
    expect(code { _ = try engine.registration.confirm() }, is: .oauth)
    let failed = engine.state
    expect(failed.kind, is: .renewalFailed)
    try expect(engine.registration.adoptStoredState(), is: .known(failed))
    try expect(bench.record.provisional?.refreshToken, is: Secret("refresh-3"))
    try expect(engine.registration.retry(cancellation: nil), is: .unregistered)
    #expect(bench.provider.revoked.contains("refresh-3"))

    let again = try arrived(bench)
    bench.provider.next(.registrationCheck, .status(401))
    try expect(again.registration.confirm(), is: .active(.confirmed))
    try expect(bench.record.confirmed?.accessToken, isNot: nil)
    try expect(again.token(), is: bench.record.confirmed?.accessToken.reveal())
  }

  @Test("a renewal of tokens that wait takes nothing out of a cache", arguments: [true, false])
  func cachedAtConfirmation(hasAge: Bool) throws {
    let bench = try Bench(requiresConfirmation: true, checks: true)
    let engine = try arrived(bench)
    let waiting = try #require(try bench.record.provisional)
    bench.provider.next(.registrationCheck, .status(401), .status(401), .status(401))
    // The first renewal succeeds, and the second one gets the same answer again.
    expect(code { _ = try engine.registration.confirm() }, is: .oauth)
    let renewed = try #require(try bench.record.provisional)
    expect(renewed.refreshToken, isNot: waiting.refreshToken)
    let spent = try #require(waiting.refreshToken?.reveal())
    bench.provider.next(
      .token,
      .status(
        200, headers: hasAge ? [HTTPHeader("Age", "900")] : [],
        body:
          #"{"access_token": "old", "token_type": "Bearer", "refresh_token": "\#(hasAge ? "new" : spent)"}"#))
    let again = bench.engine()
    expect(code { _ = try again.registration.confirm() }, isNot: nil)
    try expect(bench.record.provisional, is: renewed)
  }

  @Test("a renewal of tokens that wait keeps the refresh token that came without an access token (R30)")
  func rotatedOnlyAtConfirmation() throws {
    let bench = try Bench(requiresConfirmation: true, checks: false)
    let engine = try arrived(bench)
    let body = #"{"refresh_token": "refresh-rotated", "access_token": 7}"#
    bench.provider.next(.registrationCheck, .status(401))
    bench.provider.next(.token, .status(200, body: body))
    try expect(engine.registration.confirm(), is: .active(.confirmed))
    try expect(bench.record.confirmed?.refreshToken, is: Secret("refresh-rotated"))
  }

  @Test("a renewal of tokens that wait is saved again where the disk refuses it for a moment (R30)")
  func refusedSaveAtConfirmation() throws {
    let bench = try Bench(requiresConfirmation: true, checks: false)
    _ = try arrived(bench)
    let fussy = FailingTokenStore(bench.store)
    let engine = bench.engine(store: fussy)
    let asked = try #require(try engine.questionShown())
    bench.provider.next(.registrationCheck, .status(401))
    bench.provider.next(.token, .during { fussy.refuse(.before, times: 1) })
    try expect(engine.registration.confirm(asked), is: .active(.confirmed))
    try expect(bench.record.confirmed?.refreshToken, is: Secret("refresh-3"))
  }

  @Test("a check that is not required is asked before H alone, and only a contradiction counts")
  func optional() throws {
    let bench = try Bench(requiresConfirmation: true, checks: false)
    let engine = try arrived(bench)
    bench.provider.next(.registrationCheck, .unreachable)
    try expect(engine.registration.confirm(), is: .active(.confirmed))
    expect(bench.seen.reported.map(\.code), is: [.network])
    try expect(bench.engine().registration.adoptStoredState(), is: .known(.active(.valid)))
    let other = try arrived(bench)
    bench.provider.change { $0.checkAnswer = { $0["sub"] = .string("mallory") } }
    expect(code { _ = try other.registration.confirm() }, is: .profileMismatch)
  }

  @Test("without confirmation the check stands before H all the same")
  func unconfirmed() throws {
    let bench = try Bench(checks: true)
    let engine = bench.engine()
    bench.provider.change { $0.checkAnswer = { $0["sub"] = .string("mallory") } }
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    try expect(engine.failure(of: bench.provider.signIn(at: begun.url)), is: .profileMismatch)
    #expect(try !bench.record.hasTokens)

    bench.provider.change { $0.checkAnswer = { _ in } }
    bench.provider.next(.registrationCheck, .unreachable)
    let waiting = try arrived(bench)
    expect(waiting.state.kind, is: .awaitingConfirmation)
    try expect(waiting.registration.confirm(), is: .active(.confirmed))
  }

  @Test("a logout while the check is asked stays a logout")
  func logoutMeanwhile() throws {
    let bench = try Bench(checks: true)
    _ = try bench.signedIn()
    let engine = bench.engine()
    bench.provider.next(
      .registrationCheck, .during { _ = try? engine.logout.beginLogout(localOnly: true, cancellation: nil) })
    bench.provider.change { $0.checkAnswer = { $0["sub"] = .string("mallory") } }
    try expect(engine.settled(), is: .unregistered)
  }

  @Test("a verified address is asked for with the scope email, and without one G stays")
  func verifiedEmail() throws {
    let bench = try Bench(requiresConfirmation: true, requireVerifiedEmail: true)
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    #expect(begun.url.contains("email"))
    _ = try engine.signIn.resume(bench.provider.signIn(at: begun.url), cancellation: nil)
    expect(code { _ = try engine.registration.confirm() }, is: .emailNotVerified)
    expect(engine.state.kind, is: .awaitingConfirmation)
    expect(bench.seen.reported.map(\.helps), is: [.verifyEmail])
    try expect(bench.record.confirmed, is: nil)

    // The user verifies the address at the provider. Now userinfo says that it is verified, but the id_token does not
    // say so yet.
    bench.provider.change { $0.userinfo = { $0["email_verified"] = .bool(true) } }
    try expect(engine.registration.confirm(), is: .active(.confirmed))
    try expect(engine.identity.profile()["email"], is: .string("alice@example.com"))
  }

  @Test(
    "what the id_token says of the address",
    arguments: [
      (JSON.bool(true), true), (.string("true"), true), (.bool(false), false), (.integer(1), false),
    ])
  func emailClaims(value: JSON, isEnough: Bool) throws {
    let bench = try Bench(requiresConfirmation: true, requireVerifiedEmail: true)
    bench.provider.change {
      $0.claims = {
        $0["email"] = .string("alice@example.com")
        $0["email_verified"] = value
      }
    }
    let engine = try arrived(bench)
    expect(code { _ = try engine.registration.confirm() }, is: isEnough ? nil : .emailNotVerified)
  }

  @Test("userinfo's verified address does not vouch for another one in the id_token")
  func otherAddress() throws {
    let bench = try Bench(requiresConfirmation: true, requireVerifiedEmail: true)
    bench.provider.change {
      $0.claims = { $0["email"] = .string("boss@example.com") }
      $0.userinfo = { $0["email_verified"] = .bool(true) }
    }
    let engine = try arrived(bench)
    expect(code { _ = try engine.registration.confirm() }, is: .emailNotVerified)
  }
}

@Suite("What the back end is told (flows.md §7)")
struct BackEndProfileTests {
  private func outbox(_ bench: Bench) throws -> [OutboxEntry] { try bench.store.updateOutbox { _ in } }

  @Test("after H the profile is sent with the access token, once")
  func profile() throws {
    let bench = try Bench(tellsBackEnd: true)
    let engine = try bench.signedIn()
    engine.outbox.sendOutbox(cancellation: nil)
    engine.outbox.sendOutbox(cancellation: nil)
    let sent = bench.provider.requests(.profileUpdate)
    expect(sent.count, is: 1)
    expect(sent.first?.headers.contains(HTTPHeader("Authorization", "Bearer access-2")), is: true)
    try expect(JSON.parse(try #require(sent.first).body)["profile"]?["sub"], is: .string("alice"))
    #expect(try outbox(bench).isEmpty)
  }

  @Test(
    "a failure never undoes H, and is tried again until it is taken",
    arguments: [FakeProvider.Reply.unreachable, .status(503), .status(401)])
  func again(reply: FakeProvider.Reply) throws {
    let bench = try Bench(tellsBackEnd: true)
    let engine = try bench.signedIn()
    bench.provider.next(.profileUpdate, reply)
    engine.outbox.sendOutbox(cancellation: nil)
    expect(engine.state, is: .active(.confirmed))
    try expect(outbox(bench).map(\.attempts), is: [1])
    // Later, another process can send the profile, with the access token that is current at that time.
    bench.clock.advance(seconds: 3550)
    let next = bench.engine()
    _ = try next.access()
    next.outbox.sendOutbox(cancellation: nil)
    #expect(try outbox(bench).isEmpty)
    expect(
      bench.provider.requests(.profileUpdate).last?.headers
        .contains(HTTPHeader("Authorization", "Bearer access-3")), is: true)
  }

  @Test("refused for good it is dropped at once, and in any case after 7 days")
  func dropped() throws {
    let bench = try Bench(tellsBackEnd: true)
    let engine = try bench.signedIn()
    bench.provider.next(.profileUpdate, .status(422))
    engine.outbox.sendOutbox(cancellation: nil)
    #expect(try outbox(bench).isEmpty)

    let other = try Bench(tellsBackEnd: true)
    _ = try other.signedIn()
    other.clock.advance(seconds: 7 * 86_400 + 1)
    other.engine().outbox.sendOutbox(cancellation: nil)
    expect(other.provider.count(.profileUpdate), is: 0)
    #expect(try outbox(other).isEmpty)
  }

  @Test("a profile is told by the client that it belongs to, and taken back by no other")
  func otherClient() throws {
    let bench = try Bench(tellsBackEnd: true)
    _ = try bench.signedIn()
    let waiting = try outbox(bench)
    expect(waiting.count, is: 1)
    // Another client has the same account name, issuer and store.
    let other = bench.engine(
      account: AccountName.default.belonging(
        to: try Configuration(
          issuer: bench.provider.issuer, clientID: "other", redirectURI: "com.example.app:/callback"
        ) {
          $0.allowsLoopbackHTTP = true
        }))
    other.outbox.sendOutbox(cancellation: nil)
    _ = try other.logout.beginLogout(localOnly: false, cancellation: nil)
    expect(bench.provider.count(.profileUpdate), is: 0)
    try expect(outbox(bench), is: waiting)
  }

  @Test("a logout takes back a profile that nobody was told of yet")
  func logout() throws {
    let bench = try Bench(tellsBackEnd: true)
    let engine = try bench.signedIn()
    _ = try engine.logout.beginLogout(localOnly: false, cancellation: nil)
    engine.outbox.sendOutbox(cancellation: nil)
    expect(bench.provider.count(.profileUpdate), is: 0)
    #expect(try outbox(bench).isEmpty)

    // The queued profile is removed at once, also if the call sends nothing.
    for clears in [true, false] {
      let silent = try Bench(tellsBackEnd: true)
      let engine = try silent.signedIn()
      try expect(outbox(silent).count, is: 1)
      if clears {
        _ = try engine.logout.clear()
      } else {
        _ = try engine.logout.beginLogout(localOnly: true, cancellation: nil)
      }
      #expect(try outbox(silent).isEmpty)
    }
  }

  @Test("every failure is reported, and posted with code, message key and what helps")
  func reports() throws {
    let bench = try Bench(tellsBackEnd: true)
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    _ = try engine.failure(of: bench.provider.refuse(begun.url, error: "access_denied"))
    bench.provider.next(.errorReport, .unreachable)
    engine.outbox.sendOutbox(cancellation: nil)
    try expect(outbox(bench).count, is: 1)
    bench.engine().outbox.sendOutbox(cancellation: nil)
    #expect(try outbox(bench).isEmpty)
    let body = try JSON.parse(try #require(bench.provider.requests(.errorReport).last).body)
    #expect(body["code"] == .string("accessDenied") && body["messageKey"] == .string("error.accessDenied"))
    #expect(body["helps"] == .string("retry") && body["platform"] == .string("android"))
    expect(bench.seen.reported.map(\.code), is: [.accessDenied])
  }

  @Test("a failed renewal is reported once, however often callers ask, and anew after a success")
  func renewals() throws {
    let bench = try Bench(tellsBackEnd: true)
    let engine = try bench.signedIn()
    for _ in 1...2 {
      bench.clock.advance(seconds: 3550)
      bench.provider.next(.token, .empty)
      for _ in 1...5 { _ = try engine.access() }
      bench.clock.advance(seconds: 61)
      _ = try engine.token()
    }
    expect(bench.seen.reported.map(\.code), is: [.oauth, .oauth])
  }

  @Test("a caller's own mistake, and a URL that nobody asked for, are not reported (R6)")
  func noise() throws {
    let bench = try Bench(requiresConfirmation: true, tellsBackEnd: true)
    let engine = bench.engine()
    _ = code { _ = try engine.registration.confirm() }
    _ = code {
      _ = try engine.backEnd.reporting { () throws(EnrollError) in throw EnrollError(.unsolicited, "") }
    }
    _ = code {
      _ = try engine.backEnd.reporting { () throws(EnrollError) in throw EnrollError(.illegalState, "") }
    }
    #expect(bench.seen.reported.isEmpty)
    #expect(try outbox(bench).isEmpty)
  }

  @Test("no report holds a secret (R40), and not more than 32 wait")
  func secrets() throws {
    let bench = try Bench(tellsBackEnd: true)
    let engine = try bench.signedIn()
    var secrets = ["access-2", "refresh-2", try #require(bench.record.confirmed?.idToken).reveal()]
    for _ in 1...40 {
      bench.clock.advance(seconds: 1)
      let begun = try engine.signIn.begin(SignInOptions(prompt: "login"), cancellation: nil)
      let transaction = try #require(bench.record.transactions.last)
      let request = try #require(transaction.codeRequest)
      let kept = try #require(request.secrets)
      secrets += [request.redirect.state, kept.nonce, kept.codeVerifier].map { $0.reveal() }
      bench.provider.next(
        .token, .status(400, body: #"{"error":"invalid_grant","error_description":"access-2"}"#))
      _ = try engine.failure(of: bench.provider.signIn(at: begun.url))
    }
    try expect(outbox(bench).count, is: 33)
    engine.outbox.sendOutbox(cancellation: nil)
    let sent = bench.provider.requests(.errorReport).map { String(decoding: $0.body, as: UTF8.self) }
    expect(sent.count, is: 32)
    for secret in secrets { #expect(!sent.contains { $0.contains(secret) }) }
  }
}
