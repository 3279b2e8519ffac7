// The log of a bridge, for finding faults: the file that the variable ENROLL_LOG names. The log has methods, statuses
// and times, but no token, code, state, id, body or argument. Of the URL it shows only the host.

import CPosix
import EnrollMCP
import EnrollPosix
import EnrollRules

/// The log of a bridge. A class, because it owns the open file.
final class BridgeLog {
  private let descriptor: Int32

  /// The log that the environment names; nil if it names no log.
  /// - Throws: for a file that cannot be opened.
  static func named(by environment: Environment = .process) throws(Failure) -> BridgeLog? {
    guard let path = environment["ENROLL_LOG"] else { return nil }
    // O_NONBLOCK: a named pipe without a reader is an error, and a full one loses lines. Neither stops the bridge.
    let descriptor = enroll_posix_open(
      path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else { throw Failure(.usage, "the file that ENROLL_LOG names cannot be opened") }
    return BridgeLog(descriptor)
  }

  private init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Adds a line. Several bridges may write into one file: each line is a single write, and has the process id.
  func add(_ text: String) {
    let line = "\(InternetDate.text(SystemClock().wallTime().seconds)) \(getpid()) \(Shown.text(text))\n"
    let bytes = Array(line.utf8)
    _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
  }
}

extension Exchange {
  /// The exchange's name in the log.
  var logged: String {
    let name =
      switch kind {
      case .message: message.method ?? (openIDs.isEmpty ? "answer" : "batch")
      case .initializeAgain, .initializedAgain: "\(message.method ?? "") again"
      case .listening: "stream of the server"
      case .wholeStream: "stream of HTTP+SSE"
      case .resuming: "rest of \(message.method ?? "batch")"
      case .listingTools: "tools/list of the bridge"
      case .closing: "end of the session"
      }
    return "#\(number) \(name)"
  }
}
