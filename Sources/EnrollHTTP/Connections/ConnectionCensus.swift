// Counts, across all event loops, the connections (in total and by address) and the requests that are being processed.

import EnrollPosix

/// Counts connections, and compares the counts with the limits. Any thread may use it.
final class ConnectionCensus: @unchecked Sendable {
  // Unchecked: all state is touched only with `condition` locked.
  private let condition = Condition()
  private let limits: ServerLimits
  private var open = 0
  private var working = 0
  private var byAddress: [IPAddress: Int] = [:]

  init(_ limits: ServerLimits) { self.limits = limits }

  /// Counts a new connection, unless a limit is reached.
  /// - Parameter address: the client's address; nil for a trusted proxy, whose connections count only in the total.
  /// - Returns: why the connection is refused; nil if it may stay. Call ``release(_:)`` when such a connection closes.
  func admit(_ address: IPAddress?) -> Refusal? {
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

  func release(_ address: IPAddress?) {
    condition.lock()
    open -= 1
    if let address, let count = byAddress[address] { byAddress[address] = count > 1 ? count - 1 : nil }
    if open == 0 { condition.wakeAll() }
    condition.unlock()
  }

  /// Counts a request that a worker answers, or that gets its answer through a ``Responder``.
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

  /// Waits until no connection is open and no request is being processed.
  /// - Returns: false if connections or requests are left after `nanoseconds`.
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
