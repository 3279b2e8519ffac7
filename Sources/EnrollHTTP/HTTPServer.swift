// The HTTP server: HTTP/1.0 and HTTP/1.1 without TLS (a load balancer terminates TLS), on the event loop of libevent.
// It parses strictly (RFC 9112), answers requests on bounded thread pools or asynchronously, and, when it is stopped,
// first finishes the requests that have begun.

import EnrollSteps
import EnrollPosix

/// A server that listens from `start` to ``stop(withinSeconds:)``.
public final class HTTPServer: Sendable {
  /// The port on which the server listens.
  public let port: Int

  private let shared: ServerContext
  private let loops: [EventLoop]

  /// Whether the timer of each loop runs; for tests.
  var ticking: [Bool] {
    loops.map { loop in
      let isTicking = Guarded(false, by: Mutex())
      loop.run { isTicking.withLock { $0 = loop.isTicking } }
      return isTicking.withLock { $0 }
    }
  }

  private init(_ shared: ServerContext, _ loops: [EventLoop], port: Int) {
    self.shared = shared
    self.loops = loops
    self.port = port
  }

  /// Listens on the addresses of the settings and answers requests through `application`. Call
  /// `TerminationSignals.prepare()` first, because the server starts threads.
  /// - Throws: ``ServerError`` for an invalid setting, for an address on which the server cannot listen, and if the
  ///   system gives no thread or descriptor.
  public static func start(
    _ settings: ServerSettings, _ application: any WebApplication
  ) throws(ServerError) -> HTTPServer {
    try start(settings, .lanes(application))
  }

  /// Listens for requests that the application answers later. The server calls `begin` on the event loop. `begin` must
  /// not wait; it passes the responder to the code that answers.
  /// - Throws: ``ServerError`` as the other `start` methods.
  public static func start(
    _ settings: ServerSettings, responding begin: @escaping @Sendable (WebRequest, Responder) -> Void
  ) throws(ServerError) -> HTTPServer {
    try start(settings, .later(begin))
  }

  /// Listens, and answers each request in a separate task, for example through an actor.
  /// - Throws: ``ServerError`` as the other `start` methods.
  public static func start(
    _ settings: ServerSettings, answering answer: @escaping @Sendable (WebRequest) async -> WebResponse
  ) throws(ServerError) -> HTTPServer {
    try start(settings, .later { request, responder in Task { responder.send(await answer(request)) } })
  }

  private static func start(
    _ settings: ServerSettings, _ answering: ServerContext.Answering
  ) throws(ServerError) -> HTTPServer {
    let shared = ServerContext(settings, proxies: TrustedProxies(try networks(settings)), answering)
    var loops: [EventLoop] = []
    do throws(ServerError) {
      for _ in 0..<max(1, settings.eventLoops) { loops.append(try EventLoop(shared)) }
      let port = try listen(settings, on: loops)
      for loop in loops { try loop.start() }
      return HTTPServer(shared, loops, port: port)
    } catch {
      for loop in loops { loop.end() }
      throw error
    }
  }

  /// - Returns: the port that all addresses share.
  private static func listen(_ settings: ServerSettings, on loops: [EventLoop]) throws(ServerError) -> Int {
    var port = settings.port
    for address in settings.addresses {
      do throws(ServerError) {
        let listener = try Listener(address, port: port, on: loops[0], handingTo: loops)
        loops[0].add(listener)
        port = listener.port
      } catch {
        var error = error
        error.description =
          "The server cannot listen on \(settings.addresses.joined(separator: ", ")), port "
          + "\(settings.port): \(error.description). Name addresses of this machine in numbers, and a free port."
        throw error
      }
    }
    return port
  }

  /// Checks the settings without listening.
  /// - Throws: ``ServerError`` for a setting with which the server cannot start on any machine.
  public static func check(_ settings: ServerSettings) throws(ServerError) { _ = try networks(settings) }

  /// Whether a numeric address is a loopback address.
  public static func isLoopback(_ address: String) -> Bool { IPAddress(address)?.isLoopback ?? false }

  /// - Returns: the networks of the trusted proxies.
  ///
  /// - Throws: ``ServerError`` if any of the settings is invalid.
  private static func networks(_ settings: ServerSettings) throws(ServerError) -> [IPAddress.Network] {
    guard settings.publicOrigin == nil || settings.publicAuthority != nil else {
      throw ServerError(
        setting: .publicOrigin,
        description:
          "The public origin is not proper. The server expects http:// or https://, a host, and nothing "
          + "behind it. Write it as in https://login.example.com.")
    }
    guard !settings.addresses.isEmpty, settings.addresses.allSatisfy({ IPAddress($0) != nil }),
      (0...65_535).contains(settings.port)
    else {
      throw ServerError(
        setting: .addresses,
        description:
          "There is no address to listen on, or one that is not in numbers, or the port is not from 0 to "
          + "65535. Name an address of this machine and a port, as in 127.0.0.1:8080.")
    }
    var networks: [IPAddress.Network] = []
    for text in settings.trustedProxies {
      guard let network = IPAddress.Network(text) else {
        throw ServerError(
          setting: .trustedProxies,
          description:
            "A trusted proxy is no address. The server expects addresses or networks, as 10.0.0.0/8. "
            + "Write each in numbers.")
      }
      networks.append(network)
    }
    return networks
  }

  /// The current reading of the counters.
  public var metrics: ServerMetrics {
    var metrics = shared.counters.reading
    (metrics.connectionsOpen, metrics.requestsInWork) = shared.census.current
    metrics.database = shared.database.load
    metrics.provider = shared.provider.load
    return metrics
  }

  /// Stops the server: it accepts no more connections, closes idle connections, finishes the requests that have begun, and
  /// closes the remaining connections after `seconds`. The call blocks its thread until all connections are closed; do
  /// not make this call while answering a request. A second call does nothing.
  /// - Returns: false if requests were not finished after `seconds`; their answers are dropped.
  @discardableResult
  public func stop(withinSeconds seconds: Int64 = 20) -> Bool {
    guard shared.beginStopping() else { return true }
    loops[0].run { [loops] in loops[0].stopListening() }
    for loop in loops { loop.run { loop.roster.drain() } }
    let isEmpty = shared.census.waitUntilEmpty(nanoseconds: min(max(seconds, 0), 86_400) * 1_000_000_000)
    for loop in loops {
      loop.run { loop.roster.forEach { $0.close() } }
      loop.end()
    }
    // A pool that still works on a request is not drained: waiting for its threads could take for ever.
    guard isEmpty || shared.census.current.working == 0 else { return false }
    shared.database.drain()
    shared.provider.drain()
    return true
  }
}
