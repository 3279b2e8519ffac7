// A descriptor for poll, epoll and their kin: readable from the moment it is raised until it is lowered.

import CPosix
import EnrollCore

/// An eventfd(2): non-blocking, closed at exec.
final class EventDescriptor: Sendable {
  let number: Int32

  /// - Throws: `.busy` when the process may open no more.
  convenience init() throws(EnrollError) {
    let number = enroll_posix_event()
    guard number >= 0 else {
      throw EnrollError(.busy, "no descriptor is to be had (errno \(enroll_posix_errno()))")
    }
    self.init(number)
  }

  private init(_ number: Int32) { self.number = number }

  // A forked child closes its own copy, which disturbs nobody.
  deinit { close(number) }

  func raise() { _ = eventfd_write(number, 1) }

  func lower() {
    var value: eventfd_t = 0
    _ = eventfd_read(number, &value)
  }
}
