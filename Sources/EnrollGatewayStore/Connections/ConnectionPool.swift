// A bounded set of connections that threads share. Each connection is used by one thread at a time, opened when it is first
// needed, and closed when it is broken. A thread waits a limited time for a free connection.

import EnrollGateway
import EnrollPosix

/// A connection that a pool keeps.
protocol PooledConnection: AnyObject {
  /// True if the connection cannot be used any more. The pool then closes it.
  var isBroken: Bool { get }
  func close()
}

final class ConnectionPool<Connection: PooledConnection>: @unchecked Sendable {
  // Unchecked: the variables are touched only with `condition` locked.
  private let condition = Condition()
  private var idle: [Connection] = []
  /// The number of connections that are idle, in use, or being opened.
  private var count = 0
  private var isClosed = false

  private let name: String
  private let size: Int
  private let waitMilliseconds: Int64
  private let make: @Sendable () throws(StoreFailure) -> Connection

  /// - Parameters:
  ///   - name: the name of the connections, for errors.
  ///   - waitMilliseconds: how long a thread waits for a free connection.
  init(
    _ name: String, size: Int, waitMilliseconds: Int64,
    make: @escaping @Sendable () throws(StoreFailure) -> Connection
  ) {
    self.name = name
    self.size = max(1, size)
    self.waitMilliseconds = waitMilliseconds
    self.make = make
  }

  deinit { for connection in idle { connection.close() } }

  /// Returns a connection for this thread alone. Release it with ``release(_:)``.
  /// - Throws: `.unavailable` if no connection became free in time, or the pool is closed; the error of opening a connection.
  func acquire() throws(StoreFailure) -> Connection {
    if let free = try awaitSlot() { return free }
    do {
      return try make()
    } catch {
      condition.lock()
      count -= 1
      condition.wakeOne()
      condition.unlock()
      throw error
    }
  }

  func release(_ connection: Connection) {
    condition.lock()
    let isKept = !isClosed && !connection.isBroken
    if isKept { idle.append(connection) } else { count -= 1 }
    condition.wakeOne()
    condition.unlock()
    if !isKept { connection.close() }
  }

  /// Closes the idle connections, for example because their server is gone.
  func dropIdle() {
    for connection in takeIdle() { connection.close() }
  }

  /// Closes the pool and its idle connections; connections in use are closed when they are released.
  func close() {
    condition.lock()
    isClosed = true
    condition.unlock()
    dropIdle()
  }

  /// Waits for a free connection, or for room in the pool for a new connection.
  /// - Returns: a free connection; nil if the caller may open a connection, which is counted already.
  private func awaitSlot() throws(StoreFailure) -> Connection? {
    condition.lock()
    defer { condition.unlock() }
    let end = SystemClock.monotonic() + waitMilliseconds * 1_000_000
    while !isClosed {
      if let free = idle.popLast() { return free }
      if count < size {
        count += 1
        return nil
      }
      let left = end - SystemClock.monotonic()
      guard left > 0 else {
        throw .unavailable(
          "\(size == 1 ? "\(name) was" : "All \(size) of \(name) were") in use for \(waitMilliseconds) ms. "
            + "The store expected one to become free. Try again; if this lasts, the database is too slow "
            + "or has too few connections.")
      }
      condition.wait(atMost: left)
    }
    throw .unavailable("The store is closed. The program expected it to be open. Start the program again.")
  }

  private func takeIdle() -> [Connection] {
    condition.lock()
    defer { condition.unlock() }
    let free = idle
    idle = []
    count -= free.count
    condition.wakeAll()
    return free
  }
}
