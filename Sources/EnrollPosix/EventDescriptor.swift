// Ends another thread's wait in poll: a descriptor that becomes readable.

import CPosix
package import EnrollCore

/// A descriptor to poll beside others, made readable from any thread. Every possible caller of ``wake()`` holds a
/// reference, so a late call finds the descriptor open and merely wakes once too often.
package final class EventDescriptor: Sendable {
  /// To be polled for input.
  package let descriptor: Int32

  /// - Throws: `.busy` when the process has no descriptor left.
  package convenience init() throws(EnrollError) {
    let descriptor = enroll_posix_event()
    guard descriptor >= 0 else {
      throw EnrollError(.busy, "no file descriptor can be opened: \(SystemError.words(enroll_posix_errno()))")
    }
    self.init(owning: descriptor)
  }

  private init(owning descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Ends the current wait, or the next one.
  package func wake() { enroll_posix_raise_event(descriptor) }

  /// Forgets earlier wakes, so that the next wait waits. Look at what was waited for after this, not before.
  package func drain() { enroll_posix_clear_event(descriptor) }
}
