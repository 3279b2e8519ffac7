// The calls about resources and their authorization servers that need no client, with threads and timeouts.

public import EnrollRules
public import EnrollSteps
import EnrollPosix
import EnrollStore

/// Discovers resources and registers clients for them.
public struct Resources: Sendable {
  private let transport: any Transport
  private let allowsLoopbackHTTP: Bool
  private let caFile: String?
  private let clock: any Clock
  private let timers: TimerQueue

  /// - Parameters:
  ///   - transport: the host's transport; nil for libcurl.
  ///   - caFile: a PEM file with the authorities that libcurl trusts instead of the system's.
  ///   - clock: the host's clock; nil for the system's.
  ///   - log: gets a line for each request; nil for no log.
  public init(
    transport: (any Transport)? = nil, allowsLoopbackHTTP: Bool = false, caFile: String? = nil,
    clock: (any Clock)? = nil, log: (any LogHandler)? = nil
  ) {
    let now = clock ?? SystemClock()
    let sending: any Transport
    if let transport {
      sending = HostedTransport(transport)
    } else {
      sending = CurlTransport(.init(allowsLoopbackHTTP: allowsLoopbackHTTP, caFile: caFile))
    }
    if let log {
      self.transport = LoggedTransport(sending, log, clock: now)
    } else {
      self.transport = sending
    }
    self.allowsLoopbackHTTP = allowsLoopbackHTTP
    self.caFile = caFile
    self.clock = now
    timers = TimerQueue(clock: clock)
  }

  /// The instant that is this many seconds from now.
  public func deadline(afterSeconds seconds: Int64) -> Instant {
    clock.instant().advanced(bySeconds: seconds)
  }

  /// The authorization servers of the resource, and the features of the chosen server. Registers and stores nothing.
  /// - Parameters:
  ///   - issuer: the chosen server; nil for the first server.
  ///   - challenge: `WWW-Authenticate` of the resource, if the host has received one.
  /// - Throws: as ``ResourceDirectory/discover(_:issuer:challenge:cancellation:)``; `.cancelled`, `.deadlineExceeded`.
  public func discover(
    _ resource: String, issuer: String? = nil, challenge: String? = nil, until deadline: Instant,
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> ResourceDiscovery {
    try limits.run(until: deadline, cancellation) { (cancellation) throws(EnrollError) in
      try directory(transport).discover(
        resource, issuer: issuer, challenge: challenge, cancellation: cancellation)
    }
  }

  /// A configuration for the resource, with the app's own client, or with a client that is registered and saved in the
  /// store. If a registration was sent, its client is saved even if the answer comes after the deadline. During the
  /// first registration for a loopback redirect URI, this call keeps the URI's port open: nobody could sign in if
  /// another program took the port.
  /// - Parameter keys: the key provider of a store that is a directory.
  /// - Throws: as ``ResourceRegistrar/register(_:cancellation:preparing:)``; `.busy` when the port is taken; `.cancelled`,
  ///   `.deadlineExceeded`.
  public func register(
    _ request: ResourceRequest, store: ClientOptions.StoreChoice, keys: KeyPlan, until deadline: Instant,
    cancellation caller: (any Cancellation)?
  ) throws(EnrollError) -> ResourceClient {
    try limits.run(until: deadline, caller) { (cancellation) throws(EnrollError) in
      let opened = try store.opened(keys: keys, clock: clock, random: SystemRandomSource())
      var port: LoopbackListener?
      defer { port?.close() }
      return try ResourceRegistrar(
        directory(RegistrationTransport(transport, caller: caller)), store: opened, clock: clock,
        caFile: caFile
      ).register(request, cancellation: cancellation) { (redirectURI) throws(EnrollError) in
        if !request.holdsPort { port = try LoopbackListener.reservingPort(of: redirectURI) }
      }
    }
  }

  private func directory(_ transport: any Transport) -> ResourceDirectory {
    ResourceDirectory(
      transport: transport, userAgent: "EnrollKit/" + LibraryVersion.string, clock: clock,
      allowsLoopbackHTTP: allowsLoopbackHTTP)
  }

  private var limits: StepLimits { StepLimits(clock: clock, timers: timers) }
}
