// The client that every interface uses, for one account with one configuration. It adds threads, deadlines and loopback
// redirects to the engine.

public import EnrollRules
public import EnrollSteps
import EnrollCrypto
import EnrollPosix
import EnrollStore

/// One account's client. Any method may be called from any thread. Calls that may use the network have a deadline and a
/// cancellation. Both end the caller's wait, but never a request whose answer must not be lost. This type is a class,
/// because the host's threads share it.
public final class Client: Sendable {
  public let configuration: Configuration
  public let account: AccountName
  let engine: Engine
  let clock: any Clock
  let hub = EventHub()
  let pool: WorkerPool
  let timers: TimerQueue
  let renewals: RenewalCoordinator<RenewalRun>
  let outbox: OutboxSender
  let tokens: TokenCache
  let settlements = Guarded(Settlements(), by: Mutex())
  let loopbacks = Guarded(LoopbackRedirects(), by: Mutex())
  /// The threads for listeners, and for steps that got no thread from the pool.
  let threads = ThreadGroup()
  private let log: (any LogHandler)?
  let location: UnsavedTokens.Location
  /// The running renewal, once it has reported its progress; nil if no renewal is running.
  let runningRenewal: Guarded<RunningRenewal?>
  /// A function that receives the progress of the running renewal.
  let renewalWatcher = Guarded<(@Sendable (CallTimeout.Progress) -> Void)?>(nil, by: Mutex())
  /// Runs steps in separate processes; nil if this process runs every step itself.
  let detached: DetachedSteps?
  let lastSignOut = Guarded<SignOut?>(nil, by: Mutex())
  let devicePolls = Guarded(DevicePolls(), by: Mutex())
  /// The path of the store; nil if the store is not a directory.
  let storePath: String?
  let storeKeys: KeyPlan
  private let background: BackgroundRenewal
  private let backgroundTicket: Int
  private let fork = ForkGuard()
  /// The library's own transport; nil if the host sends the requests.
  let ownTransport: CurlTransport?
  let phases: ClosingPhases
  var closing: CancellationFlag { phases.closing }
  private let readiness: Guarded<Readiness>

  private struct Readiness {
    var isPlatformReady: Bool
    var isClosed = false
  }

  struct RunningRenewal: Sendable {
    let audience: TokenAudience?
    let progress: CallTimeout.Progress
  }

  /// One run of the renewal, for all callers that joined it. This type is a class, because these callers share the
  /// answers that are read from the store after the run.
  final class RenewalRun: Sendable {
    let result: Result<RenewalResult, EnrollError>
    private let answers = Guarded<[Int64: Result<AccessOutcome, EnrollError>]>([:], by: Mutex())

    init(_ result: Result<RenewalResult, EnrollError>) { self.result = result }

    /// The answer for callers that require this minimum lifetime of the token. The first of these callers reads the
    /// store for all of them, because hundreds may be waiting.
    func answer(
      _ minimumLifetimeSeconds: Int64, _ read: () -> Result<AccessOutcome, EnrollError>
    ) -> Result<AccessOutcome, EnrollError> {
      answers.withLock { answers in
        if let known = answers[minimumLifetimeSeconds] { return known }
        let answer = read()
        answers[minimumLifetimeSeconds] = answer
        return answer
      }
    }
  }

  /// Opens a client with these options.
  /// - Throws: `.storeRefused`, `.storeIO` and related errors if the store cannot be used.
  public convenience init(_ options: ClientOptions) throws(EnrollError) {
    let clock = options.clock ?? SystemClock()
    let random = options.random ?? SystemRandomSource()
    let store = try options.store.opened(keys: options.keys, clock: clock, random: random)
    self.init(options, store: store, clock: clock, random: random)
  }

  private init(
    _ options: ClientOptions, store: any TokenStore, clock: any Clock, random: any RandomSource
  ) {
    configuration = options.configuration
    account = options.account.belonging(to: configuration)
    if case .directory(let path) = options.store { storePath = path } else { storePath = nil }
    storeKeys = options.keys
    self.clock = clock
    // Idle threads end soon, because there may be hundreds of clients.
    pool = WorkerPool(idleSeconds: 1)
    timers = TimerQueue(clock: options.clock)
    readiness = Guarded(Readiness(isPlatformReady: options.isPlatformReady), by: Mutex())
    tokens = TokenCache(clock: clock, graceSeconds: configuration.graceSeconds)
    let phases = ClosingPhases()
    self.phases = phases
    log = options.log
    let location = UnsavedTokens.Location(store: store, path: storePath, account: account)
    self.location = location
    let running = Guarded<RunningRenewal?>(nil, by: Mutex())
    runningRenewal = running
    let detached = options.stepProcesses.map { DetachedSteps($0, abandoned: phases.abandoned) }
    self.detached = detached
    let ownTransport: CurlTransport?
    let transport: any Transport
    if let host = options.transport {
      (ownTransport, transport) = (nil, HostedTransport(host))
    } else {
      let own = CurlTransport(
        .init(
          allowsLoopbackHTTP: options.configuration.allowsLoopbackHTTP,
          caFile: options.configuration.caFile))
      (ownTransport, transport) = (own, own)
    }
    self.ownTransport = ownTransport
    let engine = Engine(
      configuration: configuration, account: account, platform: options.platform,
      transport: ClosingTransport(Self.logged(transport, options, clock), phases),
      hasOwnTransport: options.transport != nil, userAgent: "EnrollKit/\(LibraryVersion.string)",
      store: store,
      clock: clock, random: random, observer: hub,
      clientKey: ClientKeyFile.reader(configuration.clientKey),
      closing: phases.closing, exclusion: { Mutex() })
    self.engine = engine
    let outbox = OutboxSender(engine, pool: pool, timers: timers, clock: clock, phases)
    self.outbox = outbox
    // This observer is added first: an observer that requests a token after `tokensRenewed` must not get the old token.
    _ = hub.add(CacheInvalidator(tokens))
    if let log = options.log {
      _ = hub.add(EventLog(log))
      if let warning = configuration.redirectWarning { log.write(.warning, warning) }
    }
    renewals = RenewalCoordinator(pool: pool, timers: timers, clock: clock) {
      [tokens, pool, renewalWatcher] request in
      let audience = request.audience
      defer {
        tokens.forget()
        running.withLock { $0 = nil }
        if phases.closing.isCancelled { UnsavedTokens.shared.add(engine, at: location) }
      }
      let notice: @Sendable (CallTimeout.Progress) -> Void = { progress in
        running.withLock { $0 = RunningRenewal(audience: audience, progress: progress) }
        renewalWatcher.withLock { $0 }?(progress)
      }
      do throws(EnrollError) {
        if let result = try detached?.renew(request, waitCancellation: phases.closing, onProgress: notice) {
          try engine.renewalReports.learn(result, for: audience)
          return RenewalRun(.success(result))
        }
        // Loads libcurl while the renewal saves its intent.
        ownTransport?.prepare()
        // Closing the client can end these steps until the request is sent.
        let result = try CallTimeout.until(cancellation: phases.closing, onProgress: notice) {
          () throws(EnrollError) in
          try UnsavedTokens.shared.save(for: location)
          return try engine.renewal.renew(epochs: request.epochs, forced: request.isForced, for: audience)
        }
        // Callers that wait for the tokens do not wait for this check.
        if result == .renewed {
          _ = pool.submit { engine.registration.checkIfNeeded(cancellation: outbox.ending) }
        }
        outbox.send()
        return RenewalRun(.success(result))
      } catch {
        return RenewalRun(.failure(error))
      }
    }
    background = BackgroundRenewal(
      engine, clock: clock, timers: timers, renewsAhead: options.renewsInBackground,
      jitter: (try? random.bytes(1).first) ?? 0
    ) { [renewals] epoch, audience, ended in
      let request = RenewalRequest(audience: audience, epochs: [epoch])
      renewals.join(request, deadline: .distantFuture) { _ in ended() }
    }
    backgroundTicket = hub.add(background)
    if options.renewsInBackground { background.start() }
  }

  private static func logged(
    _ transport: any Transport, _ options: ClientOptions, _ clock: any Clock
  ) -> any Transport {
    guard let log = options.log else { return transport }
    return LoggedTransport(transport, log, clock: clock)
  }

  deinit {
    stopBackground()
    if !fork.isForkedChild { UnsavedTokens.shared.add(engine, at: location) }
  }

  /// Stops background work, and removes the renewal observer from the hub: until this removal, the client and the hub
  /// reference each other.
  private func stopBackground() {
    hub.remove(backgroundTicket)
    background.stop()
    outbox.stop()
  }

  private final class CacheInvalidator: EngineObserver {
    private let tokens: TokenCache
    init(_ tokens: TokenCache) { self.tokens = tokens }
    func observe(_ notification: EnrollEvent) { tokens.forget() }
  }

  /// Closes the client: loopback listeners close, running calls end (``untilClosed(_:_:)``), later calls throw
  /// `.handle`. Further calls have no effect. Running requests end now or within two seconds. Only a request that sent
  /// a code or a refresh token continues until its answer, up to the transport's timeout.
  public func close() {
    let isFirst = readiness.withLock { readiness -> Bool in
      defer { readiness.isClosed = true }
      return !readiness.isClosed
    }
    guard isFirst else { return }
    closing.cancel()
    phases.startGracePeriod(isBusy: isSending)
    stopBackground()
    for cancellation in loopbacks.withLock({ $0.removeAll() }) { cancellation.cancel() }
    tokens.forget()
    hub.announceChange()
    UnsavedTokens.shared.add(engine, at: location)
  }

  /// Returns once the answers to all renewals and codes that were sent have arrived and are stored (R39). If the disk
  /// refuses an answer, the call waits until 30 seconds after the closing. Close the client first. Do not call this
  /// from a completion or an observer.
  /// - Parameter keepsTrying: whether this process keeps trying to store the tokens until it ends.
  public func drain(keepsTrying: Bool = true) {
    phases.startGraceTimer(isBusy: isSending)
    threads.wait()
    background.drain()
    renewals.drain()
    pool.drain()
    phases.cancelGraceTimer()
    guard engine.renewedTokens.hasUnsaved else { return }
    UnsavedTokens.shared.add(engine, at: location)
    guard !UnsavedTokens.shared.wait(for: engine, until: phases.latest, phases.abandoned) else { return }
    log?.write(
      .error,
      "the provider renewed the tokens, and the store refused them: the user has to sign in again if this process ends before"
        + " the store can be written")
    if !keepsTrying { UnsavedTokens.shared.discard(engine) }
  }

  /// Ends the requests that sent a code or a refresh token, and the wait for a disk that refuses tokens, so
  /// that ``drain(keepsTrying:)`` returns soon. The tokens of these requests may be lost.
  public func cancelLastRequests() { phases.abandoned.cancel() }

  /// Whether a thread of the client may be sending a request.
  private var isSending: Bool { threads.isBusy || pool.load.threads > 0 }

  var isClosed: Bool { readiness.withLock { $0.isClosed } }

  /// Checks that the client can be used.
  /// - Throws: `.forked` in a child of fork(), `.handle` after ``close()``.
  func requireOpen() throws(EnrollError) {
    try fork.check()
    guard !isClosed else { throw EnrollError(.handle, "the client was closed") }
  }

  /// The state that this process knows, without reading the store.
  public var lastKnownState: RegistrationState { engine.state }

  /// Runs a blocking job on a thread of this client. The job is never queued behind another job, because the other job
  /// might wait for this one.
  /// - Returns: false if no thread could be started. The job then does not run.
  public func perform(_ job: @escaping @Sendable () -> Void) -> Bool {
    pool.submitNow(job) || threads.start(job)
  }

  /// The instant that is this many seconds from now.
  public func deadline(afterSeconds seconds: Int64) -> Instant {
    clock.instant().advanced(bySeconds: seconds)
  }

  /// Reports that the host's platform can open a browser (Cordova's `deviceready`). Calls that waited for the platform
  /// continue.
  public func platformReady() {
    readiness.withLock { $0.isPlatformReady = true }
    hub.announceChange()
  }

  /// Waits until the host has declared its platform ready (flows.md §7).
  func waitForPlatform(until deadline: Instant, _ cancellation: (any Cancellation)?) throws(EnrollError) {
    try wait(until: deadline, cancellation) { readiness.withLock { $0.isPlatformReady } }
  }

  /// Waits until `condition` holds. Checks again after every change in this process, and at least every quarter of a
  /// second, because another process may change the store.
  func wait(
    until deadline: Instant, _ cancellation: (any Cancellation)?,
    for condition: () throws(EnrollError) -> Bool
  ) throws(EnrollError) {
    while true {
      let seen = hub.changeCount
      if try condition() { return }
      try requireOpen()
      try checkTimeout(deadline, cancellation)
      let left = deadline.since(clock.instant())
      hub.waitForChange(since: seen, atMost: max(1_000_000, min(left, 250_000_000)))
    }
  }

  public func observe(_ observer: any EngineObserver) -> Int { hub.add(observer) }

  public func stopObserving(_ ticket: Int) { hub.remove(ticket) }
}

/// A transport that the host provides. The host's code runs with the host's signal mask, even on a thread of the
/// library.
final class HostedTransport: Transport {
  private let transport: any Transport
  private let host = HostSignalMask()

  init(_ transport: any Transport) { self.transport = transport }

  var trust: String { transport.trust }

  func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse {
    try host.run { () throws(EnrollError) in try transport.send(request, cancellation: cancellation) }
  }
}
