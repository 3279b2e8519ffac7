// A bounded set of connections that threads share: each is used by one thread at a time, made when it is first needed, and
// dropped when it is broken. A thread waits for a free one, but not for ever.

import EnrollCore
import EnrollGateway
import EnrollPosix

/// What a pool holds.
protocol PooledConnection: AnyObject {
  /// It is of no more use: the pool closes it.
  var isBroken: Bool { get }
  func close()
}

final class ConnectionPool<Connection: PooledConnection>: @unchecked Sendable {
  // Unchecked: the variables are only touched with `condition` held.
  private let condition = Condition()
  private var idle: [Connection] = []
  /// Idle, in use, or just being made.
  private var count = 0
  private var isClosed = false

  private let name: String
  private let size: Int
  private let waitMilliseconds: Int64
  private let make: @Sendable () throws(StoreFailure) -> Connection

  /// - Parameters:
  ///   - name: what the connections are, in errors.
  ///   - waitMilliseconds: how long a thread waits for a free one.
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

  /// A connection for this thread alone, which must ``give(_:)`` it back.
  /// - Throws: `.unavailable` if none became free in time, or the pool is closed; what making one throws.
  func take() throws(StoreFailure) -> Connection {
    if let free = try awaitPlace() { return free }
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

  func give(_ connection: Connection) {
    condition.lock()
    let isKept = !isClosed && !connection.isBroken
    if isKept { idle.append(connection) } else { count -= 1 }
    condition.wakeOne()
    condition.unlock()
    if !isKept { connection.close() }
  }

  /// Closes the connections that nobody uses: the server that they lead to has gone.
  func dropIdle() {
    for connection in takeIdle() { connection.close() }
  }

  /// Closes everything; connections in use are closed when they are given back.
  func close() {
    condition.lock()
    isClosed = true
    condition.unlock()
    dropIdle()
  }

  /// - Returns: a free connection; nil: there is room to make one, which is taken.
  private func awaitPlace() throws(StoreFailure) -> Connection? {
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
