// Renewals that nobody waits for. One whose outcome is not known is followed up, because the provider may have changed the
// refresh token and takes the old one only for a while. And where the host switched it on, tokens are renewed ahead of need
// (flows.md §8). One timer per client; whatever it begins is the same renewal that callers share.

import EnrollCore
import EnrollPosix

/// Plans the next renewal after every event, and begins it when its time has come.
final class BackgroundRenewal: EngineObserver, @unchecked Sendable {
  // Unchecked: `plan` is only touched with its lock held.

  /// Begins a renewal, or joins the one under way; calls back when it has ended.
  typealias Renew =
    @Sendable (
      _ epoch: UInt64, _ audience: TokenAudience?, _ ended: @escaping @Sendable () -> Void
    ) -> Void

  /// However short tokens live, and whatever fails: this far apart at least.
  private static let pause: Int64 = 10_000_000_000
  /// After the first try to store what the disk refused; doubled after each of the next, up to ``pause``. Until it is stored,
  /// no other process can renew.
  private static let firstUnsavedPause: Int64 = 500_000_000
  /// How long there may be nothing to do before the store is looked at again: another process may have signed in.
  private static let idleSeconds: Int64 = 60

  private struct Plan {
    var timer: UInt64?
    var isStopped = false
    /// When the last renewal began.
    var began: Instant?
    /// Before the next try to store what the disk refused.
    var unsavedPause: Int64 = 0
  }

  private let engine: Engine
  private let clock: any Clock
  private let timers: TimerQueue
  private let pool: WorkerPool
  private let isAhead: Bool
  private let jitter: UInt8
  private let renew: Renew
  private let plan = Guarded(Plan(), by: Mutex())

  init(
    _ engine: Engine, clock: any Clock, timers: TimerQueue, pool: WorkerPool, isAhead: Bool, jitter: UInt8,
    renew: @escaping Renew
  ) {
    self.engine = engine
    self.clock = clock
    self.timers = timers
    self.pool = pool
    self.isAhead = isAhead
    self.jitter = jitter
    self.renew = renew
  }

  /// Looks at the store, on a thread of the pool, and plans from what it finds.
  func start() {
    if !pool.submit({ self.lookAgain() }) { wake(at: nextLook()) }
  }

  /// No renewal is begun any more; one that was begun goes on.
  func stop() {
    let timer = plan.withLock { plan -> UInt64? in
      defer { plan.timer = nil }
      plan.isStopped = true
      return plan.timer
    }
    if let timer { timers.cancel(timer) }
  }

  func observe(_ notification: EnrollEvent) {
    switch notification {
    case .registrationChanged, .tokenRenewed: if isAhead { start() }
    case .tokenRenewalFailed: start()
    case .registrationSettled, .logoutFinished, .errorReported: break
    }
  }

  private func lookAgain() {
    let later = nextLook()
    do throws(EnrollError) {
      switch try engine.planRenewal(ahead: isAhead, jitter: jitter) {
      case .nothing: if isAhead { wake(at: later) }
      case .wait(let until): wake(at: until)
      case .renew(let epoch, let audience): begin(epoch, audience)
      }
    } catch {
      if isAhead { wake(at: later) }
    }
  }

  /// The same moment for every client of the process: one wake-up for all of them.
  private func nextLook() -> Instant {
    let idle = Self.idleSeconds * 1_000_000_000
    return Instant(nanoseconds: (clock.instant().nanoseconds / idle + 1) * idle)
  }

  private func begin(_ epoch: UInt64, _ audience: TokenAudience?) {
    let now = clock.instant()
    let isUnsaved = engine.hasUnsaved
    let (begins, notBefore) = plan.withLock { plan in
      let pause = isUnsaved ? plan.unsavedPause : Self.pause
      let notBefore = plan.began?.advanced(byNanoseconds: pause) ?? now
      guard !plan.isStopped, notBefore <= now else { return (false, notBefore) }
      plan.unsavedPause = isUnsaved ? min(max(pause * 2, Self.firstUnsavedPause), Self.pause) : 0
      plan.began = now
      return (true, notBefore)
    }
    if begins { renew(epoch, audience) { self.start() } } else { wake(at: notBefore) }
  }

  /// One timer at a time: the last word counts.
  private func wake(at instant: Instant) {
    let old = plan.withLock { plan -> UInt64? in
      let old = plan.timer
      plan.timer = plan.isStopped ? nil : timers.run(at: instant) { self.start() }
      return old
    }
    if let old { timers.cancel(old) }
  }
}
