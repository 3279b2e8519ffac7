// One log for many clients: each line says whose it is.

import EnrollCore

final class ClientLog: LogHandler {
  private let handler: any LogHandler
  /// The client's handle.
  private let client: String

  init(_ handler: any LogHandler, of client: String) {
    self.handler = handler
    self.client = client
  }

  var level: LogLevel { handler.level }
  func write(_ level: LogLevel, _ line: String) { handler.write(level, "\(client): \(line)") }
}
