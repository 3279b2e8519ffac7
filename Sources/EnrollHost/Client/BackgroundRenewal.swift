// Renewals that no caller waits for. A renewal with an unknown outcome is repeated, because the provider may have
// replaced the refresh token and accepts the old refresh token only for a limited time. If the host switched background
// renewal on, tokens are also renewed before they are due (flows.md §8). Each client has one timer. Callers can join a
// renewal that the timer starts, as they join any other renewal.
//
// An idle client reads its record once a minute, because another process may have signed in. inotify(7) is no
// alternative: a user may have only 128 inotify instances for all programs, and some filesystems never report changes.
// All clients of the process read at the same moment on a few shared threads, so that 400 idle clients cause one
// wake-up a minute.

import EnrollRules
import EnrollSteps
import EnrollPosix

/// Plans the next renewal after every event, and starts it when it is due.
final class BackgroundRenewal: EngineObserver, @unchecked Sendable {
  // Unchecked: `plan` is only touched with `condition` held.

  /// Starts a renewal, or joins the running renewal; calls back when the renewal has ended.
  typealias Renew =
    @Sendable (
      _ epoch: UInt64, _ audience: TokenAudience?, _ ended: @escaping @Sendable () -> Void
    ) -> Void

  /// The shortest time between the starts of two renewals, even if tokens are short-lived or renewals fail.
  private static let pause: Int64 = 10_000_000_000
  /// The pause after the first attempt to save tokens that the disk refused; doubled after each later attempt, up to
  /// ``pause``. Until the tokens are saved, no other process can renew.
  private static let firstUnsavedPause: Int64 = 500_000_000
  /// How long the client is idle before it reads the store again: another process may have signed in.
  private static let idleSeconds: Int64 = 60

  /// The threads that read the stores, shared by all clients of the process: with one thread for each client, hundreds
  /// might run at once. These threads do not wait for providers, and end when there is nothing to read.
  private static let readers = PerProcess { WorkerPool(threads: 8, idleSeconds: 0) }

  private struct Plan {
    var timer: UInt64?
    var isStopped = false
    /// The number of reads of the store that are running now.
    var reads = 0
    /// When the last renewal began.
    var began: Instant?
    /// The pause before the next attempt to save tokens that the disk refused.
    var unsavedPause: Int64 = 0
  }

  private let engine: Engine
  private let clock: any Clock
  private let timers: TimerQueue
  private let renewsAhead: Bool
  private let jitter: UInt8
  private let renew: Renew
  private let condition = Condition()
  private var plan = Plan()
  private let origin = ForkGuard()

  init(
    _ engine: Engine, clock: any Clock, timers: TimerQueue, renewsAhead: Bool, jitter: UInt8,
    renew: @escaping Renew
  ) {
    self.engine = engine
    self.clock = clock
    self.timers = timers
    self.renewsAhead = renewsAhead
    self.jitter = jitter
    self.renew = renew
  }

  /// Reads the store on a thread of the library, and plans the next renewal.
  func start() {
    let isAccepted = Self.readers.value.submit {
      guard self.beginRead() else { return }
      self.planNext()
      self.endRead()
    }
    if !isAccepted { wake(at: nextRead()) }
  }

  /// From now on, no renewal is started. A running renewal continues.
  func stop() {
    if origin.isForkedChild { return }
    let timer = condition.locked {
      defer { plan.timer = nil }
      plan.isStopped = true
      return plan.timer
    }
    if let timer { timers.cancel(timer) }
  }

  /// Returns when no read of the store is running. Call ``stop()`` first.
  func drain() {
    if origin.isForkedChild || ExitBarrier.isExiting { return }
    condition.locked { while plan.reads > 0 { condition.wait() } }
  }

  /// - Returns: false after ``stop()``.
  private func beginRead() -> Bool {
    condition.locked {
      if !plan.isStopped { plan.reads += 1 }
      return !plan.isStopped
    }
  }

  private func endRead() {
    // Reading the store may call the host's code for the store's key, and that code may fork.
    if origin.isForkedChild { return }
    condition.locked {
      plan.reads -= 1
      if plan.reads == 0 { condition.wakeAll() }
    }
  }

  func observe(_ notification: EnrollEvent) {
    switch notification {
    case .registrationChanged, .tokenRenewed: if renewsAhead { start() }
    case .tokenRenewalFailed: start()
    case .registrationSettled, .logoutFinished, .errorReported: break
    }
  }

  private func planNext() {
    let later = nextRead()
    do throws(EnrollError) {
      switch try engine.renewal.planRenewal(ahead: renewsAhead, jitter: jitter) {
      case .nothing: if renewsAhead { wake(at: later) }
      case .wait(let until): wake(at: until)
      case .renew(let epoch, let audience): begin(epoch, audience)
      }
    } catch {
      if renewsAhead { wake(at: later) }
    }
  }

  /// The next full minute of the clock. It is the same moment for every client, so that one wake-up serves all clients.
  private func nextRead() -> Instant {
    let idle = Self.idleSeconds * 1_000_000_000
    let now = clock.instant()
    return now.advanced(byNanoseconds: idle - now.nanoseconds % idle)
  }

  private func begin(_ epoch: UInt64, _ audience: TokenAudience?) {
    let now = clock.instant()
    let isUnsaved = engine.renewedTokens.hasUnsaved
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

  /// Sets a timer in place of the old timer, so that there is at most one timer.
  private func wake(at instant: Instant) {
    let old = condition.locked {
      let old = plan.timer
      plan.timer = plan.isStopped ? nil : timers.run(at: instant) { self.start() }
      return old
    }
    if let old { timers.cancel(old) }
  }
}
