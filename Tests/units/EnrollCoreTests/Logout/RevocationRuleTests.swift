import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollStore
import EnrollTesting
import Expectations
import Testing

@Suite("Who may be revoked (R35): no user who has a session of this client here")
struct RevocationRuleTests {
  private func signIn(_ engine: Engine, _ bench: Bench, as user: String = "alice") throws {
    bench.provider.change { $0.subject = user }
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    try expect(engine.failure(of: bench.provider.signIn(at: begun.url)), is: nil)
  }

  private func revoked(_ engine: Engine, _ bench: Bench) -> Set<String> {
    engine.outbox.sendOutbox(cancellation: nil)
    return Set(bench.provider.revoked)
  }

  private func outbox(_ bench: Bench) throws -> [OutboxEntry] { try bench.store.updateOutbox { _ in } }

  /// Logs out while the provider is unreachable, so that revocations stay in the outbox.
  private func leaveWaiting(_ engine: Engine, _ bench: Bench) throws {
    bench.provider.next(.revocation, .unreachable)
    try expect(engine.logout.beginLogout(localOnly: false, cancellation: nil).providerTold, is: .queued)
    try expect(outbox(bench).count, is: 2)
  }

  @Test(
    "a session of the same user that is replaced is left alone, another user's is revoked",
    arguments: ["alice", "bob"])
  func replaced(next: String) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    try signIn(engine, bench, as: next)
    expect(revoked(engine, bench), is: next == "alice" ? [] : ["refresh-2", "access-2"])
    try expect(engine.token(), is: "access-4")
  }

  @Test(
    "tokens that the user declines are revoked unless the same user has a session (R35)",
    arguments: ["alice", "bob", nil])
  func declined(session: String?) throws {
    let bench = try Bench(requiresConfirmation: true)
    let engine = bench.engine()
    if let session {
      try signIn(engine, bench, as: session)
      _ = try engine.registration.confirm()
    }
    try signIn(engine, bench)
    let declined = try #require(try bench.record.provisional)
    _ = try engine.registration.retry(cancellation: nil)
    let refresh = try #require(declined.refreshToken?.reveal())
    expect(
      revoked(engine, bench), is: session == "alice" ? [] : [refresh, declined.accessToken.reveal()])
    try expect(bench.record.confirmed == nil, is: session == nil)
  }

  @Test("tokens of nobody knows whom are revoked where nobody has a session", arguments: [true, false])
  func refusedAnswer(hasSession: Bool) throws {
    let bench = try Bench()
    let engine = hasSession ? try bench.signedIn() : bench.engine()
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    bench.provider.next(
      .token,
      .status(200, body: #"{"access_token": "a", "refresh_token": "r", "token_type": "unknown-type"}"#))
    try expect(engine.failure(of: url), isNot: nil)
    expect(revoked(engine, bench), is: hasSession ? [] : ["r", "a"])
  }

  @Test(
    "the tokens of an answer to another request, or for another client, are somebody else's: they are not revoked",
    arguments: ["nonce", "aud", "azp", "iss"])
  func anotherRequest(claim: String) throws {
    let bench = try Bench()
    let engine = bench.engine()
    bench.provider.change { $0.claims = { $0[claim] = .string("another") } }
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    try expect(engine.failure(of: url), is: .idTokenInvalid)
    expect(revoked(engine, bench), is: [])
  }

  @Test(
    "a renewal that a sign-in supersedes revokes nothing of the same user, all of another one",
    arguments: ["alice", "bob"])
  func superseded(next: String) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 3550)
    let other = bench.engine()
    bench.provider.next(.token, .during { try? signIn(other, bench, as: next) })
    _ = try engine.access()
    let gone = revoked(engine, bench)
    if next == "alice" {
      #expect(gone.isEmpty)
    } else {
      #expect(gone.contains("refresh-2") && gone.count == 4, "the session's and the late answer's")
    }
    try expect(engine.token(), is: bench.record.confirmed?.accessToken.reveal())
  }

  @Test("a sign-in that comes while one token is revoked keeps the next one from being revoked")
  func signedInMeanwhile() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    let other = bench.engine()
    bench.provider.next(
      .revocation,
      .during {
        // Signs in with another process, which cannot reach the provider before its user has returned.
        bench.provider.next(.revocation, .unreachable, .unreachable)
        try? signIn(other, bench)
        bench.provider.recover(.revocation)
      })
    _ = try engine.logout.beginLogout(localOnly: false, cancellation: nil)
    expect(bench.provider.revoked, is: ["refresh-2"])
    #expect(try outbox(bench).isEmpty)
    try expect(other.token(), is: bench.record.confirmed?.accessToken.reveal())
  }

  @Test("what waits is sent before the browser is opened")
  func beforeTheBrowser() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    try leaveWaiting(engine, bench)
    _ = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    expect(Set(bench.provider.revoked), is: ["refresh-2", "access-2"])
  }

  @Test("what still waits is held back while a sign-in is open, and dropped when the same user has a session")
  func dropped() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    try leaveWaiting(engine, bench)
    bench.provider.next(.revocation, .unreachable)
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    expect(revoked(engine, bench), is: [], "the sign-in may be the same user's")
    try expect(outbox(bench).count, is: 2)
    try expect(engine.failure(of: bench.provider.signIn(at: begun.url)), is: nil)
    #expect(try outbox(bench).isEmpty)
    _ = try engine.logout.beginLogout(localOnly: true, cancellation: nil)
    expect(revoked(engine, bench), is: [])
  }

  @Test(
    "what still waits is sent after another user's sign-in, and after one that fails",
    arguments: ["bob", nil])
  func heldBack(next: String?) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    try leaveWaiting(engine, bench)
    bench.provider.next(.revocation, .unreachable)
    bench.provider.change { $0.subject = next ?? "alice" }
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    let answer =
      next == nil
      ? bench.provider.refuse(begun.url, error: "access_denied") : bench.provider.signIn(at: begun.url)
    try expect(engine.failure(of: answer), is: next == nil ? .accessDenied : nil)
    expect(revoked(engine, bench), is: ["refresh-2", "access-2"])
  }

  @Test(
    "a sign-out waits for the other account of the same user, not for another user's",
    arguments: ["alice", "bob"])
  func otherAccount(user: String) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    let second = try bench.engine(account: AccountName("second"))
    try signIn(second, bench, as: user)
    let told = try engine.logout.beginLogout(localOnly: false, cancellation: nil).providerTold
    expect(told, is: user == "alice" ? .queued : .told)
    expect(revoked(engine, bench), is: user == "alice" ? [] : ["refresh-2", "access-2"])
    try expect(second.token(), is: "access-4")
    try expect(second.logout.beginLogout(localOnly: false, cancellation: nil).providerTold, is: .told)
    expect(revoked(engine, bench), is: ["refresh-2", "access-2", "refresh-4", "access-4"])
  }

  @Test("a sign-out does not wait for the sign-in that another account has begun")
  func openElsewhere() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    _ = try bench.engine(account: AccountName("second")).signIn.begin(SignInOptions(), cancellation: nil)
    try expect(engine.logout.beginLogout(localOnly: false, cancellation: nil).providerTold, is: .told)
  }

  @Test("a sign-in that a new account has begun holds back the revocation of a session that is replaced")
  func newAccount() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    let second = try bench.engine(account: AccountName("second"))
    _ = try second.signIn.begin(SignInOptions(), cancellation: nil)
    try expect(bench.store.accounts().count, is: 1)
    try signIn(engine, bench, as: "bob")
    expect(revoked(engine, bench), is: [])
  }

  @Test("where an account cannot be read, nothing is revoked: its session may be anybody's")
  func unreadable() throws {
    let bench = try Bench()
    let second = try AccountName("second")
    _ = try bench.signedIn()
    try signIn(bench.engine(account: second), bench)
    let store = FailingTokenStore(bench.store)
    store.refuseReads(of: second)
    let engine = bench.engine(store: store)
    try expect(engine.logout.beginLogout(localOnly: false, cancellation: nil).providerTold, is: .queued)
    expect(revoked(engine, bench), is: [])
    store.refuseReads(false)
    try expect(bench.engine(account: second).token(), is: "access-4")
  }

  @Test(
    "a sign-in reads the other accounts only if it replaces the session of another user",
    arguments: [nil, "alice", "bob"])
  func reads(session: String?) throws {
    let bench = try Bench(requiresConfirmation: true)
    if let session {
      let engine = bench.engine()
      try signIn(engine, bench, as: session)
      _ = try engine.registration.confirm()
    }
    let store = FailingTokenStore(bench.store)
    let engine = bench.engine(store: store)
    try signIn(engine, bench)
    _ = try engine.registration.confirm()
    expect(store.listings > 0, is: session == "bob")
  }

  @Test("the revocations are in the outbox before the tokens leave the record, and wait while they are there")
  func order() throws {
    let bench = try Bench()
    _ = try bench.signedIn()
    let store = FailingTokenStore(bench.store)
    let engine = bench.engine(store: store)
    store.refuse(.unsaved, times: 1)
    store.refuseRemoval(true)
    expect(code { _ = try engine.logout.beginLogout(localOnly: false, cancellation: nil) }, is: .storeIO)
    try expect(outbox(bench).count, is: 2)
    expect(revoked(bench.engine(), bench), is: [], "the session is still there")
    try expect(bench.engine().logout.beginLogout(localOnly: false, cancellation: nil).providerTold, is: .told)
    expect(revoked(bench.engine(), bench), is: ["refresh-2", "access-2"])
    expect(bench.provider.revoked.count, is: 2, "each once")
  }

  @Test("an outbox that cannot be changed keeps no revocation from being sent")
  func withoutOutbox() throws {
    let bench = try Bench()
    _ = try bench.signedIn()
    let store = FailingTokenStore(bench.store)
    let engine = bench.engine(store: store)
    store.refuseOutbox(true)
    try expect(engine.logout.beginLogout(localOnly: false, cancellation: nil).providerTold, is: .told)
    expect(Set(bench.provider.revoked), is: ["refresh-2", "access-2"])
  }

  @Test(
    "a revocation that is neither sent nor kept is told, and sent by this process when the provider is back")
  func neitherSentNorKept() throws {
    let bench = try Bench()
    _ = try bench.signedIn()
    let store = FailingTokenStore(bench.store)
    let engine = bench.engine(store: store)
    store.refuseOutbox(true)
    bench.provider.next(.revocation, .unreachable)
    let told = try engine.logout.beginLogout(localOnly: false, cancellation: nil).providerTold
    #expect(told?.reason?.contains("could not keep") ?? false)
    #expect(bench.provider.revoked.isEmpty)
    store.refuseOutbox(false)
    expect(revoked(engine, bench), is: ["refresh-2", "access-2"])
    #expect(try outbox(bench).isEmpty)
  }
}
