// Ends another thread's wait in poll(2), with a descriptor that becomes readable.

import CPosix
package import EnrollRules

/// A descriptor that any thread can make readable. A waiting thread polls it in addition to other descriptors. Every
/// possible caller of ``wake()`` holds a reference, so a late call finds the descriptor open and only causes an extra
/// wake-up.
package final class EventDescriptor: Sendable {
  /// The descriptor to poll for input.
  package let descriptor: Int32

  /// - Throws: `.busy` if the process cannot open another descriptor.
  package convenience init() throws(EnrollError) {
    let descriptor = enroll_posix_event()
    guard descriptor >= 0 else {
      throw EnrollError(
        .busy, "no file descriptor can be opened: \(SystemError.message(enroll_posix_errno()))")
    }
    self.init(owning: descriptor)
  }

  private init(owning descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Ends the current wait or, if no thread waits now, the next wait.
  package func wake() { enroll_posix_raise_event(descriptor) }

  /// Clears earlier wake-ups, so that the next wait blocks. Check the condition of the wait after this call,
  /// not before.
  package func drain() { enroll_posix_clear_event(descriptor) }
}
