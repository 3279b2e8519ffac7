// The host's log: a struct of function pointers becomes a LogHandler. Its function runs inside a call (R41).

public import CEnroll
import EnrollRules
import EnrollSteps
import EnrollHost

/// The host's log.
final class HostLog: LogHandler, @unchecked Sendable {
  // Unchecked: the host promises that `user_data` may be used by several threads at once.
  let level: LogLevel
  private typealias Function =
    @convention(c) (UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, Int) -> Void
  private let functions: enroll_log
  private let code = HostCode()
  private let write: Function

  /// - Throws: `.invalidArgument` if `write` is NULL, or for an unknown level.
  convenience init(_ pointer: UnsafePointer<enroll_log>) throws(EnrollError) {
    let functions = try enroll_log(reading: pointer)
    guard let write = functions.write else {
      throw EnrollError(.invalidArgument, "a log needs a write function, got NULL", field: "log")
    }
    guard let level = LogLevel(rawValue: functions.level == 0 ? ENROLL_LOG_INFO : functions.level) else {
      throw EnrollError(
        .invalidArgument, "level must be 0 or ENROLL_LOG_*, got \(functions.level)", field: "level")
    }
    self.init(functions, level, write)
  }

  private init(_ functions: enroll_log, _ level: LogLevel, _ write: @escaping Function) {
    self.functions = functions
    self.level = level
    self.write = write
  }

  deinit { functions.release?(functions.user_data) }

  func write(_ level: LogLevel, _ line: String) {
    let text = Array(line.utf8).withUnsafeBytes { Buffer($0) }
    code.run { write(functions.user_data, level.rawValue, text.bytes, text.size) }
  }
}

@_cdecl("enroll_log_init") @implementation
public func enroll_log_init(_ log: UnsafeMutablePointer<enroll_log>?, _ struct_size: Int) {
  enroll_log.initialize(log, size: struct_size)
}
