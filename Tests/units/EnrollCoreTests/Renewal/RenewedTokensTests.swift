import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollPosix
import EnrollStore
import EnrollTesting
import Expectations
import Testing

@Suite("Tokens that the disk refuses (R30)")
struct RenewedTokensTests {
  private let bench: Bench
  private let disk: FailingTokenStore
  private let engine: Engine

  /// Signs a user in, and moves the clock on until the token is due for renewal. The provider accepts each refresh
  /// token once.
  init() throws {
    bench = try Bench()
    disk = FailingTokenStore(bench.store)
    _ = try bench.signedIn()
    engine = bench.engine(store: disk)
    bench.clock.advance(seconds: 3550)
  }

  /// Renews while the disk fails. The disk begins to fail when the answer arrives, and fails for longer than the
  /// renewal repeats its write.
  private func leaveUnsaved() throws {
    bench.provider.next(.token, .during { disk.refuse(.before, times: 100) })
    expect(code { _ = try engine.access() }, is: .storeIO)
    expect(bench.provider.count(.token), is: 2)
    #expect(disk.left < 99, "it was tried more than once")
    disk.refuse(.before, times: 0)
  }

  @Test("room for the answer is kept before the refresh token is sent; without it nothing is sent")
  func roomFirst() throws {
    disk.refuseSpace(true)
    expect(code { _ = try engine.access() }, is: .storeFull)
    expect(bench.provider.count(.token), is: 1, "the sign-in's")
    disk.refuseSpace(false)
    let disk = disk
    let kept = Guarded(0, by: Mutex())
    bench.provider.next(.token, .during { kept.withLock { $0 = disk.reservations } })
    try expect(engine.token(), is: "access-3")
    expect(kept.withLock { $0 }, is: 1)
  }

  @Test(
    "another store in the place of the session's is no sign-out: nothing is revoked, and the tokens wait for its return"
  )
  func replacedStore() throws {
    let before = try bench.record
    bench.provider.next(.token, .during { try? disk.replace(.default) })
    expect(code { _ = try engine.access() }, is: .storeIO)
    expect(bench.provider.revoked, is: [])
    disk.putBack()
    try bench.store.update(.default) { $0 = before }
    try engine.renewedTokens.storeUnsaved()
    try expect(bench.record.confirmed?.refreshToken, is: Secret("refresh-3"))
    expect(bench.provider.count(.token), is: 2)
  }

  @Test("another store while a code is exchanged is no sign-out either: the session's tokens live")
  func replacedStoreAtSignIn() throws {
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    bench.provider.next(.token, .during { try? disk.replace(.default) })
    try expect(engine.failure(of: url), is: .storeIO)
    expect(bench.provider.revoked, is: [])
  }

  @Test(
    "a full disk shows before a code is sent, and the same redirect completes the sign-in once there is space"
  )
  func roomForSignIn() throws {
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    disk.refuseSpace(true)
    expect(code { _ = try engine.signIn.resume(url, cancellation: nil) }, is: .storeFull)
    expect(bench.provider.count(.token), is: 1, "the sign-in's")
    disk.refuseSpace(false)
    try expect(engine.failure(of: url), is: nil)
    expect(bench.provider.count(.token), is: 2)
  }

  @Test("a disk that refuses for a moment costs nothing")
  func moment() throws {
    bench.provider.next(.token, .during { disk.refuse(.before, times: 3) })
    try expect(engine.token(), is: "access-3")
    try expect(bench.record.confirmed?.refreshToken, is: Secret("refresh-3"))
    expect(bench.provider.count(.token), is: 2)
  }

  @Test("what it refused for longer is stored by the next renewal, before anything is sent")
  func later() throws {
    try leaveUnsaved()
    try expect(bench.record.confirmed?.refreshToken, is: Secret("refresh-2"))
    try expect(engine.token(), is: "access-3")
    try expect(bench.record.confirmed?.refreshToken, is: Secret("refresh-3"))
    try expect(bench.record.renewalIntent, is: nil)
    expect(bench.provider.count(.token), is: 2)
  }

  @Test("while they are not saved no other process can renew, and send the spent token")
  func keepsLock() throws {
    try leaveUnsaved()
    #expect(disk.isRenewalLockKept)
    _ = try engine.token()
    #expect(!disk.isRenewalLockKept)
  }

  @Test("what is kept from others ends with the session that it was about", arguments: [true, false])
  func releasesLock(_ isHere: Bool) throws {
    try leaveUnsaved()
    if isHere {
      _ = try engine.logout.beginLogout(localOnly: true, cancellation: nil)
    } else {
      try bench.store.update(.default) { $0.tokenEpoch += 1 }
      _ = try engine.renewal.planRenewal(ahead: false, jitter: 0)
    }
    #expect(!disk.isRenewalLockKept)
  }

  @Test("a refresh token that came without a useful access token is stored later, too")
  func rotatedOnly() throws {
    bench.provider.next(.token, .status(200, body: #"{"token_type":"Bearer","refresh_token":"rescued"}"#))
    // Here the intent to renew is written, but the next write fails.
    disk.refuse(.before, times: 100, after: 1)
    expect(code { _ = try engine.access() }, is: .storeIO)
    disk.refuse(.before, times: 0)
    guard case .stale(let token, _) = try engine.access() else { throw Unexpected(what: "renewed") }
    expect(token.value, is: Secret("access-2"))
    try expect(bench.record.confirmed?.refreshToken, is: Secret("rescued"))
  }

  @Test("a save that failed in its last step is not taken for somebody else's")
  func tookPlace() throws {
    bench.provider.next(.token, .during { disk.refuse(.after, times: 1) })
    try expect(engine.token(), is: "access-3")
    #expect(bench.provider.revoked.isEmpty)
    try expect(bench.record.confirmed?.refreshToken, is: Secret("refresh-3"))
  }

  @Test("the end of the process is the last chance")
  func end() throws {
    try leaveUnsaved()
    try? engine.renewedTokens.storeUnsaved()
    try expect(bench.record.confirmed?.refreshToken, is: Secret("refresh-3"))
  }

  @Test(
    "they are stored as soon as the disk takes them, asked for or not, and as long as they are the newest")
  func unasked() throws {
    try expect(engine.renewal.planRenewal(ahead: false, jitter: 0), is: .nothing)
    try leaveUnsaved()
    let epoch = try bench.record.tokenEpoch
    try expect(engine.renewal.planRenewal(ahead: false, jitter: 0), is: .renew(epoch: epoch))
    disk.refuseReads(true)
    try expect(engine.renewal.planRenewal(ahead: false, jitter: 0), is: .renew(epoch: epoch))
    disk.refuseReads(false)
    _ = try bench.engine().logout.beginLogout(localOnly: true, cancellation: nil)
    try expect(engine.renewal.planRenewal(ahead: false, jitter: 0), is: .nothing)
  }

  @Test("observers hear that the disk refused")
  func told() throws {
    try leaveUnsaved()
    #expect(bench.seen.names.contains("token.renewalFailed"))
  }

  @Test("a logout takes them along")
  func logout() throws {
    try leaveUnsaved()
    _ = try engine.logout.beginLogout(localOnly: false, cancellation: nil)
    #expect(bench.provider.revoked.contains("refresh-3"))
    try? engine.renewedTokens.storeUnsaved()
    #expect(try !bench.record.hasTokens)
  }

  @Test("after a logout in another process they are revoked, not stored (R35)")
  func logoutElsewhere() throws {
    try leaveUnsaved()
    _ = try bench.engine().logout.beginLogout(localOnly: true, cancellation: nil)
    try? engine.renewedTokens.storeUnsaved()
    #expect(try !bench.record.hasTokens)
    #expect(bench.provider.revoked.contains("refresh-3"))
  }

  @Test("tokens that another process got meanwhile stay, and nothing is revoked that may take them along")
  func renewedElsewhere() throws {
    try leaveUnsaved()
    let other = bench.engine()
    _ = try other.signIn.resume(
      bench.provider.signIn(at: try other.signIn.begin(SignInOptions(), cancellation: nil).url),
      cancellation: nil)
    let theirs = try other.token()
    try? engine.renewedTokens.storeUnsaved()
    try expect(engine.token(), is: theirs)
    #expect(!bench.provider.revoked.contains("refresh-3"))
  }
}
