// Threads that run one job each. Before their owner ends, it waits until all of them have ended.

import EnrollSteps
import EnrollPosix

/// Any number of plain threads.
final class ThreadGroup: @unchecked Sendable {
  // Unchecked: `running` is only touched with `condition` held.
  private let condition = Condition()
  private let origin = ForkGuard()
  private var running = 0

  /// Starts a thread that runs the job.
  /// - Returns: false if no thread could be started.
  func start(_ job: @escaping @Sendable () -> Void) -> Bool {
    condition.locked { running += 1 }
    let isStarted = BackgroundThread.start { [self] in
      job()
      leave()
    }
    if !isStarted { leave() }
    return isStarted
  }

  private func leave() {
    condition.locked {
      running -= 1
      if running == 0 { condition.wakeAll() }
    }
  }

  /// Whether a thread is running; false in a child of fork(), where none of these threads exists.
  var isBusy: Bool { !origin.isForkedChild && condition.locked { running > 0 } }

  /// Returns when no thread is running. Must not be called from one of them.
  func wait() {
    if origin.isForkedChild || ExitBarrier.isExiting { return }
    condition.locked { while running > 0 { condition.wait() } }
  }
}
