// The engine of one account: the steps of flows.md over Transport, TokenStore, Clock and RandomSource, and the state
// machine. All steps are synchronous and read from top to bottom like the flow that they implement. The outer layers
// add threads, deadlines and `async`.

package import EnrollCrypto
import EnrollJSON
public import EnrollRules

/// The steps of flows.md for one configuration and one account. A class, because all threads of the host share its
/// caches and its state.
public final class Engine: Sendable {
  public let configuration: Configuration
  public let account: AccountName
  public let platform: Platform
  /// The identity with which this engine queues and sends entries of the outbox.
  let sender: OutboxEntry.Sender
  package let transport: any Transport
  let store: any TokenStore
  let clock: any Clock
  let random: any RandomSource
  package let provider: ProviderDirectory
  /// Cancelled when the client is closed: nothing more is sent, and waits end.
  let closing: (any Cancellation)?
  let observer: any EngineObserver
  /// Reads the client's own key; nil if the client has none.
  let clientKey: ClientKey.Reader?
  let memory: Guarded<Memory>

  /// State that this process keeps in memory beside the store. It is lost when the process ends.
  struct Memory {
    var state: RegistrationState = .starting
    var hasSettled = false
    /// A backoff that could not be stored; a stored one is in the record.
    var backoff: RenewalBackoff?
    /// The state of a session during which a transaction runs; it returns after the transaction (flows.md
    /// §6).
    var before: RegistrationState?
    var check = CheckStanding.none
    /// The transactions whose questions the host has seen since the last answer.
    var shown: [TransactionID] = []
    /// The epoch of tokens that this process renewed: after their check the state is C.
    var renewedEpoch: UInt64?
    /// The epochs of tokens that replaced rejected ones, with the time of the rejection: one for each audience.
    var rejections: [(audience: TokenAudience?, epoch: UInt64, since: Instant)] = []
    /// Renewed tokens that could not be stored.
    var unsaved: RenewedTokens?
    /// The store's ``TokenStore/identity()`` when the last exchange began.
    var exchangeStore: String?
    /// Messages that could not be stored in the outbox.
    var unqueued: [OutboxEntry] = []
    /// Messages of the outbox that threads of this process are sending.
    var sending: [OutboxEntry] = []
    /// The last messages that servers accepted or refused, in any thread.
    var delivered: [(entry: OutboxEntry, delivery: OutboxEntry.Delivery)] = []
    /// When the first wait for a browser at the provider's logout page ends; nil while the outbox has no such message.
    var logoutWaitEnds: Instant?
    /// Tokens of users whose browser came back from the logout page. A sign-in that another account has begun does not
    /// delay their revocation.
    var signedOut: [Secret] = []
    /// The last renewal failure that was reported; nil after a success.
    var reportedRenewal: EnrollError.Code?
    var nonces = DPoPNonces()
    /// Those of `nonces` that the provider sent. They are stored in the record.
    var providerNonces = DPoPNonces()
    var errors = ErrorLog()
  }

  /// - Parameters:
  ///   - hasOwnTransport: whether `transport` is the host's own, which does not use the configuration's trust settings.
  ///   - userAgent: the library's name and version, for servers.
  ///   - clientKey: reads the client's own key (private_key_jwt); nil if the client has none.
  ///   - closing: cancelled when the client is closed.
  ///   - exclusion: makes a lock for each value that threads share.
  package init(
    configuration: Configuration, account: AccountName, platform: Platform, transport: any Transport,
    hasOwnTransport: Bool = false, userAgent: String = "EnrollKit", store: any TokenStore, clock: any Clock,
    random: any RandomSource,
    observer: any EngineObserver, clientKey: ClientKey.Reader? = nil,
    closing: (any Cancellation)? = nil, exclusion: () -> any Lock
  ) {
    self.configuration = configuration
    self.account = account
    self.platform = platform
    sender = OutboxEntry.Sender(
      clientID: configuration.clientID,
      trust: TrustSettings(
        caFile: configuration.caFile, allowsLoopbackHTTP: configuration.allowsLoopbackHTTP,
        hasOwnTransport: hasOwnTransport))
    let transport = ReadingTransport(
      transport, clock, userAgent: configuration.userAgent.map { "\($0) \(userAgent)" } ?? userAgent,
      known: { (try? store.read(account)).flatMap { $0.map { SentSecrets(of: $0) } } ?? SentSecrets() })
    self.transport = transport
    self.store = store
    self.clock = clock
    self.random = random
    self.observer = observer
    self.clientKey = clientKey
    self.closing = closing
    provider = ProviderDirectory(
      configuration: configuration, transport: transport, store: store, clock: clock, exclusion: exclusion())
    memory = Guarded(Memory(), by: exclusion())
  }

  /// An engine for another user at the same provider: it shares the metadata, keys, transport and time, but not the
  /// store.
  package init(sharing other: Engine, store: any TokenStore, exclusion: any Lock) {
    configuration = other.configuration
    account = other.account
    platform = other.platform
    sender = other.sender
    transport = other.transport
    self.store = store
    clock = other.clock
    random = other.random
    observer = other.observer
    clientKey = other.clientKey
    closing = other.closing
    provider = other.provider
    memory = Guarded(Memory(), by: exclusion)
  }

  /// - Throws: `.cancelled` once the client is being closed.
  func requireNotClosing() throws(EnrollError) {
    if closing?.isCancelled ?? false { throw EnrollError(.cancelled, "the client was closed") }
  }

  /// The last known state, without reading the store.
  public var state: RegistrationState { memory.withLock { $0.state } }

  /// Moves the state machine and notifies the observer.
  /// - Throws: `.illegalState`, and nothing changes.
  @discardableResult
  func apply(_ event: RegistrationEvent) throws(EnrollError) -> RegistrationState {
    let moved = memory.withLock { memory -> Result<Move, EnrollError> in
      do throws(EnrollError) {
        let after = try memory.state.after(event)
        let isChanged = after != memory.state
        if after.kind != .authenticating {
          memory.before = nil
        } else if memory.state.kind != .authenticating {
          memory.before = memory.state
        }
        memory.state = after
        memory.noteQuestion(in: after)
        let settlesNow = after.isSettled && !memory.hasSettled
        if settlesNow { memory.hasSettled = true }
        return .success(Move(after: after, isChanged: isChanged, settlesNow: settlesNow))
      } catch {
        return .failure(error)
      }
    }
    let move = try moved.get()
    if move.isChanged { notify(.registrationChanged(move.after)) }
    if move.settlesNow { notify(.registrationSettled(move.after)) }
    return move.after
  }

  private struct Move {
    var after: RegistrationState
    var isChanged: Bool
    var settlesNow: Bool
  }

  /// - Throws: `.illegalState` if `event` is illegal now; for a check before work that cannot be undone.
  func require(_ event: RegistrationEvent) throws(EnrollError) {
    _ = try state.after(event)
  }

  func notify(_ notification: EnrollEvent) {
    let now = clock.wallTime()
    memory.withLock { $0.errors.add(notification, at: now) }
    observer.observe(notification)
  }

  /// Records an error that does not stop the flow: for the log and the diagnostics, not for the user.
  func warn(_ error: EnrollError) {
    let now = clock.wallTime()
    memory.withLock { $0.errors.add(error, at: now) }
    observer.warn(error)
  }

  /// Sends the event for a failure that a helper process of this one reported.
  package func notice(failure error: EnrollError) {
    if error.concernsUser { notify(.errorReported(error)) }
  }

  /// The algorithms with which the provider's id_tokens may be signed.
  package var idTokenAlgorithms: [SignatureAlgorithm] {
    configuration.idTokenAlgorithms(at: provider.cachedMetadata)
  }

  /// - Throws: `.illegalState` on a platform that is not native: there is no browser to open.
  func requireNative() throws(EnrollError) {
    guard isNative else {
      throw EnrollError(
        .illegalState, "registration needs a native platform, the host declared this one non-native")
    }
  }

  /// Whether the states B and C require the check.
  var requiresCheck: Bool { configuration.requireCheck && configuration.registrationCheckURI != nil }

  var isNative: Bool { platform.isNative && configuration.isNative }
}

extension Engine.Memory {
  /// Records the questions that the host has seen: every state that a call or an event gives it is passed to this
  /// method.
  mutating func noteQuestion(in state: RegistrationState) {
    switch state {
    case .awaitingConfirmation(let transactionID, _):
      if !shown.contains(transactionID) { shown.append(transactionID) }
    // A running exchange of another sign-in leaves the question open.
    case .authenticating: break
    case .starting, .unregistered, .active, .renewalFailed, .registrationFailed: shown = []
    }
  }
}
