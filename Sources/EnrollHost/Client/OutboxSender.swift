// When the outbox is sent: when the registration is first asked for, so that what an earlier process could not say is
// said now; when something new may be in it; and after renewals, when the network is there. No caller waits for this sender;
// steps that revoke tokens send the outbox themselves (reliability.md, The outbox).

import EnrollCore
import EnrollPosix

/// Sends the outbox on a thread of the pool, one run at a time. A class because it is shared by threads.
final class OutboxSender: Sendable {
  private struct Run {
    var isRunning = false
    var isWanted = false
    var hasBegun = false
  }

  /// Ends what is under way: it stays in the outbox, for the next process.
  let ending: CancellationFlag
  private let closing: CancellationFlag
  private let run = Guarded(Run(), by: Mutex())
  private let pool: WorkerPool
  private let engine: Engine
  private let hasBackEnd: Bool

  init(_ engine: Engine, pool: WorkerPool, _ steps: ClosingSteps) {
    self.engine = engine
    ending = steps.lastMoment
    closing = steps.closing
    self.pool = pool
    hasBackEnd = engine.configuration.errorReportURI != nil || engine.configuration.profileUpdateURI != nil
  }

  /// Once in the life of a client: what an earlier process left.
  func sendAtStart() {
    let isFirst = run.withLock { run -> Bool in
      defer { run.hasBegun = true }
      return !run.hasBegun
    }
    if isFirst { send() }
  }

  /// After a step that may have queued a profile or a failure.
  func sendNews() {
    if hasBackEnd { send() }
  }

  /// Sends what waits, soon; a wish during a run brings another run.
  func send() {
    let starts = run.withLock { run -> Bool in
      run.isWanted = true
      defer { run.isRunning = true }
      return !run.isRunning
    }
    guard starts else { return }
    let isAccepted = pool.submit { [self] in
      while takeWish() {
        // Entries that the store cannot give before the client closes wait for the next process.
        try? CallTimeout.until(cancellation: closing) { engine.sendOutbox(cancellation: ending) }
      }
    }
    if !isAccepted { run.withLock { $0.isRunning = false } }
  }

  private func takeWish() -> Bool {
    run.withLock { run in
      run.isRunning = run.isWanted
      run.isWanted = false
      return run.isRunning
    }
  }
}
