// The interface to the account records, and the only place where threads and processes exclude each other. The steps of
// the engine use this interface. store.md, A store of your own, lists the guarantees of an implementation.

public import EnrollRules

/// The result of a wait for the renewal lock.
public enum RenewalLockResult: Equatable, Sendable {
  /// The body ran, while no other thread or process held the lock.
  case acquired
  /// Another thread or process changed the tokens in the meantime: read the record again.
  case superseded
  /// The deadline passed while another thread or process held the lock.
  case deadlinePassed
}

/// A store of sealed account records, which threads and processes share.
public protocol TokenStore: AnyObject, Sendable {
  /// Protects accounts with PINs; nil if the store has no PINs.
  var pins: (any PINStore)? { get }

  /// The newest committed record; nil if the account has no record. Reading takes no lock. A change by another process
  /// is visible within one second.
  /// - Throws: `.storeLocked`, `.storeKey`, `.storeCorrupt`, `.storeRefused`, `.storeIO`, `.storeVersion`.
  func read(_ account: AccountName) throws(EnrollError) -> AccountRecord?

  /// Reads the newest record (or uses an empty record if the account has none), edits it with `change`, and saves it
  /// durably before this method returns, all under the account's write lock. If `change` throws, or changes nothing,
  /// nothing is saved. The epoch of an empty record has an arbitrary start, so that it never matches a renewal that
  /// began before a ``remove(_:)``.
  /// - Returns: the record as saved.
  @discardableResult
  func update(
    _ account: AccountName, _ change: (inout AccountRecord) throws(EnrollError) -> Void
  ) throws(EnrollError) -> AccountRecord

  /// Waits for the account's renewal lock, which excludes all other threads and processes, and runs `body` under it.
  /// The lock is held until `body` returns, also while it waits for the network. Before `body` runs, the record is read
  /// again: if its epoch is not `epoch` any more, `body` does not run. `body` may call ``update(_:_:)`` (the order of the
  /// locks is: renew, then write).
  /// - Parameter cancellation: ends the wait for the lock, never `body`.
  /// - Throws: `.cancelled` if `cancellation` ended the wait.
  func withRenewalLock(
    _ account: AccountName, epoch: UInt64, deadline: Instant, cancellation: (any Cancellation)?,
    _ body: () throws(EnrollError) -> Void
  ) throws(EnrollError) -> RenewalLockResult

  /// Reserves disk space and descriptors for this account's next ``update(_:_:)`` that changes the epoch. Called under
  /// the renewal lock, before a refresh token is sent.
  /// - Throws: `.storeFull`, `.storeIO`.
  func reserveSpace(_ account: AccountName) throws(EnrollError)

  /// Checks that there is disk space for this account's next ``update(_:_:)``. Called before a code is sent.
  /// - Throws: `.storeFull`, `.storeRefused`, `.storeIO`.
  func requireSpace(_ account: AccountName) throws(EnrollError)

  /// Sets whether the renewal lock stays held after this process's renewal has ended. While this process has tokens
  /// that it could not save, the refresh token in the store is spent, and no other process may send it.
  func keepRenewalLock(_ account: AccountName, _ isKept: Bool)

  /// Identifies this store. A different store in the same place has another identity: a store may be restored, emptied,
  /// or hidden by a mount. If a store cannot be replaced, its identity is a constant.
  /// - Throws: if there is no store at this store's place.
  func identity() throws(EnrollError) -> String

  /// Names of the accounts with a record, sorted.
  func accounts() throws(EnrollError) -> [AccountName]

  /// Like ``accounts()``, but includes the accounts whose records have only transactions. A damaged record is an error
  /// here; it is not set aside, so that ``accounts()`` still reports it.
  func accountsWithAttempts() throws(EnrollError) -> [AccountName]

  /// Erases the account's record durably. Erasing an unknown account is not an error.
  func remove(_ account: AccountName) throws(EnrollError)

  /// The installation id: 128 random bits in base64url, made at the first use and stored apart from the accounts
  /// (flows.md §7).
  func installationID() throws(EnrollError) -> String

  /// Deletes the installation id durably: the next use makes another one (flows.md §5, deregister).
  func resetInstallationID() throws(EnrollError)

  /// Reads the messages that servers have not received yet (reliability.md, The outbox), edits them with `change` and
  /// saves them durably, as ``update(_:_:)`` does.
  @discardableResult
  func updateOutbox(
    _ change: (inout [OutboxEntry]) throws(EnrollError) -> Void
  ) throws(EnrollError) -> [OutboxEntry]

  /// Reads the client that was registered under this name (nil if there is no such client), edits it with `change` and
  /// saves it durably, as ``update(_:_:)`` does. `change` may wait for a server; during that wait, only other changes
  /// of the client with this name have to wait. A store that implements this method must also implement
  /// ``registeredClient(_:)``.
  @discardableResult
  func updateRegisteredClient(
    _ name: RegistrationName, _ change: (inout RegisteredClient?) throws(EnrollError) -> Void
  ) throws(EnrollError) -> RegisteredClient?

  /// Reserves disk space for the client of this name. The `change` of ``updateRegisteredClient(_:_:)`` calls this
  /// before a server registers the client.
  /// - Throws: `.storeFull`, `.storeIO`.
  func reserveSpace(_ name: RegistrationName) throws(EnrollError)

  /// The client that was registered under this name; nil if there is no such client. This does not wait for a
  /// registration that is in progress.
  func registeredClient(_ name: RegistrationName) throws(EnrollError) -> RegisteredClient?

  /// The stored documents of a provider; nil if they are missing or cannot be read. This never fails, because the
  /// documents can be fetched from the provider again.
  func providerDocuments(_ provider: ProviderName) -> ProviderDocuments?

  /// Edits the stored documents of a provider, which are empty if nothing is stored yet. Errors are ignored, because
  /// the documents only save requests, and no caller depends on them.
  func keepProviderDocuments(_ provider: ProviderName, _ change: (inout ProviderDocuments) -> Void)
}

extension TokenStore {
  public var pins: (any PINStore)? { nil }

  /// The default, for a store that cannot be replaced.
  public func identity() throws(EnrollError) -> String { "" }

  /// The default, for a store whose saves need no space.
  public func reserveSpace(_ name: RegistrationName) throws(EnrollError) {}

  /// The default, for a store without registered clients.
  public func registeredClient(_ name: RegistrationName) throws(EnrollError) -> RegisteredClient? { nil }

  /// As ``withRenewalLock(_:epoch:deadline:cancellation:_:)``, without a cancellation.
  public func withRenewalLock(
    _ account: AccountName, epoch: UInt64, deadline: Instant, _ body: () throws(EnrollError) -> Void
  ) throws(EnrollError) -> RenewalLockResult {
    try withRenewalLock(account, epoch: epoch, deadline: deadline, cancellation: nil, body)
  }

  /// The default, for a store whose saves need no space.
  public func requireSpace(_ account: AccountName) throws(EnrollError) {}

  /// The default, for a store that no other process uses.
  public func keepRenewalLock(_ account: AccountName, _ isKept: Bool) {}

  /// The default, for a store without registered clients.
  @discardableResult
  public func updateRegisteredClient(
    _ name: RegistrationName, _ change: (inout RegisteredClient?) throws(EnrollError) -> Void
  ) throws(EnrollError) -> RegisteredClient? {
    throw EnrollError(.unsupported, "this store keeps no registered clients: pass clientId", field: "store")
  }

  /// The default, for a store without documents.
  public func providerDocuments(_ provider: ProviderName) -> ProviderDocuments? { nil }

  public func keepProviderDocuments(
    _ provider: ProviderName, _ change: (inout ProviderDocuments) -> Void
  ) {}
}

extension TokenStore {
  public func accountsWithAttempts() throws(EnrollError) -> [AccountName] { try accounts() }
}
