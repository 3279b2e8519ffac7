import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollStore
import EnrollTesting
import Expectations
import Testing

@testable import EnrollRules
@testable import EnrollSteps

@Suite("The revocation waits for the browser's return from the logout page (flows.md §5)")
struct LogoutWaitTests {
  private static let both: Set = ["refresh-2", "access-2"]

  private func bench() throws -> Bench { try Bench(postLogoutRedirectURI: "com.example.app:/logout") }

  private func outbox(_ bench: Bench) throws -> [OutboxEntry] { try bench.store.updateOutbox { _ in } }

  private func leave(_ engine: Engine) throws -> SignOut {
    try engine.logout.beginLogout(localOnly: false, cancellation: nil)
  }

  private func comeBack(from out: SignOut, to engine: Engine) throws {
    let state = try #require(out.url?.split(separator: "&").first { $0.hasPrefix("state=") })
    try engine.logout.finishLogout("com.example.app:/logout?\(state)")
  }

  @Test("it is sent by nobody before the browser is back, and then at once")
  func untilTheReturn() throws {
    let bench = try bench()
    let out = try leave(bench.signedIn())
    expect(out.providerTold, is: .queued)
    for _ in 1...3 { bench.engine().outbox.sendOutbox(cancellation: nil) }
    expect(bench.provider.count(.revocation), is: 0)
    let engine = bench.engine()
    try comeBack(from: out, to: engine)
    engine.outbox.sendOutbox(cancellation: nil)
    expect(Set(bench.provider.revoked), is: Self.both)
    #expect(try outbox(bench).isEmpty)
  }

  @Test("without a return any process sends it when the wait is over")
  func withoutReturn() throws {
    let bench = try bench()
    let engine = try bench.signedIn()
    _ = try leave(engine)
    let now = bench.clock.instant()
    expect(engine.outbox.logoutWaitEnds, is: now.advanced(bySeconds: OutboxStep.logoutWaitSeconds + 1))
    let other = bench.engine()
    expect(other.outbox.logoutWaitEnds, is: nil)
    other.outbox.sendOutbox(cancellation: nil)
    expect(
      other.outbox.logoutWaitEnds, is: engine.outbox.logoutWaitEnds,
      "a process that comes later waits as long")
    bench.clock.advance(seconds: OutboxStep.logoutWaitSeconds - 1)
    other.outbox.sendOutbox(cancellation: nil)
    expect(bench.provider.count(.revocation), is: 0)
    bench.clock.advance(seconds: 2)
    other.outbox.sendOutbox(cancellation: nil)
    expect(Set(bench.provider.revoked), is: Self.both)
    other.outbox.sendOutbox(cancellation: nil)
    expect(other.outbox.logoutWaitEnds, is: nil)
  }

  @Test("it waits from the moment at which the tokens go: no other process sends it before the URL is known")
  func fromTheBeginning() throws {
    let bench = try bench()
    let engine = try bench.signedIn()
    let other = bench.engine()
    // The sign-out reads the metadata after it has queued its messages. By then the metadata are no longer fresh.
    bench.clock.advance(seconds: 90_000)
    bench.provider.change { $0.metadata = { _ in other.outbox.sendOutbox(cancellation: nil) } }
    try expect(leave(engine).providerTold, is: .queued)
    expect(bench.provider.count(.revocation), is: 0)
    try expect(outbox(bench).count, is: 2)
  }

  enum Hindrance: CaseIterable, Sendable { case noCallback, noPage, noMetadata, outbox }

  @Test("where no return can be awaited, it is sent at once", arguments: Hindrance.allCases)
  func atOnce(hindrance: Hindrance) throws {
    let bench = hindrance == .noCallback ? try Bench() : try bench()
    if hindrance == .noPage { bench.provider.change { $0.metadata = { $0["end_session_endpoint"] = nil } } }
    _ = try bench.signedIn()
    let store = FailingTokenStore(bench.store)
    let engine = bench.engine(store: store)
    if hindrance == .outbox { store.refuseOutbox(true) }
    if hindrance == .noMetadata { bench.provider.next(.discovery, .unreachable, .unreachable) }
    let out = try leave(engine)
    expect(out.url == nil, is: hindrance == .noPage || hindrance == .noMetadata)
    expect(engine.outbox.logoutWaitEnds, is: nil)
    if hindrance == .noMetadata {
      expect(out.providerTold, is: .queued)
      bench.engine().outbox.sendOutbox(cancellation: nil)
    } else {
      expect(out.providerTold, is: .told)
    }
    expect(Set(bench.provider.revoked), is: Self.both)
  }

  @Test("a provider that cannot revoke is not waited for")
  func noEndpoint() throws {
    let bench = try bench()
    bench.provider.change { $0.metadata = { $0["revocation_endpoint"] = nil } }
    let out = try leave(bench.signedIn())
    expect(out.url, isNot: nil)
    expect(out.providerTold?.name, is: "notPossible")
    #expect(try outbox(bench).isEmpty)
  }

  enum Ending: CaseIterable, Sendable { case revoke, deregister }

  private func end(_ ending: Ending, _ engine: Engine) throws -> ProviderTold? {
    switch ending {
    case .revoke: try engine.logout.revoke(cancellation: nil).providerTold
    case .deregister: try engine.logout.deregister(cancellation: nil).providerTold
    }
  }

  @Test("a revocation and a deregistration wait for no browser", arguments: Ending.allCases)
  func othersDoNot(ending: Ending) throws {
    let bench = try bench()
    try expect(end(ending, bench.signedIn()), is: .told)
    expect(Set(bench.provider.revoked), is: Self.both)
  }

  @Test("they end the wait of a logout before them, and tell how that went", arguments: Ending.allCases)
  func endedByTheHost(ending: Ending) throws {
    let bench = try bench()
    let engine = try bench.signedIn()
    // The sign-in of another account must not delay the revocations of this user.
    _ = try bench.engine(account: AccountName("second")).signIn.begin(SignInOptions(), cancellation: nil)
    _ = try leave(engine)
    try expect(end(ending, engine), is: .told)
    expect(Set(bench.provider.revoked), is: Self.both)
    try expect(end(ending, engine), is: nil, "there is nothing more to tell")
    _ = try leave(bench.signedIn())
    bench.provider.next(.revocation, .unreachable)
    try expect(end(ending, bench.engine()), is: .queued)
  }

  @Test("a sign-in sends it before it opens the browser, whichever account begins", arguments: [true, false])
  func signIn(isSameAccount: Bool) throws {
    let bench = try bench()
    _ = try leave(bench.signedIn())
    let engine = isSameAccount ? bench.engine() : bench.engine(account: try AccountName("second"))
    _ = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    expect(Set(bench.provider.revoked), is: Self.both)
  }

  @Test("a second logout without a session leaves the wait of the first alone")
  func twice() throws {
    let bench = try bench()
    let engine = try bench.signedIn()
    _ = try leave(engine)
    try expect(leave(engine), is: SignOut())
    expect(bench.provider.count(.revocation), is: 0)
  }

  @Test("the return of one account's browser ends no other account's wait")
  func otherAccount() throws {
    let bench = try bench()
    let second = try bench.engine(account: AccountName("second"))
    bench.provider.change { $0.subject = "bob" }
    let begun = try second.signIn.begin(SignInOptions(), cancellation: nil)
    try expect(second.failure(of: bench.provider.signIn(at: begun.url)), is: nil)
    bench.provider.change { $0.subject = "alice" }
    let engine = try bench.signedIn()
    let out = try leave(engine)
    _ = try leave(second)
    try comeBack(from: out, to: engine)
    engine.outbox.sendOutbox(cancellation: nil)
    expect(Set(bench.provider.revoked), is: ["refresh-4", "access-4"])
    try expect(outbox(bench).count, is: 2)
  }

  @Test("after the return R35 holds: a session of the same user keeps it back, a sign-in elsewhere does not")
  func rule() throws {
    for isSignedIn in [true, false] {
      let bench = try bench()
      let second = try bench.engine(account: AccountName("second"))
      let begun = try second.signIn.begin(SignInOptions(), cancellation: nil)
      if isSignedIn { try expect(second.failure(of: bench.provider.signIn(at: begun.url)), is: nil) }
      let engine = try bench.signedIn()
      let out = try leave(engine)
      try comeBack(from: out, to: engine)
      engine.outbox.sendOutbox(cancellation: nil)
      expect(bench.provider.revoked.isEmpty, is: isSignedIn)
    }
  }
}
