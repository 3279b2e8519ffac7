// Asks a server to stop working on a call that was given up (libpq, "Canceling Queries in Progress"). Closing the connection alone
// does not: a server that waits for its standby would keep the connection until the standby answers, and run out of them.

import CPostgreSQL
import EnrollCore
import EnrollPosix

/// Requests on their way. The server may be as silent to them as it was to the call, so nobody waits for one, and there are few.
enum PostgreSQLCancel {
  private static let limit = 16
  private static let running = Guarded(0, by: Mutex())

  private struct Request: @unchecked Sendable {
    // Unchecked: used by one thread, and then freed.
    let functions: PostgreSQLLibrary.Functions
    let handle: OpaquePointer

    func send() {
      var words = [CChar](repeating: 0, count: 256)
      _ = functions.pointee.PQcancel(handle, &words, Int32(words.count))
      functions.pointee.PQfreeCancel(handle)
    }
  }

  /// - Parameter connection: may be closed as soon as this returns.
  static func send(for connection: OpaquePointer, by functions: PostgreSQLLibrary.Functions) {
    guard let handle = functions.pointee.PQgetCancel(connection) else { return }
    let request = Request(functions: functions, handle: handle)
    let isStarted =
      begin()
      && PlainThread.start {
        ExitBarrier.outside { request.send() }
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
