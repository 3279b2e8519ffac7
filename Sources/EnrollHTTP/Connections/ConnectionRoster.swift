// The connections of one event loop. One timer looks at all of them: a timer for each request would cost more than the request.

/// Confined to its event loop.
final class ConnectionRoster {
  private var connections: [Connection] = []
  private(set) var isDraining = false

  var count: Int { connections.count }

  func add(_ connection: Connection) {
    connection.place = connections.count
    connections.append(connection)
  }

  /// The last one takes its place.
  func remove(_ connection: Connection) {
    let last = connections.removeLast()
    guard last !== connection else { return }
    connections[connection.place] = last
    last.place = connection.place
  }

  /// Through a copy: connections leave while they are told.
  func forEach(_ body: (Connection) -> Void) {
    for connection in connections { body(connection) }
  }

  /// Closes the connection that has been idle longest, so that another one has room.
  /// - Returns: false when none is idle.
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
