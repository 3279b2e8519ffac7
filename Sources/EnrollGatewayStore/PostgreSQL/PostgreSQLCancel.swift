// Asks a server to cancel a call that timed out (libpq, "Canceling Queries in Progress"). Closing the connection is not enough:
// a server that waits for its standby keeps the session until the standby answers, and would run out of sessions.

import CPostgreSQL
import EnrollSteps
import EnrollPosix

/// Sends cancel requests in the background, at most 16 at once: perhaps the server does not answer these requests
/// either, so no caller waits for them.
enum PostgreSQLCancel {
  private static let limit = 16
  private static let running = Guarded(0, by: Mutex())

  private struct Request: @unchecked Sendable {
    // Unchecked: one thread uses the handle and then frees it.
    let functions: PostgreSQLLibrary.Functions
    let handle: OpaquePointer

    func send() {
      var words = [CChar](repeating: 0, count: 256)
      _ = functions.pointee.PQcancel(handle, &words, Int32(words.count))
      functions.pointee.PQfreeCancel(handle)
    }
  }

  /// Sends a cancel request for the call on this connection.
  /// - Parameter connection: may be closed as soon as this returns.
  static func send(for connection: OpaquePointer, by functions: PostgreSQLLibrary.Functions) {
    guard let handle = functions.pointee.PQgetCancel(connection) else { return }
    let request = Request(functions: functions, handle: handle)
    let isStarted =
      begin()
      && BackgroundThread.start {
        ExitBarrier.allowingExit { request.send() }
        end()
      }
    if !isStarted { functions.pointee.PQfreeCancel(handle) }
  }

  private static func begin() -> Bool {
    running.withLock { count in
      guard count < limit else { return false }
      count += 1
      return true
    }
  }

  private static func end() { running.withLock { $0 -= 1 } }
}
