// The in-process half of a store lock: threads queue here before one of them goes for the file lock, which threads of one
// process would otherwise fight over with a descriptor each.

import EnrollCore
import EnrollPosix

/// A mutex that may be held across IO, with a limit to the wait for it.
final class TimedMutex: @unchecked Sendable {
  // Unchecked: `isHeld` is only touched with `condition` held.
  /// Longer than any save takes; what holds a lock longer is stopped or hangs.
  static let timeoutSeconds: Int64 = 30

  private let condition = Condition()
  private var isHeld = false

  /// - Throws: `.busy` after `seconds`; `.cancelled`, `.deadlineExceeded` once the call on this thread is not to wait
  ///   any longer.
  func lock(atMost seconds: Int64 = timeoutSeconds) throws(EnrollError) {
    let cancellation = CallTimeout.cancellation
    let hook = cancellation?.onCancel { self.condition.locked { self.condition.wakeAll() } }
    defer { if let hook { cancellation?.removeHook(hook) } }
    // By the machine's clock, whatever clock the store was given: this is about threads that hang, not about tokens.
    let end = SystemClock.monotonic() + seconds * 1_000_000_000
    condition.lock()
    defer { condition.unlock() }
    while isHeld {
      let left = end - SystemClock.monotonic()
      guard left > 0 else {
        throw EnrollError(.busy, "another thread has held the store's lock for \(seconds) s")
      }
      try CallTimeout.check("while another thread held the store's lock")
      condition.wait(atMost: CallTimeout.nanoseconds(atMost: left))
    }
    isHeld = true
  }

  func unlock() {
    condition.lock()
    isHeld = false
    condition.wakeOne()
    condition.unlock()
  }
}
