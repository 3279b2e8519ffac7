// Functions that run code on separate threads, and a function that returns the code of an error.

import EnrollPosix
package import EnrollRules
import EnrollSteps
import Foundation
import Testing

/// Whether there is time for all variants (`make torture`).
package let isTorture = ProcessInfo.processInfo.environment["TORTURE"] == "1"

/// Runs `body` in this many threads at once and waits for all.
package func together(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let pool = WorkerPool(threads: count)
  for index in 0..<count { #expect(pool.submit { body(index) }) }
  pool.drain()
}

/// Runs `body` on a separate thread: slow work must not block one of the few threads that all tests share.
package func aside(_ body: @escaping @Sendable () throws -> Void) async throws {
  let result: Result<Void, any Error> = await withCheckedContinuation { continuation in
    let thread = Thread { continuation.resume(returning: Result { try body() }) }
    thread.stackSize = 1 << 20
    thread.start()
  }
  try result.get()
}

/// The code of the error that `body` throws.
package func code(_ body: () throws(EnrollError) -> Void) -> EnrollError.Code? {
  do { try body() } catch { return error.code }
  return nil
}
