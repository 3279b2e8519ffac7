// The connections of one event loop. One timer looks at all of them: a timer for each request would cost more than the request.

#if Gateway
  import NIOCore

  /// Confined to its event loop.
  final class ConnectionRoster {
    private var connections: [ObjectIdentifier: HTTPConnection] = [:]
    private(set) var isDraining = false

    func add(_ connection: HTTPConnection) { connections[ObjectIdentifier(connection)] = connection }
    func remove(_ connection: HTTPConnection) { connections[ObjectIdentifier(connection)] = nil }

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
#endif
