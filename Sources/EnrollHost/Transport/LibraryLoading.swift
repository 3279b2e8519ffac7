// libcurl is read from the disk on a thread of its own while a renewal writes its record. A request that must not be given up
// once it is sent waits for that thread first, where it can still be given up: a disk may answer late.

import EnrollCore
import EnrollPosix

/// Whether a thread loads the library now.
final class LibraryLoading: @unchecked Sendable {
  // Unchecked: `isUnderWay` is only touched with `condition` held.
  private let condition = Condition()
  private var isUnderWay = false

  /// Runs `load` on a thread of its own, unless one does so already.
  func start(_ load: @escaping @Sendable () -> Void) {
    let isFirst = condition.locked {
      defer { isUnderWay = true }
      return !isUnderWay
    }
    guard isFirst else { return }
    let isStarted = PlainThread.start {
      ExitBarrier.outside(load)
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

  /// Returns when no thread loads, or when `cancellation` comes.
  func wait(cancellation: any Cancellation) {
    let hook = cancellation.onCancel { [condition] in condition.locked { condition.wakeAll() } }
    condition.locked {
      while isUnderWay, !cancellation.isCancelled { condition.wait() }
    }
    cancellation.removeHook(hook)
  }
}
