// Loads libcurl on its own thread while a renewal saves its record. Loading may take long, because the disk may be
// slow. Some requests must not be abandoned once they are sent. Such a request waits for this thread before it is sent,
// because during that wait it can still be abandoned.

import EnrollSteps
import EnrollPosix

/// Whether a thread is loading the library now.
final class LibraryLoading: @unchecked Sendable {
  // Unchecked: `isUnderWay` is only touched with `condition` held.
  private let condition = Condition()
  private var isUnderWay = false

  /// Runs `load` on its own thread, unless a thread is loading already.
  func start(_ load: @escaping @Sendable () -> Void) {
    let isFirst = condition.locked {
      defer { isUnderWay = true }
      return !isUnderWay
    }
    guard isFirst else { return }
    let isStarted = BackgroundThread.start {
      ExitBarrier.allowingExit(load)
      self.end()
    }
    if !isStarted { end() }
  }

  private func end() {
    condition.locked {
      isUnderWay = false
      condition.wakeAll()
    }
  }

  /// Returns when no thread is loading, or after a cancellation.
  func wait(cancellation: any Cancellation) {
    let hook = cancellation.onCancel { [condition] in condition.locked { condition.wakeAll() } }
    condition.locked {
      while isUnderWay, !cancellation.isCancelled { condition.wait() }
    }
    cancellation.removeHook(hook)
  }
}
