// The HTTP server: HTTP/1.0 and HTTP/1.1 without TLS (a load balancer in front has that), on the event loop of libevent. It reads
// strictly (RFC 9112), has requests answered by bounded threads or later, and stops without losing a request in work.

import EnrollCore
import EnrollPosix

/// A server that listens from `start` to ``stop(withinSeconds:)``.
public final class HTTPServer: Sendable {
  /// The port that it listens on.
  public let port: Int

  private let shared: ServerContext
  private let loops: [EventLoop]

  /// Whether each loop looks at the time now and then; for tests.
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

  /// Listens, and answers by `application` from then on. Call `EndingSignals.prepare()` before: the server starts threads.
  /// - Throws: ``ServerError`` for a setting that is not proper, for an address that cannot be listened on, and where the system gives
  ///   no thread or descriptor.
  public static func start(
    _ settings: ServerSettings, _ application: any WebApplication
  ) throws(ServerError) -> HTTPServer {
    try start(settings, .lanes(application))
  }

  /// Listens, and has each request answered later: `begin` is called on the event loop, must not wait, and hands the responder on.
  /// - Throws: as the others.
  public static func start(
    _ settings: ServerSettings, responding begin: @escaping @Sendable (WebRequest, Responder) -> Void
  ) throws(ServerError) -> HTTPServer {
    try start(settings, .later(begin))
  }

  /// Listens, and has each request answered by a task of its own: by an actor, say.
  /// - Throws: as the others.
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

  /// - Returns: the port of all addresses.
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

  /// Looks at the settings without listening.
  /// - Throws: ``ServerError`` for a setting with which no server would start on any machine.
  public static func check(_ settings: ServerSettings) throws(ServerError) { _ = try networks(settings) }

  /// Whether an address, in numbers, is one of this machine alone.
  public static func isLoopback(_ address: String) -> Bool { IPAddress(address)?.isLoopback ?? false }

  /// - Returns: the trusted proxies, when all else is proper, too.
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

  /// The counters now.
  public var metrics: ServerMetrics {
    var metrics = shared.counters.reading
    (metrics.connectionsOpen, metrics.requestsInWork) = shared.census.current
    metrics.database = shared.database.load
    metrics.provider = shared.provider.load
    return metrics
  }

  /// Stops: accepts no more connections, closes those that are idle, lets requests that have begun end, and closes the
  /// rest when the time is over. Returns when all is closed, and holds its thread until then. Not to be called by a request. A second
  /// call does nothing.
  /// - Returns: false when requests were still in work at the end of the time; what they answer is dropped.
  @discardableResult
  public func stop(withinSeconds seconds: Int64 = 20) -> Bool {
    guard shared.drain() else { return true }
    loops[0].run { [loops] in loops[0].stopListening() }
    for loop in loops { loop.run { loop.roster.drain() } }
    let isEmpty = shared.census.waitUntilEmpty(nanoseconds: min(max(seconds, 0), 86_400) * 1_000_000_000)
    for loop in loops {
      loop.run { loop.roster.forEach { $0.close() } }
      loop.end()
    }
    // The threads of a pool with a request in work are left to themselves.
    guard isEmpty || shared.census.current.working == 0 else { return false }
    shared.database.drain()
    shared.provider.drain()
    return true
  }
}
