// Sealed records in files, one per account, shared by threads and processes (store.md). OpenStore combines its parts.

public import EnrollRules
public import EnrollSteps
public import EnrollCrypto
public import EnrollPosix

/// The durable store, in files.
public final class FileTokenStore: TokenStore, PINStore, Sendable {
  /// How long a reader trusts that the open folder is still at the store's path (store.md, Memory and the disk).
  private static let trustedNanoseconds: Int64 = 1_000_000_000

  /// The open folder, and the renewals that run in it.
  private struct Current {
    var store: OpenStore
    /// When the folder was last found at its path.
    var seen: Instant
    /// For each account whose renewal lock is held, the folder that has the lock.
    var lockedIn: [AccountName: OpenStore] = [:]
  }

  private let clock: any Clock
  private let random: any RandomSource
  private let origin = ForkGuard()
  private let current: Guarded<Current>
  /// The clients that are being registered now.
  let registering = Guarded<[RegistrationName: ClientFile]>([:], by: Mutex())

  /// Opens the folder, but not yet the keys. If the folder is replaced later, the next call opens the new folder.
  /// - Parameters:
  ///   - path: absolute. The folder is created with mode 0700, if its parent exists.
  ///   - keys: the store's key provider.
  ///   - allowsNetworkFilesystem: accepts filesystems whose locks perhaps do not hold between machines.
  ///   - system: the disk, for tests.
  /// - Throws: `.invalidArgument` for a relative path; `.storeRefused` for a folder that is not acceptable; `.storeIO`,
  ///   `.storeFull`.
  public convenience init(
    path: String, keys: KeyPlan = .file, clock: any Clock,
    random: any RandomSource = SystemRandomSource(), allowsNetworkFilesystem: Bool = false,
    system: any FileSystem = PosixFileSystem()
  ) throws(EnrollError) {
    try self.init(
      path: path, keys: keys, clock: clock, random: random, allowsNetworkFilesystem: allowsNetworkFilesystem,
      system: system, forms: .today)
  }

  /// Tests use this initializer, with the file formats of another version.
  convenience init(
    path: String, keys: KeyPlan, clock: any Clock, random: any RandomSource, allowsNetworkFilesystem: Bool,
    system: any FileSystem, forms: StoreForms
  ) throws(EnrollError) {
    let folder = try StoreFolder(path, system: system, allowsNetworkFilesystem: allowsNetworkFilesystem)
    let chooser = try keys.chooser(forStoreAt: folder.path, random: random, system: system)
    self.init(OpenStore(folder, chooser, clock: clock, random: random, forms: forms), clock, random)
  }

  /// The store in an existing folder; nil if there is no folder. Creates no folder.
  /// - Throws: as ``init(path:keys:clock:random:allowsNetworkFilesystem:system:)``.
  public static func existing(
    path: String, keys: KeyPlan, clock: any Clock, system: any FileSystem = PosixFileSystem()
  ) throws(EnrollError) -> FileTokenStore? {
    guard try StoreFolder.exists(path, system: system) else { return nil }
    return try FileTokenStore(path: path, keys: keys, clock: clock, system: system)
  }

  private init(_ store: OpenStore, _ clock: any Clock, _ random: any RandomSource) {
    self.clock = clock
    self.random = random
    current = Guarded(Current(store: store, seen: clock.instant()), by: Mutex())
  }

  /// Opens the keys now, so that the caller learns early whether the store is locked.
  /// - Throws: `.storeLocked`, `.storeKey`, `.storeCorrupt`, `.storeVersion`, `.storeRefused`, `.storeIO`, `.forked`.
  public func unlock() throws(EnrollError) {
    try withCurrentStore { (store) throws(EnrollError) in _ = try store.keys() }
  }

  // MARK: The folder that is open

  /// Runs `body` with the open folder; if `body` fails and the folder was replaced, once more with the new folder.
  /// - Parameter isUnderWay: whether `body` has had effects that must not happen twice.
  func withCurrentStore<Value>(
    unless isUnderWay: () -> Bool = { false }, _ body: (OpenStore) throws(EnrollError) -> Value
  ) throws(EnrollError) -> Value {
    try origin.check()
    let store = current.withLock { $0.store }
    do {
      return try body(store)
    } catch {
      guard !isUnderWay(), let fresh = reopened(instead: store) else { throw error }
      return try body(fresh)
    }
  }

  /// - Returns: nil if `store` is still at its path, or if no usable folder is there.
  func reopened(instead store: OpenStore) -> OpenStore? {
    let now = current.withLock { $0.store }
    // Another thread has reopened the store already.
    guard now === store else { return now }
    guard let isAtPath = try? store.folder.isAtPath(), !isAtPath, let fresh = try? store.reopened() else {
      return nil
    }
    let instant = clock.instant()
    return current.withLock { current in
      if current.store === store {
        current.store = fresh
        current.seen = instant
      }
      return current.store
    }
  }

  /// Checks for reads, once a second, that the folder is still at its path. Taking a lock checks that as well.
  private func checkPath() throws(EnrollError) {
    let now = clock.instant()
    let store = current.withLock { current -> OpenStore? in
      guard !(0..<Self.trustedNanoseconds).contains(now.since(current.seen)) else { return nil }
      current.seen = now
      return current.store
    }
    guard let store, try !store.folder.isAtPath() else { return }
    guard reopened(instead: store) != nil else { throw StoreFolder.replaced }
  }

  /// The sealed files, for diagnosis. The store must have keys.
  func inspect() throws(EnrollError) -> StoredFiles { try current.withLock { $0.store }.inspect() }

  // MARK: Keys

  /// Moves the store's keys to another key provider, or has the same provider wrap them again. If this is interrupted,
  /// nothing is lost. Other processes can use the store in the meantime.
  /// - Parameters:
  ///   - keys: the key provider from now on.
  ///   - newDataKey: whether also to make a new data key and to seal every file with it. A file that cannot be opened,
  ///     or was set aside, is not changed; the older keys are then kept, too.
  /// - Returns: the name of the provider that has the key now.
  /// - Throws: `.notFound` for a store without keys; `.storeLocked` and related errors if the key cannot be opened, or
  ///   if the new provider cannot store it. After an error nothing has changed, or both providers open the store.
  @discardableResult
  public func replaceKeys(_ keys: KeyPlan, newDataKey: Bool = false) throws(EnrollError) -> String {
    try origin.check()
    let store = current.withLock { $0.store }
    let chooser = try keys.chooser(
      forStoreAt: store.folder.path, random: random, system: store.folder.system)
    let provider = try store.ring.replace(with: chooser, reseal: nil)
    store.ring.removeLeftovers()
    // The replacement of the data key is a separate step. Until it starts, only the key provider has changed.
    guard newDataKey else { return provider }
    return try store.ring.replace(with: chooser) { () throws(EnrollError) in try store.reseal() }
  }

  // MARK: Accounts

  public func read(_ account: AccountName) throws(EnrollError) -> AccountRecord? {
    try origin.check()
    try checkPath()
    // This always reads the status of the file. Only the client's TokenCache may return a token without that.
    return try with(account) { (file) throws(EnrollError) in try file.record(fresh: true) }
  }

  @discardableResult
  public func update(
    _ account: AccountName, _ change: (inout AccountRecord) throws(EnrollError) -> Void
  ) throws(EnrollError) -> AccountRecord {
    var isUnderWay = false
    return try withCurrentStore(unless: { isUnderWay }) { (store) throws(EnrollError) in
      try store.with(account) { (file) throws(EnrollError) in
        try file.update(account) { (record) throws(EnrollError) in
          isUnderWay = true
          try change(&record)
        }
      }
    }
  }

  public func withRenewalLock(
    _ account: AccountName, epoch: UInt64, deadline: Instant, cancellation: (any Cancellation)?,
    _ body: () throws(EnrollError) -> Void
  ) throws(EnrollError) -> RenewalLockResult {
    var isUnderWay = false
    return try withCurrentStore(unless: { isUnderWay }) { (store) throws(EnrollError) in
      try store.with(account) { (file) throws(EnrollError) in
        try file.withRenewalLock(epoch: epoch, deadline: deadline, cancellation: cancellation) {
          () throws(EnrollError) in
          isUnderWay = true
          current.withLock { $0.lockedIn[account] = store }
          defer { current.withLock { $0.lockedIn[account] = nil } }
          try body()
        }
      }
    }
  }

  /// Reserves the disk space and descriptors that the next change of the epoch needs, until the lock is released.
  /// Fails if the folder was replaced since the lock was taken: a lock in the old folder excludes no other process.
  public func reserveSpace(_ account: AccountName) throws(EnrollError) {
    try origin.check()
    let (store, locked) = current.withLock { ($0.store, $0.lockedIn[account]) }
    if let locked, locked !== store { throw StoreFolder.replaced }
    try store.with(account) { (file) throws(EnrollError) in try file.reserveSpace() }
  }

  public func keepRenewalLock(_ account: AccountName, _ isKept: Bool) {
    guard !origin.isForkedChild else { return }
    let (store, locked) = current.withLock { ($0.store, $0.lockedIn[account]) }
    try? (locked ?? store).with(account) { (file) throws(EnrollError) in file.keepRenewalLock(isKept) }
  }

  public func remove(_ account: AccountName) throws(EnrollError) {
    try with(account) { (file) throws(EnrollError) in try file.remove() }
  }

  /// Erases all accounts of that name, at every provider and client.
  /// - Throws: after erasing, the error of the first unreadable record, whose account may have that name.
  public func remove(named text: String) throws(EnrollError) {
    var failure: EnrollError?
    var meant: [AccountName] = []
    try withCurrentStore { (store) throws(EnrollError) in
      try store.forEachRecord { file throws(EnrollError) in
        do throws(EnrollError) {
          if let document = try file.document(fresh: true), ASCII.equals(document.account.text, text) {
            meant.append(document.account)
          }
        } catch {
          failure = failure ?? error
        }
      }
    }
    for account in meant {
      do throws(EnrollError) { try remove(account) } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }

  /// Opens every record, because account names are only inside the sealed files. All damaged records are set aside and
  /// reported by one error; the next call succeeds without them.
  public func accounts() throws(EnrollError) -> [AccountName] { try accounts { !$0.isAttemptsAlone } }

  /// Does not set damaged records aside: ``accounts()`` does that, and reports them.
  public func accountsWithAttempts() throws(EnrollError) -> [AccountName] {
    try accounts(setsAside: false) { _ in true }
  }

  private func accounts(
    setsAside: Bool = true, where isMeant: (AccountDocument) -> Bool
  ) throws(EnrollError) -> [AccountName] {
    try origin.check()
    try checkPath()
    return try withCurrentStore { (store) throws(EnrollError) in
      var names: [AccountName] = []
      var damage: EnrollError?
      var others = 0
      try store.forEachRecord { file throws(EnrollError) in
        do throws(EnrollError) {
          if let document = try setsAside ? file.document(fresh: true) : file.documentOnDisk(),
            isMeant(document)
          {
            names.append(document.account)
          }
        } catch {
          guard error.code == .storeCorrupt else { throw error }
          if damage == nil { damage = error } else { others += 1 }
        }
      }
      if let damage {
        throw others == 0
          ? damage
          : EnrollError(
            .storeCorrupt, "\(damage.message); damaged as well: \(others) more, see store.diagnose",
            field: "store")
      }
      return AccountName.sorted(names)
    }
  }

  private func with<Value>(
    _ name: AccountName, _ body: (AccountFile) throws(EnrollError) -> Value
  ) throws(EnrollError) -> Value {
    try withCurrentStore { (store) throws(EnrollError) in try store.with(name, body) }
  }

  // MARK: PINs

  public var pins: (any PINStore)? { self }

  public func isUnlocked(_ account: AccountName) throws(EnrollError) -> Bool? {
    try with(account) { (file) throws(EnrollError) in try file.isUnlocked() }
  }

  public func setPIN(_ pin: Secret, _ account: AccountName) throws(EnrollError) {
    try with(account) { (file) throws(EnrollError) in try file.setPIN(pin) }
  }

  public func usePIN(
    _ pin: Secret, _ account: AccountName, to change: PINChange
  ) throws(EnrollError) -> PINAnswer {
    try with(account) { (file) throws(EnrollError) in try file.usePIN(pin, to: change) }
  }

  // MARK: Store-level files

  public func installationID() throws(EnrollError) -> String {
    try withCurrentStore { (store) throws(EnrollError) in
      let file = try store.file(StoreNames.installation)
      let held = try store.lock.acquire()
      defer { held.release() }
      let (present, generation) = try store.open(file) { (text) throws(EnrollError) in
        try InstallationDocument.decode(text, as: store.forms.installation)
      }
      if let present { return present }
      let id = Base64URL.encode(try random.bytes(16))
      _ = try file.save(InstallationDocument.encoded(id, as: store.forms.installation), after: generation)
      return id
    }
  }

  public func resetInstallationID() throws(EnrollError) {
    try withCurrentStore { (store) throws(EnrollError) in
      let held = try store.lock.acquire()
      defer { held.release() }
      try store.folder.discard(StoreNames.installation)
      try store.folder.sync()
    }
  }

  /// A message can be sent even if it is not in the outbox, so a call waits only briefly for the outbox's lock.
  private static let outboxSeconds: Int64 = 1

  @discardableResult
  public func updateOutbox(
    _ change: (inout [OutboxEntry]) throws(EnrollError) -> Void
  ) throws(EnrollError) -> [OutboxEntry] {
    var isUnderWay = false
    return try withCurrentStore(unless: { isUnderWay }) { (store) throws(EnrollError) in
      let file = try store.file(StoreNames.outbox)
      let held = try store.lock.acquire(atMost: Self.outboxSeconds)
      defer { held.release() }
      let (present, generation) = try store.open(file) { (text) throws(EnrollError) in
        try OutboxDocument.decode(text, as: store.forms.outbox)
      }
      let before = present ?? []
      var after = before
      isUnderWay = true
      try change(&after)
      guard after != before else { return after }
      _ = try file.save(OutboxDocument.encoded(after, as: store.forms.outbox), after: generation)
      return after
    }
  }
}
