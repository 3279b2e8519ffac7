// Renewals that nobody waits for. One whose outcome is not known is followed up, because the provider may have changed the
// refresh token and takes the old one only for a while. And where the host switched it on, tokens are renewed ahead of need
// (flows.md §8). One timer per client; whatever it begins is the same renewal that callers share.
//
// A client with nothing to do looks at its record once a minute, because another process may have signed in. There is no
// inotify(7) instead: a user has 128 of its instances for all programs, and some filesystems never report. The looks of all
// clients fall on the same moment and share a few threads, so that 400 idle clients are one wake-up a minute.

import EnrollCore
import EnrollPosix

/// Plans the next renewal after every event, and begins it when its time has come.
final class BackgroundRenewal: EngineObserver, @unchecked Sendable {
  // Unchecked: `plan` is only touched with `condition` held.

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

  /// Looks at stores, for all clients of the process: a thread of its own for each look would be hundreds at once. They wait
  /// for no provider, and leave with the last look.
  private static let lookers = PerProcess { WorkerPool(threads: 8, idleSeconds: 0) }

  private struct Plan {
    var timer: UInt64?
    var isStopped = false
    /// Looks that run now.
    var looks = 0
    /// When the last renewal began.
    var began: Instant?
    /// Before the next try to store what the disk refused.
    var unsavedPause: Int64 = 0
  }

  private let engine: Engine
  private let clock: any Clock
  private let timers: TimerQueue
  private let isAhead: Bool
  private let jitter: UInt8
  private let renew: Renew
  private let condition = Condition()
  private var plan = Plan()
  private let origin = ForkGuard()

  init(
    _ engine: Engine, clock: any Clock, timers: TimerQueue, isAhead: Bool, jitter: UInt8,
    renew: @escaping Renew
  ) {
    self.engine = engine
    self.clock = clock
    self.timers = timers
    self.isAhead = isAhead
    self.jitter = jitter
    self.renew = renew
  }

  /// Looks at the store, on a thread of the library, and plans from what it finds.
  func start() {
    let isAccepted = Self.lookers.value.submit {
      guard self.enter() else { return }
      self.lookAgain()
      self.leave()
    }
    if !isAccepted { wake(at: nextLook()) }
  }

  /// No renewal is begun any more; one that was begun goes on.
  func stop() {
    if origin.isForkedChild { return }
    let timer = condition.locked {
      defer { plan.timer = nil }
      plan.isStopped = true
      return plan.timer
    }
    if let timer { timers.cancel(timer) }
  }

  /// Returns when no look is under way. Stop before.
  func drain() {
    if origin.isForkedChild || ExitBarrier.isExiting { return }
    condition.locked { while plan.looks > 0 { condition.wait() } }
  }

  /// - Returns: false after ``stop()``.
  private func enter() -> Bool {
    condition.locked {
      if !plan.isStopped { plan.looks += 1 }
      return !plan.isStopped
    }
  }

  private func leave() {
    // A look asks code of the host's for the store's key, which may fork.
    if origin.isForkedChild { return }
    condition.locked {
      plan.looks -= 1
      if plan.looks == 0 { condition.wakeAll() }
    }
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
    let now = clock.instant()
    return now.advanced(byNanoseconds: idle - now.nanoseconds % idle)
  }

  private func begin(_ epoch: UInt64, _ audience: TokenAudience?) {
    let now = clock.instant()
    let isUnsaved = engine.hasUnsaved
    let (begins, notBefore) = condition.locked {
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
    let old = condition.locked {
      let old = plan.timer
      plan.timer = plan.isStopped ? nil : timers.run(at: instant) { self.start() }
      return old
    }
    if let old { timers.cancel(old) }
  }
}
