// The log lines that a client writes while it works. No line holds a secret: URLs are shown with scheme, host and the
// names of their parameters (R40).

/// How important a line is.
public enum LogLevel: Int32, CaseIterable, Sendable {
  /// Something that the user may have to hear of.
  case error = 1
  /// Something that went wrong and may mend itself.
  case warning
  /// The steps of a registration and of a session.
  case info
  /// Every request.
  case debug

  /// As users write it.
  public var name: String {
    switch self {
    case .error: "error"
    case .warning: "warning"
    case .info: "info"
    case .debug: "debug"
    }
  }
}

/// Gets lines.
public protocol LogHandler: AnyObject, Sendable {
  /// The least important lines that are wanted.
  var level: LogLevel { get }
  /// Takes one line, on the thread that has something to say, with no lock held. Is short, and calls nothing of the
  /// client.
  func write(_ level: LogLevel, _ line: String)
}
