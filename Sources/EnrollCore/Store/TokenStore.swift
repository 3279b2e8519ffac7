// Where account records live, and the only place where threads and processes exclude each other. Steps are written
// against this interface. store.md, A store of your own, lists the guarantees of an implementation.

/// The name of an account: 1 to 128 bytes of UTF-8 without control characters.
public struct AccountName: Equatable, Hashable, Sendable {
  /// The name itself.
  public let text: String
  /// The provider and the client that its tokens are for; empty for a name alone.
  public let realm: String

  /// The account of hosts that have only one.
  public static let `default` = AccountName(unchecked: "default")

  private init(unchecked text: String, realm: String = "") {
    self.text = text
    self.realm = realm
  }

  /// The account of that name at the configuration's provider, for its client and its resource: what was given to one client
  /// by one provider is never shown to another provider, used by another client, or taken for another resource's.
  public func belonging(to configuration: Configuration) -> AccountName {
    // An issuer is a URL and holds no space; a client id is printable and holds no line feed.
    AccountName(
      unchecked: text,
      realm: configuration.issuer.text + " " + configuration.clientID.text
        + (configuration.resource.map { "\n" + $0.text } ?? ""))
  }

  /// Tells it from every other account in a store; no name holds a line feed.
  package var qualifiedName: String { realm.isEmpty ? text : text + "\n" + realm }

  /// As the store kept them.
  init(_ text: String, realm: String) throws(EnrollError) {
    self.init(unchecked: try AccountName(text).text, realm: realm)
  }

  /// - Throws: `.invalidArgument` for an empty, too long or unprintable name.
  public init(_ text: String) throws(EnrollError) {
    let bytes = text.utf8
    guard (1...128).contains(bytes.count), bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw EnrollError(
        .invalidArgument,
        "an account name is 1 to 128 bytes without control characters, this has \(bytes.count)",
        field: "account")
    }
    self.init(unchecked: text)
  }
}

/// How a turn at renewal ended.
public enum RenewalTurn: Equatable, Sendable {
  /// The body ran, alone among all threads and processes.
  case taken
  /// Somebody else changed the tokens meanwhile: read the record again.
  case overtaken
  /// The deadline passed while another one held the turn.
  case deadlinePassed
}

/// Sealed account records, shared by threads and processes.
public protocol TokenStore: AnyObject, Sendable {
  /// Puts PINs over accounts; nil for a store that cannot.
  var pins: (any PINKeeper)? { get }

  /// The newest committed record; nil when the account has none. Takes no lock. A change by another process is seen
  /// within one second.
  /// - Throws: `.storeLocked`, `.storeKey`, `.storeCorrupt`, `.storeRefused`, `.storeIO`, `.storeVersion`.
  func read(_ account: AccountName) throws(EnrollError) -> AccountRecord?

  /// Reads the newest record (an empty one if there is none), lets `change` edit it, and saves it durably: on return
  /// it is on disk. All under the account's write lock. When `change` throws, or changes nothing, nothing is saved.
  /// The epoch of an empty record begins anywhere, so that a renewal from before a ``remove(_:)`` never fits it.
  /// - Returns: the record as saved.
  @discardableResult
  func update(
    _ account: AccountName, _ change: (inout AccountRecord) throws(EnrollError) -> Void
  ) throws(EnrollError) -> AccountRecord

  /// Waits for the account's exclusive turn at renewal, across threads and processes, and runs `body` in it, holding
  /// it throughout (across the network). Before `body` runs the record is read again: if its epoch is not `epoch`
  /// any more, the turn is given up. `body` may call ``update(_:_:)`` (the order is: renew, then write).
  /// - Parameter cancellation: ends the wait for the turn, never `body`.
  /// - Throws: `.cancelled` where `cancellation` ended the wait.
  func renewalTurn(
    _ account: AccountName, epoch: UInt64, deadline: Instant, cancellation: (any Cancellation)?,
    _ body: () throws(EnrollError) -> Void
  ) throws(EnrollError) -> RenewalTurn

  /// Makes sure that the next ``update(_:_:)`` of this account that changes the epoch finds disk space and descriptors, or
  /// says so now: called in a turn, before a refresh token is spent.
  /// - Throws: `.storeFull`, `.storeIO`.
  func reserveSpace(_ account: AccountName) throws(EnrollError)

  /// Makes sure that the next ``update(_:_:)`` of this account finds disk space, or says so now: called before a code is spent.
  /// - Throws: `.storeFull`, `.storeRefused`, `.storeIO`.
  func requireSpace(_ account: AccountName) throws(EnrollError)

  /// Whether other processes stay kept out when this process's turn at renewal ends: while it has tokens that it could not
  /// save, the refresh token in the store is spent, and nobody else may send it.
  func keepTurn(_ account: AccountName, _ isKept: Bool)

  /// Tells this store from another one that takes its place, be it restored, emptied or mounted over it. Always the same for a
  /// store that nothing can replace.
  /// - Throws: where no store is in its place.
  func identity() throws(EnrollError) -> String

  /// Names of the accounts with a record, sorted.
  func accounts() throws(EnrollError) -> [AccountName]

  /// The same, with those whose records hold nothing but attempts to sign in. A damaged account is an error, and stays one that
  /// ``accounts()`` reports.
  func accountsWithAttempts() throws(EnrollError) -> [AccountName]

  /// Erases the account's record durably. Erasing an unknown account is not an error.
  func remove(_ account: AccountName) throws(EnrollError)

  /// Random, made at first use, kept apart from accounts: base64url of 128 bits (flows.md §7).
  func installationID() throws(EnrollError) -> String

  /// Forgets the installation id durably: the next use makes another (flows.md §5, deregister).
  func resetInstallationID() throws(EnrollError)

  /// The messages that servers have not received yet (reliability.md, The outbox): reads, edits and saves them durably, as
  /// ``update(_:_:)``.
  @discardableResult
  func updateOutbox(
    _ change: (inout [OutboxEntry]) throws(EnrollError) -> Void
  ) throws(EnrollError) -> [OutboxEntry]

  /// The client that was registered under that name, nil for none: reads, edits and saves it durably, as
  /// ``update(_:_:)``. `change` may wait for a server meanwhile: whoever else changes the client of that name waits for it, and
  /// nobody else. A store that has this has ``registeredClient(_:)``, too.
  @discardableResult
  func updateRegisteredClient(
    _ name: RegistrationName, _ change: (inout RegisteredClient?) throws(EnrollError) -> Void
  ) throws(EnrollError) -> RegisteredClient?

  /// Makes sure that the client of that name can be saved, or says so now: called by the change of
  /// ``updateRegisteredClient(_:_:)``, before a server registers the client.
  /// - Throws: `.storeFull`, `.storeIO`.
  func reserveSpace(_ name: RegistrationName) throws(EnrollError)

  /// The client that was registered under that name, nil for none. Waits for no registration.
  func registeredClient(_ name: RegistrationName) throws(EnrollError) -> RegisteredClient?

  /// The kept documents of a provider; nil if none can be read. This never fails: without documents the provider is
  /// asked.
  func providerDocuments(_ provider: ProviderName) -> ProviderDocuments?

  /// Edits what is kept of that provider, empty where nothing is. Best effort: it only saves requests, and nobody waits
  /// for it.
  func keepProviderDocuments(_ provider: ProviderName, _ change: (inout ProviderDocuments) -> Void)
}

extension TokenStore {
  public var pins: (any PINKeeper)? { nil }

  /// For a store that nothing can replace.
  public func identity() throws(EnrollError) -> String { "" }

  /// For a store whose saves need no space.
  public func reserveSpace(_ name: RegistrationName) throws(EnrollError) {}

  /// Of a store that keeps none.
  public func registeredClient(_ name: RegistrationName) throws(EnrollError) -> RegisteredClient? { nil }

  /// As the other, with nothing but the deadline to end the wait.
  public func renewalTurn(
    _ account: AccountName, epoch: UInt64, deadline: Instant, _ body: () throws(EnrollError) -> Void
  ) throws(EnrollError) -> RenewalTurn {
    try renewalTurn(account, epoch: epoch, deadline: deadline, cancellation: nil, body)
  }

  /// For a store whose saves need no space.
  public func requireSpace(_ account: AccountName) throws(EnrollError) {}

  /// For a store that no other process uses.
  public func keepTurn(_ account: AccountName, _ isKept: Bool) {}

  /// For a store that keeps no clients.
  @discardableResult
  public func updateRegisteredClient(
    _ name: RegistrationName, _ change: (inout RegisteredClient?) throws(EnrollError) -> Void
  ) throws(EnrollError) -> RegisteredClient? {
    throw EnrollError(.unsupported, "this store keeps no registered clients: pass clientId", field: "store")
  }

  /// Nothing is kept.
  public func providerDocuments(_ provider: ProviderName) -> ProviderDocuments? { nil }

  public func keepProviderDocuments(
    _ provider: ProviderName, _ change: (inout ProviderDocuments) -> Void
  ) {}
}

extension TokenStore {
  public func accountsWithAttempts() throws(EnrollError) -> [AccountName] { try accounts() }
}
