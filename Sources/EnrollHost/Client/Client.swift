// One account of one configuration, as every face uses it: the engine, with threads, deadlines and loopback redirects.

public import EnrollCore
import EnrollCrypto
import EnrollPosix
import EnrollStore

/// The product in one object. Any method may be called from any thread. Calls that may touch the network take a
/// deadline and a cancellation; both end the caller's wait, never a request whose answer must not be lost.
/// A class because the host's threads share it.
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
  /// Listeners, and steps for which the pool had no thread.
  let threads = ThreadGroup()
  private let log: (any LogHandler)?
  let place: UnsavedTokens.Place
  /// The renewal that runs, once it has said how far it is; nil while there is none.
  let runningRenewal: Guarded<RunningRenewal?>
  /// Told how far the renewal is that runs.
  let renewalWatcher = Guarded<(@Sendable (CallTimeout.Progress) -> Void)?>(nil, by: Mutex())
  /// nil: this process runs every step itself.
  let detached: DetachedSteps?
  let lastSignOut = Guarded<SignOut?>(nil, by: Mutex())
  let devicePolls = Guarded(DevicePolls(), by: Mutex())
  /// nil for a store that is no directory.
  let storePath: String?
  let storeKeys: KeyPlan
  private let background: BackgroundRenewal
  private let backgroundTicket: Int
  private let fork = ForkGuard()
  let steps: ClosingSteps
  var closing: CancellationFlag { steps.closing }
  private let readiness: Guarded<Readiness>

  private struct Readiness {
    var isPlatformReady: Bool
    var isClosed = false
  }

  struct RunningRenewal: Sendable {
    let audience: TokenAudience?
    let progress: CallTimeout.Progress
  }

  /// One run of the renewal step, for all callers that joined it. A class because they share what was read after it.
  final class RenewalRun: Sendable {
    let result: Result<RenewalResult, EnrollError>
    private let answers = Guarded<[Int64: Result<AccessOutcome, EnrollError>]>([:], by: Mutex())

    init(_ result: Result<RenewalResult, EnrollError>) { self.result = result }

    /// The answer to callers that want this lifetime. The first of them reads the store, for all: hundreds may be waiting.
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

  /// - Throws: `.storeRefused`, `.storeIO` and its kin when the store cannot be used.
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
    // Threads do not stay: there may be hundreds of clients.
    pool = WorkerPool(idleSeconds: 1)
    timers = TimerQueue(clock: options.clock)
    readiness = Guarded(Readiness(isPlatformReady: options.isPlatformReady), by: Mutex())
    tokens = TokenCache(clock: clock, graceSeconds: configuration.graceSeconds)
    let steps = ClosingSteps()
    self.steps = steps
    log = options.log
    let place = UnsavedTokens.Place(store: store, path: storePath, account: account)
    self.place = place
    let running = Guarded<RunningRenewal?>(nil, by: Mutex())
    runningRenewal = running
    let detached = options.stepProcesses.map { DetachedSteps($0, abandoned: steps.abandoned) }
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
    let engine = Engine(
      configuration: configuration, account: account, platform: options.platform,
      transport: ClosingTransport(Self.logged(transport, options, clock), steps),
      hasOwnTransport: options.transport != nil, userAgent: "EnrollKit/\(LibraryVersion.string)",
      store: store,
      clock: clock, random: random, observer: hub,
      closing: steps.closing, exclusion: { Mutex() })
    self.engine = engine
    let outbox = OutboxSender(engine, pool: pool, steps)
    self.outbox = outbox
    // Before any other observer: an observer that requests a token after `tokensRenewed` must not get the old one.
    _ = hub.add(CacheKeeper(tokens))
    if let log = options.log {
      _ = hub.add(EventLog(log))
      if let warning = configuration.redirectWarning { log.write(.warning, warning) }
    }
    renewals = RenewalCoordinator(pool: pool, timers: timers, clock: clock) {
      [tokens, pool, renewalWatcher] wish in
      let audience = wish.audience
      defer {
        tokens.forget()
        running.withLock { $0 = nil }
        if steps.closing.isCancelled { UnsavedTokens.ofProcess.take(engine, of: place) }
      }
      let notice: @Sendable (CallTimeout.Progress) -> Void = { progress in
        running.withLock { $0 = RunningRenewal(audience: audience, progress: progress) }
        renewalWatcher.withLock { $0 }?(progress)
      }
      do throws(EnrollError) {
        if let result = try detached?.renew(wish, leaving: steps.closing, onProgress: notice) {
          try engine.learn(result, for: audience)
          return RenewalRun(.success(result))
        }
        // While the record is saved that says what is sent.
        ownTransport?.prepare()
        // Nothing before the sending holds up the closing.
        let result = try CallTimeout.until(cancellation: steps.closing, onProgress: notice) {
          () throws(EnrollError) in
          try UnsavedTokens.ofProcess.store(of: place)
          return try engine.renew(epochs: wish.epochs, forced: wish.isForced, for: audience)
        }
        // Callers that wait for the tokens do not wait for these.
        if result == .renewed { _ = pool.submit { engine.checkIfNeeded(cancellation: outbox.ending) } }
        outbox.send()
        return RenewalRun(.success(result))
      } catch {
        return RenewalRun(.failure(error))
      }
    }
    background = BackgroundRenewal(
      engine, clock: clock, timers: timers, isAhead: options.renewsInBackground,
      jitter: (try? random.bytes(1).first) ?? 0
    ) { [renewals] epoch, audience, ended in
      let wish = RenewalWish(audience: audience, epochs: [epoch])
      renewals.join(wish, deadline: .distantFuture) { _ in ended() }
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
    if !fork.isForkedChild { UnsavedTokens.ofProcess.take(engine, of: place) }
  }

  /// The hub and what it tells hold each other until then.
  private func stopBackground() {
    hub.remove(backgroundTicket)
    background.stop()
  }

  private final class CacheKeeper: EngineObserver {
    private let tokens: TokenCache
    init(_ tokens: TokenCache) { self.tokens = tokens }
    func observe(_ notification: EnrollEvent) { tokens.forget() }
  }

  /// Ends the client: loopback listeners close, calls under way end (``untilClosed(_:_:)``), later ones throw `.handle`.
  /// Idempotent. Requests under way end, now or within two seconds; only a code or a refresh token that was sent is
  /// followed to its answer, as long as a request may take.
  public func close() {
    let isFirst = readiness.withLock { readiness -> Bool in
      defer { readiness.isClosed = true }
      return !readiness.isClosed
    }
    guard isFirst else { return }
    closing.cancel()
    steps.beginLastMoment(isBusy: isSending)
    stopBackground()
    for cancellation in loopbacks.withLock({ $0.removeAll() }) { cancellation.cancel() }
    tokens.forget()
    hub.announceChange()
    UnsavedTokens.ofProcess.take(engine, of: place)
  }

  /// Returns once every renewal and every code that was sent has its answer, and what it got is stored (R39); a disk that does
  /// not take it is waited for until 30 seconds after the closing. Close the client before. Not to be called from a completion or
  /// an observer.
  /// - Parameter keepsTrying: whether this process goes on trying to store them, as long as it lives.
  public func drain(keepsTrying: Bool = true) {
    steps.boundLastMoment(isBusy: isSending)
    threads.wait()
    background.drain()
    renewals.drain()
    pool.drain()
    steps.endLastMoment()
    guard engine.hasUnsaved else { return }
    UnsavedTokens.ofProcess.take(engine, of: place)
    guard !UnsavedTokens.ofProcess.wait(for: engine, until: steps.latest, steps.abandoned) else { return }
    log?.write(
      .error,
      "the provider renewed the tokens, and the store refused them: the user has to sign in again if this process ends before"
        + " the store can be written")
    if !keepsTrying { UnsavedTokens.ofProcess.giveUp(engine) }
  }

  /// Ends the wait for the last requests, too: their tokens may be lost.
  public func abandon() { steps.abandoned.cancel() }

  /// Whether a thread of the client's may be sending something.
  private var isSending: Bool { threads.isBusy || pool.load.threads > 0 }

  var isClosed: Bool { readiness.withLock { $0.isClosed } }

  /// - Throws: `.forked` in a child, `.handle` after ``close()``.
  func requireOpen() throws(EnrollError) {
    try fork.check()
    guard !isClosed else { throw EnrollError(.handle, "the client was closed") }
  }

  /// The state as this process knows it, without looking at the store.
  public var lastKnownState: RegistrationState { engine.state }

  /// Runs a blocking job on a thread of the client's own: never queued behind a job that may be waiting for it.
  /// - Returns: false when no thread could be started; the job will not run.
  public func perform(_ job: @escaping @Sendable () -> Void) -> Bool {
    pool.submitNow(job) || threads.start(job)
  }

  /// The instant that many seconds from now.
  public func deadline(afterSeconds seconds: Int64) -> Instant {
    clock.instant().advanced(bySeconds: seconds)
  }

  /// The host's platform can open a browser now (Cordova's `deviceready`): requests that waited go on.
  public func platformReady() {
    readiness.withLock { $0.isPlatformReady = true }
    hub.announceChange()
  }

  /// Waits until the host has declared its platform ready (flows.md §7).
  func waitForPlatform(until deadline: Instant, _ cancellation: (any Cancellation)?) throws(EnrollError) {
    try wait(until: deadline, cancellation) { readiness.withLock { $0.isPlatformReady } }
  }

  /// Waits until `condition` holds; looks again at every change, and at least every quarter of a second, because
  /// another process may be the one that changes the store.
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

/// A transport of the host's: its code finds its own signal mask, also on a thread of the library's.
final class HostedTransport: Transport {
  private let transport: any Transport
  private let host = HostThread()

  init(_ transport: any Transport) { self.transport = transport }

  var trust: String { transport.trust }

  func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse {
    try host.run { () throws(EnrollError) in try transport.send(request, cancellation: cancellation) }
  }
}
