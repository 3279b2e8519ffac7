// The engine of one account: straight-line steps over the four interfaces, and the state machine that they move.
// Synchronous throughout: every step reads from top to bottom like the flow that it implements. Faces add threads,
// deadlines and `async`; nothing here knows of them.

import EnrollJSON

/// The steps of flows.md for one configuration and one account. A class because its caches and its state are shared by
/// every thread of the host.
public final class Engine: Sendable {
  public let configuration: Configuration
  public let account: AccountName
  public let platform: Platform
  /// The client whose entries of the outbox this engine queues and sends.
  let sender: OutboxEntry.Sender
  package let transport: any Transport
  let store: any TokenStore
  let clock: any Clock
  let random: any RandomSource
  package let provider: ProviderDirectory
  /// Raised when the client is closed: nothing more is sent, and no wait goes on.
  let closing: (any Cancellation)?
  let observer: any EngineObserver
  let memory: Guarded<Memory>

  /// State that this process keeps beside the store; all of it may be lost.
  struct Memory {
    var state: RegistrationState = .starting
    var hasSettled = false
    /// A backoff that the store did not take; what it took stands in the record.
    var backoff: RenewalBackoff?
    /// Where a transaction that runs beside a session returns to (flows.md §6).
    var before: RegistrationState?
    var check = CheckStanding.none
    /// The transactions whose question the host has seen since the last answer.
    var shown: [TransactionID] = []
    /// The epoch of tokens that this process renewed: once they are checked, the state is C.
    var renewedEpoch: UInt64?
    /// The epochs of tokens that took the place of refused ones, and since when: one for each audience.
    var rejections: [(audience: TokenAudience?, epoch: UInt64, since: Instant)] = []
    /// Renewed tokens that could not be written to disk.
    var unsaved: RenewedTokens?
    /// The store's ``TokenStore/identity()`` when the last exchange began.
    var exchangeStore: String?
    /// Messages that the outbox did not take.
    var unqueued: [OutboxEntry] = []
    /// Messages of the outbox that threads of this process are sending now.
    var sending: [OutboxEntry] = []
    /// The last messages that servers took or refused, whichever thread sent them.
    var delivered: [(entry: OutboxEntry, delivery: Delivery)] = []
    /// The renewal failure that was reported last; nil after a success.
    var reportedRenewal: EnrollError.Code?
    var nonces = DPoPNonces()
    /// The provider's among them, for the record.
    var providerNonces = DPoPNonces()
    var errors = ErrorLog()
  }

  /// - Parameters:
  ///   - hasOwnTransport: `transport` is the host's own, not one that obeys the configuration's trust settings.
  ///   - userAgent: the library's name and version, for servers.
  ///   - closing: raised when the client is closed.
  ///   - exclusion: makes one lock for each value that threads share.
  public init(
    configuration: Configuration, account: AccountName, platform: Platform, transport: any Transport,
    hasOwnTransport: Bool = false, userAgent: String = "EnrollKit", store: any TokenStore, clock: any Clock,
    random: any RandomSource,
    observer: any EngineObserver, closing: (any Cancellation)? = nil, exclusion: () -> any Lock
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
      transport, clock, userAgent: configuration.userAgent.map { "\($0) \(userAgent)" } ?? userAgent)
    self.transport = transport
    self.store = store
    self.clock = clock
    self.random = random
    self.observer = observer
    self.closing = closing
    provider = ProviderDirectory(
      configuration: configuration, transport: transport, store: store, clock: clock, exclusion: exclusion())
    memory = Guarded(Memory(), by: exclusion())
  }

  /// The steps of another user at the same provider: metadata, keys, transport and time are shared, what is kept is not.
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
    closing = other.closing
    provider = other.provider
    memory = Guarded(Memory(), by: exclusion)
  }

  /// - Throws: `.cancelled` once the client is being closed.
  func requireNotClosing() throws(EnrollError) {
    if closing?.isCancelled ?? false { throw EnrollError(.cancelled, "the client was closed") }
  }

  /// The state as last decided, without looking at the store.
  public var state: RegistrationState { memory.withLock { $0.state } }

  /// Moves the state machine and tells the observer.
  /// - Throws: `.illegalState`; nothing changed then.
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

  /// - Throws: `.illegalState` when `event` would be refused now; asked before work that cannot be undone.
  func require(_ event: RegistrationEvent) throws(EnrollError) {
    _ = try state.after(event)
  }

  func notify(_ notification: EnrollEvent) {
    let now = clock.wallTime()
    memory.withLock { $0.errors.add(notification, at: now) }
    observer.observe(notification)
  }

  /// `.unsupported` on a platform declared non-native: there is no browser to send anybody to.
  func requireNative() throws(EnrollError) {
    guard isNative else {
      throw EnrollError(
        .illegalState, "registration needs a native platform, the host declared this one non-native")
    }
  }

  var isNative: Bool { platform.isNative && configuration.isNative }
}
