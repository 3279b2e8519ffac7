// The log lines of a client. No line contains a secret: URLs are shown with scheme, host and the names of their
// parameters (R40).

import EnrollRules

/// How important a line is.
public enum LogLevel: Int32, CaseIterable, Sendable {
  /// For an error that may concern the user.
  case error = 1
  /// For a problem that may resolve itself.
  case warning
  /// For the steps of a registration and of a session.
  case info
  /// Every request.
  case debug

  /// The level's name, as users write it.
  public var name: String {
    switch self {
    case .error: "error"
    case .warning: "warning"
    case .info: "info"
    case .debug: "debug"
    }
  }
}

/// Receives log lines.
public protocol LogHandler: AnyObject, Sendable {
  /// The level of the least important lines that are wanted.
  var level: LogLevel { get }
  /// Receives one line, on the thread that writes it, with no lock held. This method must return soon, and must not
  /// call the client.
  func write(_ level: LogLevel, _ line: String)
}
