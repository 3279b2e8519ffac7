// Sends the messages in the outbox at these times: when the state is first requested, because an earlier process may
// have left messages; after steps that may add messages; after renewals, because the network works then; when the
// browser returns from the logout page; and when it has not returned in time. No caller waits for this sender. Steps
// that revoke tokens send the outbox themselves (reliability.md, The outbox).

import EnrollRules
import EnrollSteps
import EnrollPosix

/// Sends the outbox on a thread of the pool, one run at a time. A class, because several threads share it.
final class OutboxSender: Sendable {
  private struct Run {
    var isRunning = false
    var isRequested = false
    var hasBegun = false
    /// The timer for the end of a wait for the browser.
    var timer: UInt64?
    var isStopped = false
  }

  /// The pause before the next attempt to read the store, if the store could not be read when a wait for the browser
  /// ended.
  private static let pauseSeconds: Int64 = 60

  /// The flag that ends a run of the sender. Unsent messages stay in the outbox for the next process.
  let ending: CancellationFlag
  private let closing: CancellationFlag
  private let run = Guarded(Run(), by: Mutex())
  private let pool: WorkerPool
  private let timers: TimerQueue
  private let clock: any Clock
  private let engine: Engine
  private let hasBackEnd: Bool

  init(_ engine: Engine, pool: WorkerPool, timers: TimerQueue, clock: any Clock, _ phases: ClosingPhases) {
    self.engine = engine
    self.timers = timers
    self.clock = clock
    ending = phases.gracePeriod
    closing = phases.closing
    self.pool = pool
    hasBackEnd = engine.configuration.errorReportURI != nil || engine.configuration.profileUpdateURI != nil
  }

  /// Sends the messages that an earlier process left, once in the life of a client.
  func sendAtStart() {
    let isFirst = run.withLock { run -> Bool in
      defer { run.hasBegun = true }
      return !run.hasBegun
    }
    if isFirst { send() }
  }

  /// Sends the outbox if a back end is configured. Call this after a step that may have queued a profile or an error
  /// report for the back end.
  func sendToBackEnd() {
    if hasBackEnd { send() }
  }

  /// Starts sending the outbox. A call during a run causes another run.
  func send() {
    let starts = run.withLock { run -> Bool in
      run.isRequested = true
      defer { run.isRunning = true }
      return !run.isRunning
    }
    guard starts else { return }
    let isAccepted = pool.submit { [self] in
      while takeRequest() {
        // If the store does not return the messages before the client closes, the messages wait for the next process.
        try? CallTimeout.until(cancellation: closing) { engine.outbox.sendOutbox(cancellation: ending) }
        sendAfterLogoutWait()
      }
    }
    if !isAccepted { run.withLock { $0.isRunning = false } }
  }

  /// Sets the timer for sending the messages that wait for a browser at the logout page, no matter which client queued
  /// them.
  func sendAfterLogoutWait() {
    guard let ends = engine.outbox.logoutWaitEnds else { return }
    let now = clock.instant()
    let due = ends > now ? ends : now.advanced(bySeconds: Self.pauseSeconds)
    let old = run.withLock { run in
      let old = run.timer
      run.timer = run.isStopped ? nil : timers.run(at: due) { self.send() }
      return old
    }
    if let old { timers.cancel(old) }
  }

  /// Cancels the timer: unsent messages are left to the next process.
  func stop() {
    let timer = run.withLock { run in
      defer { run.timer = nil }
      run.isStopped = true
      return run.timer
    }
    if let timer { timers.cancel(timer) }
  }

  private func takeRequest() -> Bool {
    run.withLock { run in
      run.isRunning = run.isRequested
      run.isRequested = false
      return run.isRunning
    }
  }
}
