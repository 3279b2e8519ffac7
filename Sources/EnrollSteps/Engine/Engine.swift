// The engine of one account: the steps of flows.md, which use a Transport, a TokenStore, a Clock and a RandomSource;
// and the state machine. All steps are synchronous, so their code has the same order as the flow that they implement.
// The outer layers add threads, deadlines and `async`.

package import EnrollCrypto
import EnrollJSON
public import EnrollRules

/// The steps of flows.md for one configuration and one account. The engine only puts the steps together: it passes to
/// each step the parts of the state that the step may change, and the other steps that the step calls. The engine is a
/// class, because all threads of the host share it.
public final class Engine: Sendable {
  let context: EngineContext
  let machine: StateMachine
  package let requests: ClientRequests
  public let tokens: AccessStep
  public let rejection: RejectionStep
  public let introspection: IntrospectionStep
  public let proofs: ProofStep
  public let identity: UserinfoStep
  public let renewal: RenewalStep
  public let renewedTokens: RenewedTokensStep
  public let renewalReports: RenewalReport
  public let registration: RegistrationStep
  public let check: CheckStep
  public let transactions: TransactionStep
  public let signIn: SignInStep
  public let device: DeviceStep
  public let passwordless: PasswordlessStep
  public let app2app: App2AppStep
  public let links: LinkStep
  public let pin: PINStep
  public let logout: LogoutStep
  public let outbox: OutboxStep
  public let backEnd: BackEndStep
  public let diagnostics: DiagnosticsStep
  public let providerCheck: ProviderCheckStep

  /// - Parameters:
  ///   - hasOwnTransport: whether `transport` is the host's own, which does not use the configuration's trust settings.
  ///   - userAgent: the library's name and version, which requests send to servers.
  ///   - clientKey: reads the client's own key (private_key_jwt); nil if the client has no key.
  ///   - closing: a cancellation that is triggered when the client is closed.
  ///   - exclusion: makes the locks, one for each value that threads share.
  package convenience init(
    configuration: Configuration, account: AccountName, platform: Platform, transport: any Transport,
    hasOwnTransport: Bool = false, userAgent: String = "EnrollKit", store: any TokenStore, clock: any Clock,
    random: any RandomSource,
    observer: any EngineObserver, clientKey: ClientKey.Reader? = nil,
    closing: (any Cancellation)? = nil, exclusion: () -> any Lock
  ) {
    let sender = OutboxEntry.Sender(
      clientID: configuration.clientID,
      trust: TrustSettings(
        caFile: configuration.caFile, allowsLoopbackHTTP: configuration.allowsLoopbackHTTP,
        hasOwnTransport: hasOwnTransport))
    let transport = ReadingTransport(
      transport, clock, userAgent: configuration.userAgent.map { "\($0) \(userAgent)" } ?? userAgent,
      known: { (try? store.read(account)).flatMap { $0.map { SentSecrets(of: $0) } } ?? SentSecrets() })
    let provider = ProviderDirectory(
      configuration: configuration, transport: transport, store: store, clock: clock, exclusion: exclusion())
    let lock = exclusion()
    self.init(
      EngineContext(
        configuration: configuration, account: account, platform: platform, sender: sender,
        transport: transport, store: store, clock: clock, random: random, provider: provider,
        closing: closing, clientKey: clientKey,
        events: EngineEvents(observer: observer, clock: clock, lock: lock)), lock)
  }

  /// Makes an engine for another user at the same provider. The two engines share the metadata, keys, transport and
  /// time, but not the store.
  package convenience init(sharing other: Engine, store: any TokenStore, exclusion: any Lock) {
    let context = other.context
    self.init(
      EngineContext(
        configuration: context.configuration, account: context.account, platform: context.platform,
        sender: context.sender, transport: context.transport, store: store, clock: context.clock,
        random: context.random, provider: context.provider, closing: context.closing,
        clientKey: context.clientKey, events: context.events.restarted(lock: exclusion)), exclusion)
  }

  /// - Parameter lock: protects every part of the state. A part that holds the lock does not call another part.
  private init(_ context: EngineContext, _ lock: any Lock) {
    let machine = StateMachine(events: context.events, lock: lock)
    let checkProgress = CheckProgress(lock: lock)
    let renewals = RenewalProgress(lock: lock)
    let unsaved = UnsavedRenewal(context, lock: lock)
    let nonces = NonceCache(lock: lock)
    let progress = OutboxProgress(lock: lock)
    self.context = context
    self.machine = machine
    let requests = ClientRequests(context, nonces: nonces)
    let access = AccessStep(context, renewals: renewals)
    let backEnd = BackEndStep(context, requests: requests)
    let outbox = OutboxStep(context, progress: progress, requests: requests, backEnd: backEnd)
    let revocations = RevocationStep(context, outbox: outbox)
    let userinfo = UserinfoStep(context, requests: requests, access: access)
    let reports = RenewalReport(context, machine: machine, renewals: renewals, backEnd: backEnd)
    let renewedTokens = RenewedTokensStep(
      context, unsaved: unsaved, requests: requests, backEnd: backEnd, outbox: outbox,
      revocations: revocations)
    let renewal = RenewalStep(
      context, renewals: renewals, unsaved: unsaved, requests: requests, access: access, userinfo: userinfo,
      revocations: revocations, renewedTokens: renewedTokens, reports: reports)
    let check = CheckStep(
      context, machine: machine, checkProgress: checkProgress, renewals: renewals, requests: requests,
      userinfo: userinfo, backEnd: backEnd, outbox: outbox, revocations: revocations, renewal: renewal,
      renewedTokens: renewedTokens)
    let registration = RegistrationStep(
      context, machine: machine, checkProgress: checkProgress, unsaved: unsaved, backEnd: backEnd,
      outbox: outbox, revocations: revocations, check: check)
    let transactions = TransactionStep(context, machine: machine, requests: requests)
    let authorization = AuthorizationStep(
      context, machine: machine, requests: requests, outbox: outbox, revocations: revocations)
    let grants = GrantStep(context, requests: requests, userinfo: userinfo, revocations: revocations)
    let conclusion = ConclusionStep(
      context, machine: machine, renewals: renewals, unsaved: unsaved, checkProgress: checkProgress,
      requests: requests, backEnd: backEnd, outbox: outbox, revocations: revocations,
      renewedTokens: renewedTokens, registration: registration, authorization: authorization, grants: grants,
      lock: lock)
    let bff = BFFStep(context, userinfo: userinfo, transactions: transactions)
    let app2app = App2AppStep(
      context, machine: machine, requests: requests, revocations: revocations, transactions: transactions,
      grants: grants, conclusion: conclusion)
    let device = DeviceStep(
      context, requests: requests, outbox: outbox, transactions: transactions, authorization: authorization,
      conclusion: conclusion)
    let passwordless = PasswordlessStep(
      context, machine: machine, requests: requests, outbox: outbox, transactions: transactions,
      conclusion: conclusion)
    self.requests = requests
    self.tokens = access
    self.backEnd = backEnd
    self.outbox = outbox
    self.identity = userinfo
    self.renewal = renewal
    self.renewalReports = reports
    self.renewedTokens = renewedTokens
    self.check = check
    self.registration = registration
    self.transactions = transactions
    self.device = device
    self.passwordless = passwordless
    self.app2app = app2app
    signIn = SignInStep(
      context, machine: machine, requests: requests, registration: registration, transactions: transactions,
      authorization: authorization, grants: grants, conclusion: conclusion, bff: bff, app2app: app2app,
      device: device, passwordless: passwordless)
    rejection = RejectionStep(context, access: access, reports: reports, lock: lock)
    introspection = IntrospectionStep(context, requests: requests, access: access)
    proofs = ProofStep(context, nonces: nonces, requests: requests)
    logout = LogoutStep(
      context, machine: machine, renewals: renewals, unsaved: unsaved, checkProgress: checkProgress,
      outbox: outbox, revocations: revocations, backEnd: backEnd)
    links = LinkStep(
      context, machine: machine, requests: requests, registration: registration, transactions: transactions,
      authorization: authorization)
    pin = PINStep(context, machine: machine, conclusion: conclusion)
    diagnostics = DiagnosticsStep(context, machine: machine)
    providerCheck = ProviderCheckStep(context, requests: requests, authorization: authorization)
  }

  public var configuration: Configuration { context.configuration }
  public var account: AccountName { context.account }
  public var platform: Platform { context.platform }
  package var transport: any Transport { context.transport }
  package var provider: ProviderDirectory { context.provider }

  /// The last known state, without reading the store.
  public var state: RegistrationState { machine.state }

  /// The algorithms with which the provider's id_tokens may be signed.
  package var idTokenAlgorithms: [SignatureAlgorithm] { context.idTokenAlgorithms }

  /// Notifies the host of a failure that a helper process of this process reported.
  package func notice(failure error: EnrollError) {
    if error.concernsUser { context.events.notify(.errorReported(error)) }
  }
}
