// The connections of one event loop. One timer checks all of them: a timer for each request would cost more than the request.

/// A list of connections, confined to its event loop.
final class ConnectionRoster {
  private var connections: [Connection] = []
  private(set) var isDraining = false

  var count: Int { connections.count }

  func add(_ connection: Connection) {
    connection.index = connections.count
    connections.append(connection)
  }

  /// Removes a connection. The last connection of the list moves to the place that becomes free.
  func remove(_ connection: Connection) {
    let last = connections.removeLast()
    guard last !== connection else { return }
    connections[connection.index] = last
    last.index = connection.index
  }

  /// Calls `body` for each connection of a copy of the list, because a call may remove connections from the list.
  func forEach(_ body: (Connection) -> Void) {
    for connection in connections { body(connection) }
  }

  /// Closes the connection that has been idle longest, to make room for another.
  /// - Returns: false if no connection is idle.
  func closeIdlest() -> Bool {
    var idlest: (connection: Connection, since: Int64)?
    for connection in connections {
      guard let since = connection.idleSince, since < idlest?.since ?? .max else { continue }
      idlest = (connection, since)
    }
    idlest?.connection.close()
    return idlest != nil
  }

  func drain() {
    isDraining = true
    forEach { $0.drain() }
  }
}
