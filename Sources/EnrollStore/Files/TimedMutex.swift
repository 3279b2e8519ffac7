// The part of a store lock that works within the process: threads queue here, and only one of them tries the file lock.
// Otherwise every waiting thread would poll the file with its own descriptor.

import EnrollRules
import EnrollSteps
import EnrollPosix

/// A mutex that may be held across IO, with a time limit for the wait for the mutex.
final class TimedMutex: @unchecked Sendable {
  // Unchecked: `isHeld` is only touched with `condition` held.
  /// Longer than any save takes. A thread or process that holds a lock longer is stopped or hangs.
  static let timeoutSeconds: Int64 = 30

  private let condition = Condition()
  private var isHeld = false

  /// Locks the mutex, and waits for at most `seconds`.
  /// - Throws: `.busy` after `seconds`; `.cancelled`, `.deadlineExceeded` if the current call is cancelled or timed
  ///   out.
  func lock(atMost seconds: Int64 = timeoutSeconds) throws(EnrollError) {
    let cancellation = CallTimeout.cancellation
    let hook = cancellation?.onCancel { self.condition.locked { self.condition.wakeAll() } }
    defer { if let hook { cancellation?.removeHook(hook) } }
    // The time is measured with the system's clock, not with the store's clock, because the limit is for hanging
    // threads, not for tokens.
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
