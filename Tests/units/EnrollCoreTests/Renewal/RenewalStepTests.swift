import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollStore
import EnrollTesting
import Expectations
import Testing

@Suite("Renewal (flows.md §8, reliability.md)")
struct RenewalStepTests {
  private func due(_ bench: Bench) { bench.clock.advance(seconds: 3550) }
  private func expired(_ bench: Bench) { bench.clock.advance(seconds: 4000) }

  @Test("a fresh token asks nobody")
  func fresh() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    for _ in 1...5 { try expect(engine.token(), is: "access-2") }
    expect(bench.provider.count(.token), is: 1)
  }

  @Test("a due token is renewed once, and the rotated refresh token is kept (R29)")
  func renewed() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    due(bench)
    try expect(engine.registration.adoptStoredState(), is: .needsRenewal)
    try expect(engine.token(), is: "access-3")
    try expect(engine.token(), is: "access-3")
    expect(bench.provider.count(.token), is: 2)
    expect(engine.state, is: .active(.renewed))
    try expect(bench.record.confirmed?.refreshToken, is: Secret("refresh-3"))
    try expect(bench.record.renewalIntent, is: nil)
    #expect(bench.seen.names.contains("token.renewed"))
  }

  @Test("a refresh token with a blank is kept and sent as it came", arguments: ["a b%+&=", "r\u{E9}f\n"])
  func blankInRefreshToken(token: String) throws {
    let bench = try Bench()
    bench.provider.change { $0.tokens = { $0["refresh_token"] = .string(token) } }
    let engine = try bench.signedIn()
    try expect(bench.record.confirmed?.refreshToken, is: Secret(token))
    due(bench)
    _ = try engine.access()
    var form = FormEncoding(.body)
    form.add("refresh_token", token)
    let sent = try #require(bench.provider.requests(.token).last)
    #expect(
      String(decoding: sent.body, as: UTF8.self).contains(String(decoding: form.bytes, as: UTF8.self)))
  }

  @Test(
    "a token that lives for one or two seconds is given out, and one renewal a second is sent however many ask",
    arguments: [Int64(1), 2], [Int64(0), 1, 3600])
  func brief(lifetime: Int64, minimumLifetime: Int64) throws {
    let bench = try Bench()
    bench.provider.change { $0.lifetime = .integer(lifetime) }
    let engine = try bench.signedIn()
    for seconds in 0...3 {
      for _ in 1...20 {
        guard case .valid = try engine.access(minimumLifetimeSeconds: minimumLifetime) else {
          throw Unexpected(what: "no token")
        }
      }
      #expect(bench.provider.count(.token) <= 1 + seconds)
      bench.clock.advance(seconds: 1)
    }
  }

  @Test("a token that a slow answer outlives is given out once; one that is long over is told as that")
  func slowAnswer() throws {
    let bench = try Bench()
    bench.provider.change { $0.lifetime = .integer(1) }
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 10)
    bench.provider.next(.token, .during { bench.clock.advance(seconds: 5) })
    guard case .valid(let token) = try engine.access() else { throw Unexpected(what: "not given out") }
    try expect(bench.record.confirmed?.accessToken, is: token.value)
    bench.provider.next(.token, .during { bench.clock.advance(seconds: 3600) })
    guard case .expired(_, _, let reason) = try engine.access() else { throw Unexpected(what: "served") }
    #expect(reason.message.contains("had expired before it could be handed out"))
  }

  @Test("no refresh token in the answer keeps the old one (R29)")
  func kept() throws {
    let bench = try Bench()
    bench.provider.change { $0.rotates = false }
    let engine = try bench.signedIn()
    due(bench)
    try expect(engine.token(), is: "access-3")
    try expect(bench.record.confirmed?.refreshToken, is: Secret("refresh-2"))
  }

  @Test("a caller with an epoch that is over renews nothing")
  func latecomer() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    let epoch = try bench.record.tokenEpoch
    due(bench)
    try expect(engine.renewal.renew(epochs: [epoch], forced: false), is: .renewed)
    try expect(engine.renewal.renew(epochs: [epoch], forced: false), is: .renewed)
    expect(bench.provider.count(.token), is: 2)
  }

  @Test("an answer that was lost is asked for again with the same token, in the same renewal")
  func answerLost() throws {
    let bench = try Bench()
    bench.provider.change { $0.rotates = false }
    let engine = try bench.signedIn()
    due(bench)
    bench.provider.next(.token, .answerLost)
    _ = try engine.token()
    let sent = bench.provider.requests(.token).dropFirst().map { String(decoding: $0.body, as: UTF8.self) }
    #expect(sent.count == 2 && sent[0] == sent[1])
    try expect(engine.registration.adoptStoredState(), is: .known(.active(.renewed)))
  }

  @Test(
    "the intent is durable before the token is sent, and a later process sends the same token (unknown outcome)"
  )
  func intent() throws {
    let bench = try Bench()
    bench.provider.change { $0.rotates = false }
    let engine = try bench.signedIn()
    due(bench)
    nonisolated(unsafe) var during: AccountRecord?
    bench.provider.next(.token, .during { during = try? bench.record }, .answerLost, .answerLost)
    bench.provider.next(.token, .proper)
    _ = try engine.token()
    expect(during?.renewalIntent, isNot: nil)

    let late = try Bench()
    late.provider.change { $0.rotates = false }
    let dying = try late.signedIn()
    due(late)
    late.provider.next(.token, .answerLost, .answerLost)
    try expect(dying.token(), is: "access-2")
    try expect(late.record.renewalIntent, isNot: nil)
    late.clock.advance(seconds: 1)
    let next = late.engine()
    #expect(try next.access().token().value.reveal().hasPrefix("access-"))
    let sent = late.provider.requests(.token).dropFirst().map { String(decoding: $0.body, as: UTF8.self) }
    #expect(Set(sent).count == 1 && sent.count == 3)
    try expect(late.record.renewalIntent, is: nil)
  }

  @Test("an answer that cannot be read changes nothing, and the same token is sent again (R30, R37)")
  func unreadableAnswer() throws {
    let bench = try Bench()
    bench.provider.change { $0.rotates = false }
    let engine = try bench.signedIn()
    due(bench)
    let body =
      #"{"access_token":"a","access_token":"b","token_type":"Bearer","refresh_token":"c","refresh_token":"d"}"#
    bench.provider.next(.token, .status(200, body: body), .status(200, body: body))
    guard case .stale(let token, let error) = try engine.access() else {
      throw Unexpected(what: "another outcome")
    }
    expect(token.value, is: Secret("access-2"))
    expect(error.code, is: .responseInvalid)
    let record = try bench.record
    expect(record.confirmed?.refreshToken, is: Secret("refresh-2"))
    #expect(record.sessionEnded == nil && record.renewalIntent != nil)

    bench.clock.advance(seconds: 1)
    try expect(bench.engine().token(), is: "access-3")
    let sent = bench.provider.requests(.token).dropFirst().map { String(decoding: $0.body, as: UTF8.self) }
    #expect(Set(sent).count == 1 && sent.count == 3)
  }

  @Test("invalid_grant for the current token ends the session, and the record is kept (R34)")
  func ended() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    bench.provider.endSessions()
    due(bench)
    try expect(engine.access(), is: .reauthenticate(reason: "invalid_grant"))
    try expect(engine.access(), is: .reauthenticate(reason: "invalid_grant"))
    expect(bench.provider.count(.token), is: 2)
    try expect(bench.record.confirmed, isNot: nil)
    guard case .renewalFailed(let failure) = engine.state else { throw Unexpected(what: "\(engine.state)") }
    #expect(failure.remedy == .registerAgain && failure.isTokenUsable)
    // Another sign-in repairs it.
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    _ = try engine.signIn.resume(bench.provider.signIn(at: begun.url), cancellation: nil)
    #expect(try engine.token().hasPrefix("access-"))
  }

  @Test(
    "invalid_grant ends nothing while another issuer, or none, is at our issuer's address",
    arguments: [true, false])
  func endedByAnother(isThere: Bool) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    bench.provider.change { $0.metadata = { $0["issuer"] = .string("https://internal.example") } }
    due(bench)
    for _ in 1...3 {
      bench.provider.next(.token, .status(400, body: #"{"error":"invalid_grant"}"#))
      if !isThere { bench.provider.next(.discovery, .unreachable, .unreachable) }
      guard case .stale(_, let error) = try engine.access() else { throw Unexpected(what: "another outcome") }
      expect(error.code, is: isThere ? .issuerMismatch : .network)
      try expect(bench.record.sessionEnded, is: nil)
      bench.provider.recover(.token)
      bench.provider.recover(.discovery)
      bench.clock.advance(seconds: 10)
    }
    bench.provider.change { $0.metadata = { _ in } }
    bench.clock.advance(seconds: 600)
    try expect(engine.token(), is: "access-3")
  }

  @Test("invalid_grant for a token that is not current any more ends nothing (R34)")
  func endedByOther() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    due(bench)
    let other = bench.engine()
    let url = bench.provider.signIn(at: try other.signIn.begin(SignInOptions(), cancellation: nil).url)
    bench.provider.endSessions()
    // Another process signs in while the refusal is on its way.
    bench.provider.next(.token, .during { _ = try? other.signIn.resume(url, cancellation: nil) })
    #expect(try engine.token().hasPrefix("access-"))
    try expect(bench.record.sessionEnded, is: nil)
  }

  @Test(
    "a refusal that does not end the session keeps the record, asks no hot loop, and counts the second time a minute later"
  )
  func refused() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    expired(bench)
    bench.provider.next(.token, .empty, .empty, .empty)
    guard case .rejected = try engine.access() else { throw Unexpected(what: "no refusal") }
    for _ in 1...10 { guard case .rejected = try engine.access() else { throw Unexpected(what: "hot loop") } }
    expect(bench.provider.count(.token), is: 2)
    try expect(bench.record.confirmed?.refreshToken, is: Secret("refresh-2"))
    bench.clock.advance(seconds: 61)
    guard case .reauthenticate = try engine.access() else { throw Unexpected(what: "not ended") }
    expect(bench.provider.count(.token), is: 3)
  }

  @Test(
    "whatever the word, the same refusal again a minute later advises another sign-in, and ends nothing",
    arguments: ["invalid_request", "unauthorized_client", "invalid_client", "invalid_scope", "some_code"])
  func refusedAgain(code: String) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    let refusal = FakeProvider.Reply.status(400, body: #"{"error":"\#(code)"}"#)
    due(bench)
    bench.provider.next(.token, refusal, refusal)
    guard case .stale = try engine.access(), case .renewalFailed(let first) = engine.state else {
      throw Unexpected(what: "\(engine.state)")
    }
    expect(first.remedy, is: .retry, "the access token works")
    bench.clock.advance(seconds: 61)
    // The first process sends a request; the others read its result from the record.
    for process in [engine, bench.engine(), bench.engine()] {
      guard case .rejected(let error) = try process.access() else { throw Unexpected(what: "not refused") }
      #expect(error.message.contains("Sign in again"))
      guard case .renewalFailed(let failure) = process.state else {
        throw Unexpected(what: "\(process.state)")
      }
      expect(failure.remedy, is: .registerAgain)
    }
    expect(bench.provider.count(.token), is: 3)
    // The provider accepts the token again.
    bench.clock.advance(seconds: 61)
    try expect(engine.token(), is: "access-3")
    try expect(bench.record.refusal, is: nil)
  }

  @Test(
    "a date that is set makes of one refusal neither a hot loop nor an end", arguments: [-86_400, 86_400])
  func refusedAndDateSet(by seconds: Int64) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    expired(bench)
    bench.provider.next(.token, .empty, .empty)
    guard case .rejected = try engine.access() else { throw Unexpected(what: "no refusal") }
    bench.clock.setWall(bench.clock.wallTime().seconds + seconds)
    for _ in 1...3 { guard case .rejected = try engine.access() else { throw Unexpected(what: "asked") } }
    bench.clock.reboot(bootID: "boot-2")
    bench.clock.setWall(0)
    for _ in 1...3 {
      if case .reauthenticate = try engine.access() { throw Unexpected(what: "ended") }
    }
    try expect(bench.record.sessionEnded, is: nil)
    expect(bench.provider.count(.token), is: 3)
  }

  @Test("an answer without a body ends nothing unless its head says that there is none")
  func cutAfterHead() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    expired(bench)
    let cut = FakeProvider.Reply.status(400, headers: [HTTPHeader("X-Cut", "yes")])
    for _ in 1...3 {
      bench.provider.next(.token, cut, cut)
      guard case .expired = try engine.access() else { throw Unexpected(what: "believed") }
      bench.clock.advance(seconds: 61)
    }
    try expect(engine.token(), is: "access-3")
  }

  @Test(
    "a refusal of the client, not of its token, never ends the session",
    arguments: ["invalid_client", "unauthorized_client"])
  func configuration(error: String) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    expired(bench)
    for _ in 1...4 {
      bench.provider.next(.token, .status(401, body: "{\"error\":\"\(error)\"}"))
      guard case .rejected(let reason) = try engine.access() else { throw Unexpected(what: "ended") }
      expect(reason.oauthError, is: error)
      bench.clock.advance(seconds: 61)
    }
    try expect(engine.token(), is: "access-3")
  }

  @Test(
    "an outage: the live token is served, an expired one says since when, nothing is erased (R33)",
    arguments: [
      FakeProvider.Reply.unreachable, .timeout, .status(503), .status(200, body: "<html>"), .status(502),
    ])
  func outage(reply: FakeProvider.Reply) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    due(bench)
    bench.provider.next(.token, reply, reply)
    guard case .stale(let token, _) = try engine.access() else { throw Unexpected(what: "not stale") }
    expect(token.value, is: Secret("access-2"))
    guard case .renewalFailed(let failure) = engine.state else { throw Unexpected(what: "\(engine.state)") }
    #expect(failure.isTokenUsable && failure.remedy == .wait)

    bench.clock.advance(seconds: 600)
    bench.provider.next(.token, reply, reply)
    guard case .expired(let since, _, _) = try engine.access() else { throw Unexpected(what: "not expired") }
    expect(since, isNot: nil)
    bench.clock.advance(seconds: 600)
    #expect(try engine.token().hasPrefix("access-"))
    expect(engine.state, is: .active(.renewed))
  }

  @Test("during an outage callers do not become a hot loop (R33)")
  func timeout() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    expired(bench)
    bench.provider.next(.token, .status(503, headers: [HTTPHeader("Retry-After", "120")]))
    for _ in 1...50 {
      guard case .expired(_, let wait, _) = try engine.access() else { throw Unexpected(what: "not expired") }
      #expect((wait ?? 0) >= 100)
    }
    expect(bench.provider.count(.token), is: 2)
    bench.clock.advance(seconds: 140)
    try expect(engine.token(), is: "access-3")
  }

  @Test("a logout during the renewal: the late answer is revoked, not stored (R35)")
  func logoutMeanwhile() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    let other = bench.engine()
    due(bench)
    bench.provider.next(
      .token, .during { _ = try? other.logout.beginLogout(localOnly: true, cancellation: nil) })
    try expect(engine.access(), is: .reauthenticate(reason: "no user is signed in"))
    #expect(try !bench.record.hasTokens)
    #expect(bench.provider.revoked.contains("refresh-3"))
    try expect(engine.registration.adoptStoredState(), is: .known(.unregistered))
  }

  @Test("tokens that arrive for confirmation, and a retry, leave a renewal of the session alone")
  func beside() throws {
    let bench = try Bench(requiresConfirmation: true)
    let engine = try bench.signedIn()
    _ = try engine.registration.confirm()
    due(bench)
    let other = bench.engine()
    let url = bench.provider.signIn(at: try other.signIn.begin(SignInOptions(), cancellation: nil).url)
    bench.provider.next(
      .token,
      .during {
        _ = try? other.signIn.resume(url, cancellation: nil)
        _ = try? other.registration.retry(cancellation: nil)
      })
    let renewed = try engine.token()
    expect(renewed, isNot: "access-2")
    try expect(bench.record.confirmed?.accessToken, is: Secret(renewed))
    #expect(!bench.provider.revoked.contains(renewed))
  }

  @Test("an id_token of a renewal that is somebody else's makes the new tokens unusable (R27)")
  func otherSubject() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    due(bench)
    bench.provider.change { $0.claims = { $0["sub"] = .string("mallory") } }
    guard case .reauthenticate = try engine.access() else { throw Unexpected(what: "accepted") }
    try expect(engine.identity.profile()["sub"], is: .string("alice"))
    guard case .reauthenticate = try bench.engine().access() else { throw Unexpected(what: "accepted") }
  }

  @Test("an outage of the key endpoint does not lose the renewed tokens (R27)")
  func keysOutage() throws {
    let bench = try Bench()
    _ = try bench.signedIn()
    due(bench)
    bench.provider.next(.keys, .status(503), .status(503))
    let engine = bench.engine()
    try expect(engine.token(), is: "access-3")
    try expect(bench.record.confirmed?.refreshToken, is: Secret("refresh-3"))
    let tokens = try #require(try bench.record.confirmed)
    #expect(
      tokens.unprovenIDToken != nil && tokens.idToken != nil && tokens.idToken != tokens.unprovenIDToken)
    try expect(engine.registration.readAccount().idToken, is: tokens.idToken)
  }

  @Test("an answer whose access token is of no use still brings its refresh token home (R30)")
  func rotatedOnly() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    due(bench)
    bench.provider.next(.token, .status(200, body: #"{"token_type":"Bearer","refresh_token":"rescued"}"#))
    guard case .stale = try engine.access() else { throw Unexpected(what: "not stale") }
    try expect(bench.record.confirmed?.refreshToken, is: Secret("rescued"))
  }

  @Test(
    "expires_in that is missing or absurd is a stated default or a clamp (R32)",
    arguments: [
      (JSON?.none, Int64(300)), (.integer(-5), 300), (.string("soon"), 300), (.integer(.max), 365 * 86_400),
      (.number(1e300), 365 * 86_400),
    ])
  func lifetimes(given: JSON?, seconds: Int64) throws {
    let bench = try Bench()
    bench.provider.change { $0.lifetime = given }
    _ = try bench.signedIn()
    try expect(bench.record.confirmed?.expiry.lifetimeSeconds, is: seconds)
  }

  @Test(
    "setting the date, even by years, signs nobody out and costs at most one renewal",
    arguments: [Int64(-31_536_000), -3600, 3600, 31_536_000])
  func dates(by seconds: Int64) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    bench.clock.setWall(bench.clock.wallTime().seconds + seconds)
    _ = try engine.token()
    bench.clock.reboot(bootID: "boot-2")
    _ = try bench.engine().token()
    #expect(bench.provider.count(.token) <= 2)
    // The expiry of tokens that arrive after the boot is measured by the clock of this boot.
    expired(bench)
    let asked = bench.provider.count(.token)
    _ = try bench.engine().token()
    expect(bench.provider.count(.token), is: asked + 1)
  }

  @Test("a date from before the token, after a reboot, does not make it live for years")
  func dateLost() throws {
    let bench = try Bench()
    _ = try bench.signedIn()
    bench.clock.reboot(bootID: "boot-2")
    bench.clock.setWall(0)
    try expect(bench.engine().token(), is: "access-3")
    try expect(bench.engine().token(), is: "access-3")
    bench.clock.advance(seconds: 3550)
    try expect(bench.engine().token(), is: "access-4")
  }

  @Test("without a refresh token a session ends with its access token")
  func noRefreshToken() throws {
    let bench = try Bench()
    bench.provider.change { $0.givesRefreshToken = false }
    let engine = try bench.signedIn()
    due(bench)
    try expect(engine.token(), is: "access-2")
    expired(bench)
    guard case .reauthenticate = try engine.access() else { throw Unexpected(what: "renewed") }
    expect(bench.provider.count(.token), is: 1)
  }
}

@Suite("Logout (flows.md §5)")
struct LogoutStepTests {
  @Test("local tokens go, the server is told, the browser gets its URL, the callback is known by its state")
  func whole() throws {
    let bench = try Bench(postLogoutRedirectURI: "com.example.app:/logout")
    let engine = try bench.signedIn()
    let url = try #require(try engine.logout.beginLogout(localOnly: false, cancellation: nil).url)
    #expect(try !bench.record.hasTokens)
    expect(engine.state, is: .unregistered)
    #expect(url.hasPrefix("https://id.example/logout?") && url.contains("id_token_hint="))
    let state = try #require(url.split(separator: "&").first { $0.hasPrefix("state=") })
    expect(code { try engine.logout.finishLogout("com.example.app:/logout?state=nobody") }, is: .unsolicited)
    try engine.logout.finishLogout("com.example.app:/logout?\(state)")
    expect(bench.seen.names.last, is: "logout.finished")
    expect(code { try engine.logout.finishLogout("com.example.app:/logout?\(state)") }, is: .unsolicited)
    engine.outbox.sendOutbox(cancellation: nil)
    expect(Set(bench.provider.revoked), is: ["refresh-2", "access-2"])
    #expect(try engine.signIn.begin(SignInOptions(), cancellation: nil).url.contains("prompt=login"))
  }

  @Test("offline, the session is gone all the same; the server is told when it is back")
  func offline() throws {
    let bench = try Bench()
    _ = try bench.signedIn()
    let engine = bench.engine()
    bench.provider.next(.discovery, .unreachable, .unreachable)
    try expect(engine.logout.beginLogout(localOnly: false, cancellation: nil).url, is: nil)
    #expect(try !bench.record.hasTokens)
    #expect(bench.provider.revoked.isEmpty)
    bench.clock.advance(seconds: 3600)
    bench.engine().outbox.sendOutbox(cancellation: nil)
    expect(Set(bench.provider.revoked), is: ["refresh-2", "access-2"])
    #expect(try bench.store.updateOutbox { _ in }.isEmpty)
  }

  @Test(
    "a disk that takes no new record keeps nobody signed in: the old one is removed, and the server is told")
  func diskRefuses() throws {
    let bench = try Bench(postLogoutRedirectURI: "com.example.app:/logout")
    _ = try bench.signedIn()
    let store = FailingTokenStore(bench.store)
    let engine = bench.engine(store: store)
    // The store refuses two writes: the first would erase the session, the second would record that a
    // redirect from the provider's logout is expected.
    store.refuse(.before, times: 2)
    let out = try engine.logout.beginLogout(localOnly: false, cancellation: nil)
    expect(out.url, isNot: nil)
    expect(out.providerTold, is: .told, "no return is awaited")
    expect(store.left, is: 0)
    #expect(try !bench.record.hasTokens)
    expect(Set(bench.provider.revoked), is: ["refresh-2", "access-2"])
    try expect(engine.access(), is: .reauthenticate(reason: "no user is signed in"))
  }

  @Test("what a server cannot be told for 7 days is dropped")
  func dropped() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    bench.provider.next(.revocation, .unreachable)
    _ = try engine.logout.beginLogout(localOnly: false, cancellation: nil)
    try expect(bench.store.updateOutbox { _ in }.count, is: 2)
    bench.clock.advance(seconds: 7 * 86_400 + 1)
    engine.outbox.sendOutbox(cancellation: nil)
    #expect(try bench.store.updateOutbox { _ in }.isEmpty)
    #expect(bench.provider.revoked.isEmpty)
  }

  @Test("a logout for this device only tells no server")
  func local() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    try expect(engine.logout.beginLogout(localOnly: true, cancellation: nil).url, is: nil)
    #expect(bench.provider.revoked.isEmpty)
    #expect(try !bench.record.hasTokens)
  }
}
