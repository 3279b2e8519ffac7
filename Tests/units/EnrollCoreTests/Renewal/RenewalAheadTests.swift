import EnrollRules
import EnrollSteps
import EnrollTesting
import Expectations
import Testing

@Suite("Renewal ahead of need (flows.md §8)")
struct RenewalAheadTests {
  private let bench: Bench
  private let engine: Engine

  init() throws {
    bench = try Bench()
    engine = try bench.signedIn()
  }

  private func secondsToWait(jitter: UInt8 = 0) throws -> Int64? {
    guard case .wait(let until) = try engine.renewal.planRenewal(ahead: true, jitter: jitter) else {
      return nil
    }
    return until.since(bench.clock.instant()) / 1_000_000_000
  }

  @Test("before the token is due, spread over up to five minutes", arguments: [UInt8(0), 127, 255])
  func early(jitter: UInt8) throws {
    let wait = try #require(try secondsToWait(jitter: jitter))
    // The token is due after 3600 seconds minus the grace period of 60.
    #expect(wait >= 3239 && wait <= 3538)
    bench.clock.advance(seconds: wait - 1)
    try expect(secondsToWait(jitter: jitter), is: 1)
    bench.clock.advance(seconds: 1)
    try expect(
      engine.renewal.planRenewal(ahead: true, jitter: jitter), is: .renew(epoch: bench.record.tokenEpoch))
    guard case .fresh = try engine.tokens.decideAccess(minimumLifetimeSeconds: 0) else {
      throw Unexpected(what: "a caller would have to wait")
    }
  }

  @Test("different devices come at different times")
  func spread() throws {
    try expect(secondsToWait(jitter: 0), isNot: secondsToWait(jitter: 255))
  }

  @Test("a due token is renewed at once, and so is one whose date makes no sense any more")
  func due() throws {
    bench.clock.reboot(bootID: "boot-2")
    bench.clock.setWall(0)
    try expect(engine.renewal.planRenewal(ahead: true, jitter: 0), is: .renew(epoch: bench.record.tokenEpoch))
  }

  @Test("a failure is waited for (R33)")
  func barred() throws {
    bench.clock.advance(seconds: 3550)
    bench.provider.next(.token, .status(503, headers: [HTTPHeader("Retry-After", "120")]))
    _ = try engine.access()
    let wait = try #require(try secondsToWait())
    #expect(wait >= 118 && wait <= 140)

    bench.clock.advance(seconds: 200)
    bench.provider.next(.token, .empty)
    _ = try engine.access()
    try expect(secondsToWait(), is: 60)
  }

  @Test("a renewal whose outcome is not known is followed up for a minute, asked for or not")
  func followUp() throws {
    bench.clock.advance(seconds: 3550)
    try expect(engine.renewal.planRenewal(ahead: false, jitter: 0), is: .nothing)
    bench.provider.next(.token, .unreachable, .timeout)
    _ = try engine.access()
    guard case .wait(let until) = try engine.renewal.planRenewal(ahead: false, jitter: 0) else {
      throw Unexpected(what: "no follow-up")
    }
    #expect(until.since(bench.clock.instant()) <= 2_000_000_000)
    bench.clock.advance(seconds: 2)
    let epoch = try bench.record.tokenEpoch
    try expect(engine.renewal.planRenewal(ahead: false, jitter: 0), is: .renew(epoch: epoch))
    bench.clock.advance(seconds: 60)
    try expect(engine.renewal.planRenewal(ahead: false, jitter: 0), is: .nothing)
    try expect(engine.token(), is: "access-3")
    try expect(engine.renewal.planRenewal(ahead: false, jitter: 0), is: .nothing)
  }

  @Test(
    "the minute of a follow-up is not counted by a date that somebody sets",
    arguments: [-86_400, 86_400] as [Int64])
  func setDate(by seconds: Int64) throws {
    bench.clock.advance(seconds: 3550)
    bench.provider.next(.token, .unreachable, .timeout)
    _ = try engine.access()
    bench.clock.setWall(bench.clock.wallTime().seconds + seconds)
    bench.clock.advance(seconds: 2)
    try expect(
      engine.renewal.planRenewal(ahead: false, jitter: 0), is: .renew(epoch: bench.record.tokenEpoch))
  }

  @Test("without a session, or without a refresh token, there is nothing to do")
  func nothing() throws {
    _ = try engine.logout.beginLogout(localOnly: true, cancellation: nil)
    try expect(engine.renewal.planRenewal(ahead: true, jitter: 0), is: .nothing)

    let other = try Bench()
    other.provider.change { $0.givesRefreshToken = false }
    try expect(other.signedIn().renewal.planRenewal(ahead: true, jitter: 0), is: .nothing)

    let third = try Bench(requiresConfirmation: true)
    try expect(third.signedIn().renewal.planRenewal(ahead: true, jitter: 0), is: .nothing)
  }
}
