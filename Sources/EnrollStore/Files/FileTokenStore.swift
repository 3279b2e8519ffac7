// Sealed records in files, one per account, shared by threads and processes (store.md). The parts: StoreFolder (what is
// refused, how a file is replaced), SealedFormat (how it is sealed), KeyRing (with what), AccountFile (one account's memory and
// locks), RenewalGate (turns at renewal), OpenStore (all of these for the folder that is open).

public import EnrollCore
public import EnrollCrypto
public import EnrollPosix

/// The durable store.
public final class FileTokenStore: TokenStore, PINKeeper, Sendable {
  /// How long a reader may go without a look at what is at the store's path (store.md, Memory and the disk).
  private static let trustedNanoseconds: Int64 = 1_000_000_000

  /// The folder that is open, and the renewals that run in it.
  private struct Current {
    var store: OpenStore
    /// When the folder was last seen at its path.
    var seen: Instant
    /// Whose turn runs in which folder.
    var turns: [AccountName: OpenStore] = [:]
  }

  private let clock: any Clock
  private let random: any RandomSource
  private let origin = ForkGuard()
  private let current: Guarded<Current>
  /// Clients that are being registered.
  let registering = Guarded<[RegistrationName: ClientFile]>([:], by: Mutex())

  /// Opens the folder; its keys are opened by the first call that needs them. A folder that is put in its place later is
  /// opened by the next call.
  /// - Parameters:
  ///   - path: absolute. The folder is made, with mode 0700, where its parent exists.
  ///   - keys: the store's key provider.
  ///   - allowsNetworkFilesystem: also where locks may not hold between machines.
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

  /// With the forms of another program, for tests.
  convenience init(
    path: String, keys: KeyPlan, clock: any Clock, random: any RandomSource, allowsNetworkFilesystem: Bool,
    system: any FileSystem, forms: StoreForms
  ) throws(EnrollError) {
    let folder = try StoreFolder(path, system: system, allowsNetworkFilesystem: allowsNetworkFilesystem)
    let chooser = try keys.chooser(forStoreAt: folder.path, random: random, system: system)
    self.init(OpenStore(folder, chooser, clock: clock, random: random, forms: forms), clock, random)
  }

  /// The store in a folder that is there; nil if there is none. Makes no folder.
  /// - Throws: as ``init(path:keys:clock:random:allowsNetworkFilesystem:system:)``.
  public static func existing(
    path: String, keys: KeyPlan, clock: any Clock, system: any FileSystem = PosixFileSystem()
  ) throws(EnrollError) -> FileTokenStore? {
    guard try StoreFolder.isThere(path, system: system) else { return nil }
    return try FileTokenStore(path: path, keys: keys, clock: clock, system: system)
  }

  private init(_ store: OpenStore, _ clock: any Clock, _ random: any RandomSource) {
    self.clock = clock
    self.random = random
    current = Guarded(Current(store: store, seen: clock.instant()), by: Mutex())
  }

  /// Opens the keys now, so that a locked store is known before anything depends on it.
  /// - Throws: `.storeLocked`, `.storeKey`, `.storeCorrupt`, `.storeVersion`, `.storeRefused`, `.storeIO`, `.forked`.
  public func unlock() throws(EnrollError) {
    try inPlace { (store) throws(EnrollError) in _ = try store.keys() }
  }

  // MARK: The folder that is open

  /// Runs `body` with the open folder; when that fails because another folder is in its place now, with that one.
  /// - Parameter isUnderWay: whether `body` has come so far that it must not run twice.
  func inPlace<Value>(
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

  /// - Returns: nil where `store` is still at its path, or nothing that can be opened is there.
  func reopened(instead store: OpenStore) -> OpenStore? {
    let now = current.withLock { $0.store }
    // Another thread was faster.
    guard now === store else { return now }
    guard let isInPlace = try? store.folder.isInPlace(), !isInPlace, let fresh = try? store.reopened() else {
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

  /// Readers take no lock, which would tell them of another folder: they look at the path once a second.
  private func requireSeen() throws(EnrollError) {
    let now = clock.instant()
    let store = current.withLock { current -> OpenStore? in
      guard !(0..<Self.trustedNanoseconds).contains(now.since(current.seen)) else { return nil }
      current.seen = now
      return current.store
    }
    guard let store, try !store.folder.isInPlace() else { return }
    guard reopened(instead: store) != nil else { throw StoreFolder.replaced }
  }

  /// The sealed files, as they are. Called for a store that has keys.
  func inspect() throws(EnrollError) -> StoredFiles { try current.withLock { $0.store }.inspect() }

  // MARK: Keys

  /// Moves the store's key to another provider, or has the same one wrap it anew; nothing is lost wherever that is
  /// interrupted. Other processes go on meanwhile.
  /// - Parameters:
  ///   - keys: the key provider from now on.
  ///   - newDataKey: also make a new key and seal every file with it. Files that cannot be opened, and those that were
  ///     set aside, stay as they are, and the older keys then stay with them.
  /// - Returns: the name of the provider that has the key now.
  /// - Throws: `.notFound` for a store without keys; `.storeLocked` and its kin where the key cannot be opened, or the
  ///   new provider cannot take it: then nothing has changed, or both open the store.
  @discardableResult
  public func replaceKeys(_ keys: KeyPlan, newDataKey: Bool = false) throws(EnrollError) -> String {
    try origin.check()
    let store = current.withLock { $0.store }
    let chooser = try keys.chooser(
      forStoreAt: store.folder.path, random: random, system: store.folder.system)
    let provider = try store.ring.replace(with: chooser, reseal: nil)
    store.ring.tidy()
    // A step of its own: between the two, whoever can open the store before or after can open it.
    guard newDataKey else { return provider }
    return try store.ring.replace(with: chooser) { () throws(EnrollError) in try store.reseal() }
  }

  // MARK: Accounts

  public func read(_ account: AccountName) throws(EnrollError) -> AccountRecord? {
    try origin.check()
    try requireSeen()
    // One look at the file's status: what may be served without is the client's to say (TokenCache).
    return try with(account) { (file) throws(EnrollError) in try file.record(fresh: true) }
  }

  @discardableResult
  public func update(
    _ account: AccountName, _ change: (inout AccountRecord) throws(EnrollError) -> Void
  ) throws(EnrollError) -> AccountRecord {
    var isUnderWay = false
    return try inPlace(unless: { isUnderWay }) { (store) throws(EnrollError) in
      try store.with(account) { (file) throws(EnrollError) in
        try file.update(account) { (record) throws(EnrollError) in
          isUnderWay = true
          try change(&record)
        }
      }
    }
  }

  public func renewalTurn(
    _ account: AccountName, epoch: UInt64, deadline: Instant, cancellation: (any Cancellation)?,
    _ body: () throws(EnrollError) -> Void
  ) throws(EnrollError) -> RenewalTurn {
    var isUnderWay = false
    return try inPlace(unless: { isUnderWay }) { (store) throws(EnrollError) in
      try store.with(account) { (file) throws(EnrollError) in
        try file.renewalTurn(epoch: epoch, deadline: deadline, cancellation: cancellation) {
          () throws(EnrollError) in
          isUnderWay = true
          current.withLock { $0.turns[account] = store }
          defer { current.withLock { $0.turns[account] = nil } }
          try body()
        }
      }
    }
  }

  /// Keeps what the next update that changes the epoch needs, disk space and descriptors, until the end of the renewal
  /// turn. Refused where another folder has taken the place of the one in which the turn runs: nobody is kept out there.
  public func reserveSpace(_ account: AccountName) throws(EnrollError) {
    try origin.check()
    let (store, turn) = current.withLock { ($0.store, $0.turns[account]) }
    if let turn, turn !== store { throw StoreFolder.replaced }
    try store.with(account) { (file) throws(EnrollError) in try file.reserveSpace() }
  }

  public func keepTurn(_ account: AccountName, _ isKept: Bool) {
    guard !origin.isForkedChild else { return }
    let (store, turn) = current.withLock { ($0.store, $0.turns[account]) }
    try? (turn ?? store).with(account) { (file) throws(EnrollError) in file.keepTurn(isKept) }
  }

  public func remove(_ account: AccountName) throws(EnrollError) {
    try with(account) { (file) throws(EnrollError) in try file.remove() }
  }

  /// Erases the accounts of that name, whichever provider and client they belong to.
  /// - Throws: once they are gone, what kept any other record from being opened: it may be of that name.
  public func remove(named text: String) throws(EnrollError) {
    var failure: EnrollError?
    var meant: [AccountName] = []
    try inPlace { (store) throws(EnrollError) in
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

  /// Opens every record: names stand only inside. Those that are damaged are all set aside, and reported by one error; the next
  /// call leaves them out.
  public func accounts() throws(EnrollError) -> [AccountName] { try accounts { !$0.isAttemptsAlone } }

  /// Damage is left where it is: it is for ``accounts()`` to report.
  public func accountsWithAttempts() throws(EnrollError) -> [AccountName] {
    try accounts(setsAside: false) { _ in true }
  }

  private func accounts(
    setsAside: Bool = true, where isMeant: (AccountDocument) -> Bool
  ) throws(EnrollError) -> [AccountName] {
    try origin.check()
    try requireSeen()
    return try inPlace { (store) throws(EnrollError) in
      var names: [AccountName] = []
      var damage: EnrollError?
      var others = 0
      try store.forEachRecord { file throws(EnrollError) in
        do throws(EnrollError) {
          if let document = try setsAside ? file.document(fresh: true) : file.present(), isMeant(document) {
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
    try inPlace { (store) throws(EnrollError) in try store.with(name, body) }
  }

  // MARK: PINs

  public var pins: (any PINKeeper)? { self }

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
    try inPlace { (store) throws(EnrollError) in
      let file = try store.file(StoreNames.installation)
      let held = try store.lock.take()
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
    try inPlace { (store) throws(EnrollError) in
      let held = try store.lock.take()
      defer { held.release() }
      try store.folder.discard(StoreNames.installation)
      try store.folder.sync()
    }
  }

  /// A message can do without the outbox: nobody waits long for a process that holds it.
  private static let outboxSeconds: Int64 = 1

  @discardableResult
  public func updateOutbox(
    _ change: (inout [OutboxEntry]) throws(EnrollError) -> Void
  ) throws(EnrollError) -> [OutboxEntry] {
    var isUnderWay = false
    return try inPlace(unless: { isUnderWay }) { (store) throws(EnrollError) in
      let file = try store.file(StoreNames.outbox)
      let held = try store.lock.take(atMost: Self.outboxSeconds)
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
