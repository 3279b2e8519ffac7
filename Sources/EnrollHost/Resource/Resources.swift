// Resources and their servers, with threads and timeouts: what a face calls before there is a client.

public import EnrollCore
import EnrollPosix
import EnrollStore

/// How resources and servers are reached.
public struct Resources: Sendable {
  private let transport: any Transport
  private let allowsLoopbackHTTP: Bool
  private let caFile: String?
  private let clock: any Clock
  private let timers: TimerQueue

  /// - Parameters:
  ///   - transport: the host's own; nil for libcurl.
  ///   - caFile: for libcurl: a PEM file with the authorities to trust instead of the system's.
  ///   - clock: the host's own; nil for the system's.
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

  /// The instant that many seconds from now.
  public func deadline(afterSeconds seconds: Int64) -> Instant {
    clock.instant().advanced(bySeconds: seconds)
  }

  /// Which servers give tokens for the resource, and what the chosen one can do. Registers and stores nothing.
  /// - Parameter issuer: which of the servers; nil: the first one.
  /// - Throws: as ``ResourceDirectory/discover(_:issuer:cancellation:)``; `.cancelled`, `.deadlineExceeded`.
  public func discover(
    _ resource: String, issuer: String? = nil, until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> ResourceDiscovery {
    try bounds.run(until: deadline, cancellation) { (cancellation) throws(EnrollError) in
      try directory(transport).discover(resource, issuer: issuer, cancellation: cancellation)
    }
  }

  /// A configuration for the resource, with the app's own client, or with one that is registered and kept in the store. A
  /// registration that was sent is kept, although its answer comes after the deadline.
  /// - Parameter keys: the key provider of a store that is a directory.
  /// - Throws: as ``ResourceRegistrar/register(_:cancellation:)``; `.cancelled`, `.deadlineExceeded`.
  public func register(
    _ request: ResourceRequest, store: ClientOptions.StoreChoice, keys: KeyPlan, until deadline: Instant,
    cancellation caller: (any Cancellation)?
  ) throws(EnrollError) -> ResourceClient {
    try bounds.run(until: deadline, caller) { (cancellation) throws(EnrollError) in
      let opened = try store.opened(keys: keys, clock: clock, random: SystemRandomSource())
      return try ResourceRegistrar(
        directory(FollowedTransport(transport, caller: caller)), store: opened, clock: clock, caFile: caFile
      ).register(request, cancellation: cancellation)
    }
  }

  private func directory(_ transport: any Transport) -> ResourceDirectory {
    ResourceDirectory(
      transport: transport, userAgent: "EnrollKit/" + LibraryVersion.string, clock: clock,
      allowsLoopbackHTTP: allowsLoopbackHTTP)
  }

  private var bounds: StepBounds { StepBounds(clock: clock, timers: timers) }
}
