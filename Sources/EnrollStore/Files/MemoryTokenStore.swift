// A store in memory, whose content is lost when the process ends. It is for tests of hosts, and for hosts that store
// nothing. Locking between threads follows the same rules as for files. Other processes do not see this store.

public import EnrollRules
public import EnrollSteps
public import EnrollPosix

/// Account records in memory.
public final class MemoryTokenStore: TokenStore, @unchecked Sendable {
  // Unchecked: all mutable state is only touched with a lock held.
  private let clock: any Clock
  private let random: any RandomSource
  private let origin = ForkGuard()
  private let accountsState = Guarded<[AccountName: Account]>([:], by: Mutex())
  private let storeWide = TimedMutex()
  private var outbox: [OutboxEntry] = []
  private var installation: String?
  private let registrations = Guarded<[RegistrationName: Registration]>([:], by: Mutex())

  public init(clock: any Clock, random: any RandomSource = SystemRandomSource()) {
    self.clock = clock
    self.random = random
  }

  public func read(_ name: AccountName) throws(EnrollError) -> AccountRecord? {
    try origin.check()
    return account(name).current
  }

  @discardableResult
  public func update(
    _ name: AccountName, _ change: (inout AccountRecord) throws(EnrollError) -> Void
  ) throws(EnrollError) -> AccountRecord {
    try origin.check()
    let account = account(name)
    try account.writing.lock()
    defer { account.writing.unlock() }
    let before: AccountRecord
    if let current = account.current { before = current } else { before = try .blank(random) }
    var after = before
    try change(&after)
    guard after != before else { return before }
    account.set(after)
    return after
  }

  public func withRenewalLock(
    _ name: AccountName, epoch: UInt64, deadline: Instant, cancellation: (any Cancellation)?,
    _ body: () throws(EnrollError) -> Void
  ) throws(EnrollError) -> RenewalLockResult {
    try origin.check()
    let account = account(name)
    return try account.gate.withLock(
      epoch: epoch, deadline: deadline, cancellation: cancellation, clock: clock, account: account, body)
  }

  public func reserveSpace(_ name: AccountName) throws(EnrollError) { try origin.check() }

  public func accounts() throws(EnrollError) -> [AccountName] {
    try origin.check()
    let all = accountsState.withLock { $0 }
    return AccountName.sorted(all.compactMap { ($0.value.current?.isAttemptsAlone ?? true) ? nil : $0.key })
  }

  public func accountsWithAttempts() throws(EnrollError) -> [AccountName] {
    try origin.check()
    return AccountName.sorted(
      accountsState.withLock { $0 }.compactMap { $0.value.current == nil ? nil : $0.key })
  }

  public func remove(_ name: AccountName) throws(EnrollError) {
    try origin.check()
    let account = account(name)
    try account.writing.lock()
    defer { account.writing.unlock() }
    account.set(nil)
  }

  public func installationID() throws(EnrollError) -> String {
    try origin.check()
    try storeWide.lock()
    defer { storeWide.unlock() }
    if let installation { return installation }
    let made = Base64URL.encode(try random.bytes(16))
    installation = made
    return made
  }

  public func resetInstallationID() throws(EnrollError) {
    try origin.check()
    try storeWide.lock()
    defer { storeWide.unlock() }
    installation = nil
  }

  @discardableResult
  public func updateOutbox(
    _ change: (inout [OutboxEntry]) throws(EnrollError) -> Void
  ) throws(EnrollError) -> [OutboxEntry] {
    try origin.check()
    try storeWide.lock()
    defer { storeWide.unlock() }
    var after = outbox
    try change(&after)
    outbox = after
    return after
  }

  public func registeredClient(_ name: RegistrationName) throws(EnrollError) -> RegisteredClient? {
    try origin.check()
    return registration(name).client.withLock { $0 }
  }

  @discardableResult
  public func updateRegisteredClient(
    _ name: RegistrationName, _ change: (inout RegisteredClient?) throws(EnrollError) -> Void
  ) throws(EnrollError) -> RegisteredClient? {
    try origin.check()
    let registration = registration(name)
    try registration.mutex.lock()
    defer { registration.mutex.unlock() }
    var after = registration.client.withLock { $0 }
    try change(&after)
    registration.client.withLock { $0 = after }
    return after
  }

  private func account(_ name: AccountName) -> Account {
    accountsState.withLock { accounts in
      if let known = accounts[name] { return known }
      let new = Account()
      accounts[name] = new
      return new
    }
  }

  private func registration(_ name: RegistrationName) -> Registration {
    registrations.withLock { registrations in
      if let known = registrations[name] { return known }
      let new = Registration()
      registrations[name] = new
      return new
    }
  }

  private final class Registration: Sendable {
    /// This mutex is held across network requests.
    let mutex = TimedMutex()
    let client = Guarded<RegisteredClient?>(nil, by: Mutex())
  }

  private final class Account: RenewableAccount, @unchecked Sendable {
    // Unchecked: each member has its own lock.
    let writing = TimedMutex()
    let gate = RenewalGate()
    private let record = Guarded<AccountRecord?>(nil, by: Mutex())

    var current: AccountRecord? { record.withLock { $0 } }

    func set(_ new: AccountRecord?) {
      record.withLock { $0 = new }
      gate.noteChange()
    }

    func tokenEpoch(fresh: Bool) throws(EnrollError) -> UInt64? { current?.tokenEpoch }
    func openRenewalLock() throws(EnrollError) -> FileLock? { nil }
  }
}

extension AccountRecord {
  /// An empty record. Its epoch is random: if an account is removed and created again during a renewal, the epoch of
  /// the new record differs, and the renewal's tokens are not stored in it.
  static func blank(_ random: any RandomSource) throws(EnrollError) -> AccountRecord {
    var record = AccountRecord()
    for byte in try random.bytes(6) { record.tokenEpoch = record.tokenEpoch << 8 | UInt64(byte) }
    return record
  }
}

extension AccountName {
  /// The names, sorted by their bytes.
  static func sorted(_ names: [AccountName]) -> [AccountName] {
    names.sorted { $0.qualifiedName.utf8.lexicographicallyPrecedes($1.qualifiedName.utf8) }
  }
}
