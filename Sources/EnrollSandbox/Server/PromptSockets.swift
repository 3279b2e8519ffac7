// FlyingFox writes an answer's head and body apart. With Nagle's algorithm the body then waits for the client to
// acknowledge the head, which costs 40 ms on a connection in use; so it is switched off.

#if Sandbox
  import FlyingSocks
  import Foundation

  /// Another pool whose sockets send at once. Sockets that the listening one accepts inherit its setting.
  struct PromptSockets<Pool: AsyncSocketPool>: AsyncSocketPool {
    let pool: Pool

    func prepare() async throws { try await pool.prepare() }
    func run() async throws { try await pool.run() }

    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
      try? socket.setValue(true, for: BoolSocketOption(level: Int32(IPPROTO_TCP), name: TCP_NODELAY))
      try await pool.suspendSocket(socket, untilReadyFor: events)
    }
  }
#endif
