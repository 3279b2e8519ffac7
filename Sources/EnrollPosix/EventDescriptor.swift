// Ends another thread's wait in poll: an eventfd that becomes readable (eventfd(2)).

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
      throw EnrollError(.busy, "no file descriptor is free (errno \(enroll_posix_errno()))")
    }
    self.init(owning: descriptor)
  }

  private init(owning descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Ends the current wait, or the next one.
  package func wake() {
    var one: UInt64 = 1
    // Fails only when 2^64 - 1 wakes are waiting already.
    _ = write(descriptor, &one, 8)
  }

  /// Forgets earlier wakes, so that the next wait waits. Look at what was waited for after this, not before.
  package func drain() {
    var count: UInt64 = 0
    _ = read(descriptor, &count, 8)
  }
}
