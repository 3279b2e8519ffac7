// The connections of one event loop. One timer looks at all of them: a timer for each request would cost more than the request.

import NIOCore

/// Confined to its event loop.
final class ConnectionRoster {
  private var connections: [ObjectIdentifier: HTTPConnection] = [:]
  private(set) var isDraining = false

  func add(_ connection: HTTPConnection) { connections[ObjectIdentifier(connection)] = connection }
  func remove(_ connection: HTTPConnection) { connections[ObjectIdentifier(connection)] = nil }

  /// Closes the connection that has been idle longest, so that another one has room.
  /// - Returns: false when none is idle.
  func closeIdlest() -> Bool {
    let idle = connections.values.compactMap { one in one.idleSince.map { (one, $0) } }
    guard let (connection, _) = idle.min(by: { $0.1 < $1.1 }) else { return false }
    connection.giveWay()
    return true
  }

  // Connections leave the roster while they are told: each of these goes through a copy.

  func tick() {
    let now = NIODeadline.now()
    for connection in connections.values { connection.tick(now) }
  }

  func drain() {
    isDraining = true
    for connection in connections.values { connection.drain() }
  }

  func abort() {
    for connection in connections.values { connection.abort() }
  }
}
