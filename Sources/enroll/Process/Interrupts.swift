// The signals that ask the program to end, as file descriptor events.

import CPosix
import EnrollRules
import EnrollHost
import EnrollPosix

enum Interrupts {
  /// A descriptor that becomes readable after a signal; negative before ``prepare()``, or if the system has no free
  /// descriptor.
  nonisolated(unsafe) private(set) static var descriptor: Int32 = -1

  /// Prepares the reading of signals. Call this before the first thread starts.
  static func prepare() { descriptor = TerminationSignals.prepare() }

  /// Waits until `source` has input or is at its end.
  /// - Returns: false if a signal came first; ``Waits`` then handles it.
  static func wait(for source: Int32) -> Bool {
    while true {
      var sources = [
        pollfd(fd: source, events: Int16(POLLIN), revents: 0),
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&sources, 2, -1) > 0 else { continue }
      if sources[1].revents != 0 { return false }
      if sources[0].revents != 0 { return true }
    }
  }

  /// Whether the first signal has been read from the descriptor. Another thread reads the later signals.
  nonisolated(unsafe) private static var hasArrived = false

  /// Waits until a descriptor can be written, or until nobody can read its other end any more. After the first signal
  /// the function does not wait.
  /// - Parameter milliseconds: the longest wait; -1 for no limit.
  /// - Returns: false if the descriptor cannot be written now, and a signal came or the longest wait has passed.
  static func wait(toWrite target: Int32, milliseconds: Int32) -> Bool {
    while true {
      var both = [
        pollfd(fd: target, events: Int16(POLLOUT), revents: 0),
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      ]
      let count = poll(&both, 2, hasArrived ? 0 : milliseconds)
      if both[0].revents != 0 { return true }
      if both[1].revents != 0 || count == 0 { return false }
    }
  }

  /// Waits until `source` has input or is at its end.
  /// - Throws: `.cancelled` if a signal came first.
  static func awaitInput(from source: Int32) throws(EnrollError) {
    guard wait(for: source) else { throw EnrollError(.cancelled, "interrupted") }
  }

  /// Runs `body`, which sends no request and may be interrupted anywhere. A signal ends the process at once, so
  /// `body` can run on this thread, which otherwise waits for signals.
  static func endingAtOnce<Value>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    TerminationSignals.unblock { _ in _exit(CommandStatus.interrupted.rawValue) }
    defer { TerminationSignals.block() }
    return try body()
  }

  /// Removes the first signal.
  static func clear() {
    TerminationSignals.readFirst(descriptor)
    hasArrived = true
  }
}
