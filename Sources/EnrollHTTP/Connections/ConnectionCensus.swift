// How many connections there are, in all and by address, on all event loops together.

import EnrollPosix

/// Counts connections against their limits; any thread may ask.
final class ConnectionCensus: @unchecked Sendable {
  // Unchecked: all state is only touched with `condition` held.
  private let condition = Condition()
  private let limits: ServerLimits
  private var open = 0
  private var working = 0
  private var byAddress: [IPAddress: Int] = [:]

  init(_ limits: ServerLimits) { self.limits = limits }

  /// - Parameter address: nil for a connection that counts only in all: a trusted proxy's.
  /// - Returns: nil when the connection may stay; it is then to be told by ``leave(_:)``.
  func enter(_ address: IPAddress?) -> Refusal? {
    condition.lock()
    defer { condition.unlock() }
    guard open < limits.connections else { return .tooManyConnections }
    if let address {
      let others = byAddress[address] ?? 0
      guard others < limits.connectionsPerAddress else { return .tooManyFromAddress }
      byAddress[address] = others + 1
    }
    open += 1
    return nil
  }

  func leave(_ address: IPAddress?) {
    condition.lock()
    open -= 1
    if let address, let count = byAddress[address] { byAddress[address] = count > 1 ? count - 1 : nil }
    if open == 0 { condition.wakeAll() }
    condition.unlock()
  }

  /// A request goes to a worker, or is answered later.
  func beginWork() {
    condition.lock()
    working += 1
    condition.unlock()
  }

  func endWork() {
    condition.lock()
    working -= 1
    if working == 0 { condition.wakeAll() }
    condition.unlock()
  }

  var current: (open: Int, working: Int) {
    condition.lock()
    defer { condition.unlock() }
    return (open, working)
  }

  /// Waits until no connection is open and no request is in work.
  /// - Returns: false when there still are some after `nanoseconds`.
  func waitUntilEmpty(nanoseconds: Int64) -> Bool {
    let end = SystemClock.monotonic().addingReportingOverflow(max(nanoseconds, 0)).partialValue
    condition.lock()
    defer { condition.unlock() }
    while open > 0 || working > 0 {
      let left = end &- SystemClock.monotonic()
      guard left > 0 else { return false }
      condition.wait(atMost: left)
    }
    return true
  }
}
