// Lines on stderr. If the host does not read them, lines are lost. Answers are not lost, because the log
// never waits. No line has parameters or results (R40): only names of commands, numbers, error messages, and
// the clients' log lines, without secrets.

import CPosix
import EnrollSteps
import EnrollHost
import EnrollPosix

/// The daemon's log. A class, because every thread writes to it.
final class Log: LogHandler, @unchecked Sendable {
  // Unchecked: `lost` is only touched with `condition` held.
  let level: LogLevel
  private let condition = Condition()
  private var lost = 0

  init(_ level: LogLevel) { self.level = level }

  func error(_ text: @autoclosure () -> String) { write(.error, text) }
  func warning(_ text: @autoclosure () -> String) { write(.warning, text) }
  func info(_ text: @autoclosure () -> String) { write(.info, text) }
  func debug(_ text: @autoclosure () -> String) { write(.debug, text) }

  /// A line of a client's log.
  func write(_ level: LogLevel, _ line: String) { write(level) { line } }

  private func write(_ level: LogLevel, _ text: () -> String) {
    guard level.rawValue <= self.level.rawValue else { return }
    let text = text()
    condition.lock()
    defer { condition.unlock() }
    let note = lost > 0 ? "enrolld: warning: \(lost) lines were lost\n" : ""
    let line = Array("\(note)enrolld: \(level.name): \(text)\n".utf8.prefix(4096))
    var poller = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
    guard poll(&poller, 1, 0) == 1, Int32(poller.revents) & POLLOUT != 0 else { return lost += 1 }
    let count = line.withUnsafeBytes { CPosix.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    lost = count == line.count ? 0 : lost + 1
  }
}
