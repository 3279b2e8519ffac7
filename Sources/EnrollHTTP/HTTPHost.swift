// The HTTP server: HTTP/1.0 and HTTP/1.1 without TLS (a load balancer in front has that), on SwiftNIO. It reads strictly
// (RFC 9112), has requests answered by bounded threads, and stops without losing a request in work.

public import EnrollGateway
import EnrollHost
import EnrollPosix
import NIOCore
import NIOHTTP1
import NIOPosix

/// A server that listens from ``start(_:_:)`` to ``stop(withinSeconds:)``.
public final class HTTPHost: Sendable {
  /// The port that it listens on.
  public let port: Int

  private let shared: HostContext
  private let group: MultiThreadedEventLoopGroup
  private let loops: HostLoops
  private let listeners: [any Channel]

  private init(
    _ shared: HostContext, _ group: MultiThreadedEventLoopGroup, _ loops: HostLoops,
    _ listeners: [any Channel], _ port: Int
  ) {
    self.shared = shared
    self.group = group
    self.loops = loops
    self.listeners = listeners
    self.port = port
  }

  /// Listens, and answers by `application` from then on. Call `EndingSignals.prepare()` before: the host starts threads.
  /// - Throws: ``HostError`` for an option that is not proper, and for an address that cannot be listened on.
  public static func start(
    _ options: HostOptions, _ application: any WebApplication
  ) throws(HostError) -> HTTPHost {
    let shared = try context(options, application)
    let group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, options.eventLoops))
    var listeners: [any Channel] = []
    do {
      let loops = try HostLoops(group, options.limits)
      var port = options.port
      for address in options.addresses {
        let listener = try bootstrap(group, loops, shared).bind(
          to: SocketAddress(ipAddress: address, port: port)
        ).wait()
        listeners.append(listener)
        port = listener.localAddress?.port ?? port
      }
      return HTTPHost(shared, group, loops, listeners, port)
    } catch {
      for listener in listeners { listener.close(promise: nil) }
      group.shutdownGracefully { _ in }
      throw HostError(
        setting: .addresses,
        description: "The gateway cannot listen on \(options.addresses.joined(separator: ", ")), port "
          + "\(options.port): \(error). Name addresses of this machine in numbers, and a free port.")
    }
  }

  private static func context(
    _ options: HostOptions, _ application: any WebApplication
  ) throws(HostError) -> HostContext {
    HostContext(options, proxies: TrustedProxies(try networks(options)), application: application)
  }

  /// Looks at the options without listening.
  /// - Throws: ``HostError`` for an option with which ``start(_:_:)`` would not start on any machine.
  public static func check(_ options: HostOptions) throws(HostError) { _ = try networks(options) }

  /// Whether an address, in numbers, is one of this machine alone.
  public static func isLoopback(_ address: String) -> Bool { IPAddress(address)?.isLoopback ?? false }

  /// - Returns: the trusted proxies, when all else is proper, too.
  private static func networks(_ options: HostOptions) throws(HostError) -> [IPAddress.Network] {
    guard options.publicAuthority != nil else {
      throw HostError(
        setting: .publicOrigin,
        description:
          "The public origin is not proper. The gateway expects http:// or https://, a host, and nothing "
          + "behind it. Write it as in https://login.example.com.")
    }
    guard !options.addresses.isEmpty, options.addresses.allSatisfy({ IPAddress($0) != nil }),
      (0...65_535).contains(options.port)
    else {
      throw HostError(
        setting: .addresses,
        description:
          "There is no address to listen on, or one that is not in numbers, or the port is not from 0 to 65535. Name an "
          + "address of this machine and a port, as in 127.0.0.1:8080.")
    }
    var networks: [IPAddress.Network] = []
    for text in options.trustedProxies {
      guard let network = IPAddress.Network(text) else {
        throw HostError(
          setting: .trustedProxies,
          description:
            "A trusted proxy is no address. The gateway expects addresses or networks, as 10.0.0.0/8. "
            + "Write each in numbers.")
      }
      networks.append(network)
    }
    return networks
  }

  private static func bootstrap(
    _ group: MultiThreadedEventLoopGroup, _ loops: HostLoops, _ shared: HostContext
  ) -> ServerBootstrap {
    ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 1_024)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      // After each read the framer decides whether to read on.
      .childChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try admit(channel, loops, shared) }
      }
  }

  /// Makes the handlers of a new connection; an error closes it.
  private static func admit(_ channel: any Channel, _ loops: HostLoops, _ shared: HostContext) throws {
    shared.counters.acceptedConnection()
    let address = channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) }
    let counted = address.flatMap { shared.proxies.contains($0) ? nil : $0 }
    guard let roster = loops.roster(of: channel.eventLoop), !roster.isDraining else {
      throw ChannelError.ioOnClosedChannel
    }
    var refusal = shared.census.enter(counted)
    if refusal == .tooManyConnections, shared.limits.newestWins, roster.closeIdlest() {
      refusal = shared.census.enter(counted, replacing: true)
    }
    if let refusal {
      shared.counters.refused(refusal)
      throw ChannelError.ioOnClosedChannel
    }
    channel.closeFuture.whenComplete { _ in shared.census.leave(counted) }
    let connection = HTTPConnection(shared, roster, address)
    var parserLimits = NIOHTTPDecoderLimitConfiguration()
    parserLimits.maxHeaderFieldSize = max(shared.limits.headerBytes, shared.limits.targetBytes)
    parserLimits.maxHeaderListSize =
      shared.limits.headerBytes + shared.limits.targetBytes + shared.limits.trailerBytes
    parserLimits.maxHeaderFieldCount = shared.limits.headerCount
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(RequestFramer(shared.limits, connection))
    try pipeline.addHandler(ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: parserLimits)))
    try pipeline.addHandler(connection)
  }

  /// The counters now.
  public var metrics: HostMetrics {
    var metrics = shared.counters.reading
    (metrics.connectionsOpen, metrics.requestsInWork) = shared.census.current
    metrics.database = shared.database.load
    metrics.provider = shared.provider.load
    return metrics
  }

  /// Stops: accepts no more connections, closes those that are idle, lets requests that have begun end, and closes the
  /// rest when the time is over. Returns when all is closed. Not to be called by a request. A second call does nothing.
  /// - Returns: false when requests were still in work at the end of the time; their threads are left to themselves.
  @discardableResult
  public func stop(withinSeconds seconds: Int64 = 20) -> Bool {
    if shared.drains.isCancelled { return true }
    for listener in listeners { try? listener.close().wait() }
    shared.drains.cancel()
    loops.forEach { $0.drain() }
    let nanoseconds = min(max(seconds, 0), 86_400) * 1_000_000_000
    var isEmpty = shared.census.waitUntilEmpty(nanoseconds: nanoseconds)
    if !isEmpty {
      loops.forEach { $0.abort() }
      isEmpty = shared.census.waitUntilEmpty(nanoseconds: 1_000_000_000)
    }
    loops.end()
    // A worker that still has a request would wake a loop that is gone.
    guard isEmpty else { return false }
    shared.database.drain()
    shared.provider.drain()
    try? group.syncShutdownGracefully()
    return true
  }
}
