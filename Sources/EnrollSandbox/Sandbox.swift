// The sandbox as a server, on FlyingFox. Compiled with the trait `Sandbox` only: whoever depends on the library alone
// neither fetches nor builds it.

import FlyingFox
import FlyingSocks
import Foundation

/// A local OpenID provider for demos and tests. Listens on 127.0.0.1 alone.
public actor Sandbox {
  /// Another program listens at the port.
  public struct PortIsTaken: Error {}

  /// The provider behind it: faults, keys, counters, sessions.
  public nonisolated let provider: Provider
  private var server: HTTPServer?
  private var running: Task<Void, any Error>?

  /// - Parameter port: 0: the system chooses.
  public init(port: UInt16 = 0, _ options: SandboxOptions = SandboxOptions()) throws {
    var options = options
    if port != 0 { options.port = port }
    provider = try Provider(options)
  }

  /// Listens, and says where: `http://127.0.0.1:PORT`, which is the issuer as well.
  /// - Throws: ``PortIsTaken``; errors of the system for other causes.
  public func start() async throws -> String {
    let provider = provider
    let configuration = HTTPServer.Configuration(
      address: try .inet(ip4: "127.0.0.1", port: provider.options.port), timeout: 660,
      pool: PromptSockets(pool: HTTPServer.defaultPool()), logger: .disabled)
    let server = HTTPServer(config: configuration, handler: ProviderHandler(provider: provider))
    // A failure ends the wait at once; the limit is for a machine whose threads are all busy.
    let listening = Task { try await server.waitUntilListening(timeout: 600) }
    let running = Task {
      do {
        try await server.run()
      } catch {
        listening.cancel()
        throw error
      }
    }
    do {
      try await listening.value
    } catch {
      running.cancel()
      // Says why there is no port; the wait only knows that it was given up.
      do { try await running.value } catch SocketError.failed(_, EADDRINUSE, _) { throw PortIsTaken() }
      throw error
    }
    guard case .ip4(_, let port)? = await server.listeningAddress else { throw SocketError.disconnected }
    self.server = server
    self.running = running
    return await provider.listens(at: "http://127.0.0.1:\(port)")
  }

  /// Closes the port and every connection.
  public func stop() async {
    await server?.stop()
    running?.cancel()
    server = nil
    running = nil
  }
}

extension Provider {
  fileprivate func listens(at address: String) -> String {
    issuer = address
    return address
  }
}

/// Another pool whose sockets send at once. Sockets that the listening one accepts inherit its setting. FlyingFox writes
/// an answer's head and body apart. With Nagle's algorithm the body then waits for the client to acknowledge the head,
/// which costs 40 ms on a connection in use; so it is switched off.
struct PromptSockets<Pool: AsyncSocketPool>: AsyncSocketPool {
  let pool: Pool

  func prepare() async throws { try await pool.prepare() }
  func run() async throws { try await pool.run() }

  func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
    try? socket.setValue(true, for: BoolSocketOption(level: Int32(IPPROTO_TCP), name: TCP_NODELAY))
    try await pool.suspendSocket(socket, untilReadyFor: events)
  }
}
