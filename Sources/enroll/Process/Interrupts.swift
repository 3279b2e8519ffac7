// Signals that ask for the end, as this program waits for them.

import CPosix
import EnrollCore
import EnrollHost
import EnrollPosix

enum Interrupts {
  /// Readable once a signal came; negative before ``prepare()``, and when the system gives none.
  nonisolated(unsafe) private(set) static var descriptor: Int32 = -1

  /// To be called before the first thread.
  static func prepare() { descriptor = EndingSignals.prepare() }

  /// Waits until there is something to read, or its end.
  /// - Returns: false once a signal came first; it is left for ``Waits``.
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

  /// As ``wait(for:)``.
  /// - Throws: `.cancelled` once a signal came first.
  static func awaitInput(from source: Int32) throws(EnrollError) {
    guard wait(for: source) else { throw EnrollError(.cancelled, "interrupted") }
  }

  /// Runs `body`, which sends nothing and may be cut off anywhere: a signal ends the process at once. So `body` can do its work on
  /// this thread, which otherwise waits for signals.
  static func endingAtOnce<Value>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    EndingSignals.letThrough { _ in _exit(CommandStatus.interrupted.rawValue) }
    defer { EndingSignals.holdBack() }
    return try body()
  }

  /// Takes the first one.
  static func take() { EndingSignals.take(descriptor) }
}
