// The sandbox as an HTTP server.

import EnrollHTTP

/// A local OpenID provider for demos and tests. It listens only on 127.0.0.1.
public actor Sandbox {
  /// Another program listens on the port.
  public struct PortIsTaken: Error {}

  /// The provider of this server: faults, keys, counters, sessions.
  public nonisolated let provider: Provider
  private var server: HTTPServer?

  /// - Parameter port: with 0, the system chooses a port.
  public init(port: UInt16 = 0, _ options: SandboxOptions = SandboxOptions()) throws {
    var options = options
    if port != 0 { options.port = port }
    provider = try Provider(options)
  }

  /// Starts the server and returns its address, `http://127.0.0.1:PORT`, which is also the issuer.
  /// - Throws: ``PortIsTaken``, or another error whose description says what happened.
  public func start() async throws -> String {
    do {
      let server = try ProviderServer.start(provider, port: provider.options.port)
      self.server = server
      return await provider.listens(at: "http://127.0.0.1:\(server.port)")
    } catch {
      throw error.isPortTaken ? PortIsTaken() : error
    }
  }

  /// Closes the port and every connection.
  public func stop() {
    server?.stop(withinSeconds: 0)
    server = nil
  }
}

extension Provider {
  fileprivate func listens(at address: String) -> String {
    issuer = address
    return address
  }
}
