// Sealed records in files, one per account, shared by threads and processes (reliability.md). The parts: StoreFolder (what is
// refused, how a file is replaced), SealedFormat (how it is sealed), KeyRing (with what), AccountFile (one account's memory and
// locks), RenewalGate (turns at renewal).

public import EnrollCore
public import EnrollCrypto
import Synchronization

/// The durable store.
public final class FileTokenStore: TokenStore, PINKeeper, @unchecked Sendable {
  // Unchecked: `table` is guarded, the rest never changes.

  /// Accounts that are remembered; more are forgotten once nobody uses them.
  private static let rememberedLimit = 1024

  let folder: StoreFolder
  let ring: KeyRing
  private let clock: any Clock
  private let random: any RandomSource
  let forms: StoreForms
  private let storeLock: StoreLock
  private let origin = ForkGuard()
  private let isTidied = Atomic<Bool>(false)
  private let table = Guarded<[AccountName: AccountFile]>([:], by: Mutex())

  /// Opens the folder; its keys are opened by the first call that needs them.
  /// - Parameters:
  ///   - path: absolute. The folder is made, with mode 0700, where its parent exists.
  ///   - keys: who guards the store's key.
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
  package convenience init(
    path: String, keys: KeyPlan, clock: any Clock, random: any RandomSource, allowsNetworkFilesystem: Bool,
    system: any FileSystem, forms: StoreForms
  ) throws(EnrollError) {
    let folder = try StoreFolder(path, system: system, allowsNetworkFilesystem: allowsNetworkFilesystem)
    let chooser = try keys.chooser(forStoreAt: folder.path, random: random, system: system)
    self.init(folder: folder, chooser: chooser, clock: clock, random: random, forms: forms)
  }

  private init(
    folder: StoreFolder, chooser: KeyChooser, clock: any Clock, random: any RandomSource,
    forms: StoreForms
  ) {
    self.folder = folder
    self.clock = clock
    self.random = random
    self.forms = forms
    storeLock = StoreLock(StoreNames.lock, in: folder)
    ring = KeyRing(folder: folder, chooser: chooser, random: random, storeLock: storeLock, form: forms.keys)
  }

  /// Opens the keys now, so that a locked store is known before anything depends on it.
  /// - Throws: `.storeLocked`, `.storeKey`, `.storeCorrupt`, `.storeVersion`, `.storeRefused`, `.storeIO`, `.forked`.
  public func unlock() throws(EnrollError) {
    try origin.check()
    _ = try openKeys()
  }

  // MARK: Keys

  /// The first time, what processes that died left behind is removed.
  private func openKeys() throws(EnrollError) -> StoreKeys {
    let keys = try ring.open()
    if !isTidied.exchange(true, ordering: .relaxed) {
      folder.tidy()
      ring.tidy()
    }
    return keys
  }

  /// Moves the store's key to another provider, or has the same one wrap it anew; nothing is lost wherever that is
  /// interrupted. Other processes go on meanwhile.
  /// - Parameters:
  ///   - keys: who guards the key from now on.
  ///   - newDataKey: also make a new key and seal every file with it. Files that cannot be opened, and those that were
  ///     set aside, stay as they are, and the older keys then stay with them.
  /// - Returns: the name of the provider that has the key now.
  /// - Throws: `.notFound` for a store without keys; `.storeLocked` and its kin where the key cannot be opened, or the
  ///   new provider cannot take it: then nothing has changed, or both open the store.
  @discardableResult
  public func replaceKeys(_ keys: KeyPlan, newDataKey: Bool = false) throws(EnrollError) -> String {
    try origin.check()
    let chooser = try keys.chooser(forStoreAt: folder.path, random: random, system: folder.system)
    let provider = try ring.replace(with: chooser, reseal: nil)
    ring.tidy()
    // A step of its own: between the two, whoever can open the store before or after can open it.
    guard newDataKey else { return provider }
    return try ring.replace(with: chooser) { () throws(EnrollError) in try self.reseal() }
  }

  /// - Returns: whether nothing needs the older keys any more.
  private func reseal() throws(EnrollError) -> Bool {
    // A record that is being saved for the first time this moment has its lock already; one that was put back from a copy
    // may have none.
    var tags: Set<[UInt8]> = []
    for name in try folder.names() {
      if let tag = AccountFileNames.tag(ofWriteLock: name) ?? AccountFileNames.tag(ofRecord: name) {
        tags.insert(tag)
      }
    }
    for tag in tags {
      let file = AccountFile(
        tag: tag, folder: folder, ring: ring, clock: clock, random: random, forms: forms)
      try file.reseal()
    }
    let held = try storeLock.take()
    defer { held.release() }
    for name in [StoreNames.installation, StoreNames.outbox] {
      let file = try storeFile(name)
      do throws(EnrollError) {
        guard let content = try file.read() else { continue }
        let (plaintext, generation) = try file.open(content)
        _ = try file.save(plaintext, after: generation)
      } catch {
        guard error.code == .storeCorrupt || error.code == .storeKey else { throw error }
      }
    }
    return try isResealed()
  }

  /// Whether every sealed file says itself that the key that seals now has sealed it: looked for on the disk once more,
  /// because a key that goes takes with it whatever was overlooked.
  private func isResealed() throws(EnrollError) -> Bool {
    let keys = try ring.open()
    for name in try folder.names() where StoreNames.isSealed(name) {
      let found: (bytes: [UInt8], status: FileStatus)?
      do throws(EnrollError) {
        found = try folder.read(name, limit: SealedFormat.fileLimit)
      } catch {
        guard error.code == .storeCorrupt else { throw error }
        return false
      }
      guard let bytes = found?.bytes else { continue }
      guard let header = try? SealedHeader(of: bytes), header.storeID == keys.storeID,
        header.keyID == keys.active.id
      else { return false }
    }
    return true
  }

  public func read(_ account: AccountName) throws(EnrollError) -> AccountRecord? {
    // One look at the file's status: what may be served without is the client's to say (TokenCache).
    try with(account) { (file) throws(EnrollError) in try file.record(fresh: true) }
  }

  @discardableResult
  public func update(
    _ account: AccountName, _ change: (inout AccountRecord) throws(EnrollError) -> Void
  ) throws(EnrollError) -> AccountRecord {
    try with(account) { (file) throws(EnrollError) in try file.update(account, change) }
  }

  public func renewalTurn(
    _ account: AccountName, epoch: UInt64, deadline: Instant, cancellation: (any Cancellation)?,
    _ body: () throws(EnrollError) -> Void
  ) throws(EnrollError) -> RenewalTurn {
    try with(account) { (file) throws(EnrollError) in
      try file.renewalTurn(epoch: epoch, deadline: deadline, cancellation: cancellation, body)
    }
  }

  /// Keeps disk space for the next update that changes the epoch, until the end of the renewal turn.
  public func reserveSpace(_ account: AccountName) throws(EnrollError) {
    try with(account) { (file) throws(EnrollError) in try file.reserveSpace() }
  }

  public func remove(_ account: AccountName) throws(EnrollError) {
    try with(account) { (file) throws(EnrollError) in try file.remove() }
  }

  /// Erases the accounts of that name, whichever provider and client they belong to.
  /// - Throws: once they are gone, what kept any other record from being opened: it may be of that name.
  public func remove(named text: String) throws(EnrollError) {
    try origin.check()
    _ = try openKeys()
    var failure: EnrollError?
    for file in try recordFiles() {
      do throws(EnrollError) {
        if let document = try file.document(fresh: true), ASCII.equals(document.account.text, text) {
          try remove(document.account)
        }
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  /// Opens every record: names stand only inside. A damaged one is set aside and reported; the next call leaves it out.
  public func accounts() throws(EnrollError) -> [AccountName] {
    try origin.check()
    _ = try openKeys()
    var names: [AccountName] = []
    for file in try recordFiles() {
      if let document = try file.document(fresh: true) { names.append(document.account) }
    }
    return AccountName.sorted(names)
  }

  /// Of every record that is there; none of them is remembered.
  private func recordFiles() throws(EnrollError) -> [AccountFile] {
    var files: [AccountFile] = []
    for name in try folder.names() {
      guard let tag = AccountFileNames.tag(ofRecord: name) else { continue }
      files.append(
        AccountFile(tag: tag, folder: folder, ring: ring, clock: clock, random: random, forms: forms))
    }
    return files
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
    try origin.check()
    let file = try storeFile(StoreNames.installation)
    let held = try storeLock.take()
    defer { held.release() }
    let (present, generation) = try open(file) { (text) throws(EnrollError) in
      try InstallationDocument.decode(text, as: forms.installation)
    }
    if let present { return present }
    let id = Base64URL.encode(try random.bytes(16))
    _ = try file.save(InstallationDocument.encoded(id, as: forms.installation), after: generation)
    return id
  }

  public func resetInstallationID() throws(EnrollError) {
    try origin.check()
    let held = try storeLock.take()
    defer { held.release() }
    try folder.discard(StoreNames.installation)
    try folder.sync()
  }

  @discardableResult
  public func updateOutbox(
    _ change: (inout [OutboxEntry]) throws(EnrollError) -> Void
  ) throws(EnrollError) -> [OutboxEntry] {
    try origin.check()
    let file = try storeFile(StoreNames.outbox)
    let held = try storeLock.take()
    defer { held.release() }
    let (present, generation) = try open(file) { (text) throws(EnrollError) in
      try OutboxDocument.decode(text, as: forms.outbox)
    }
    let before = present ?? []
    var after = before
    try change(&after)
    guard after != before else { return after }
    _ = try file.save(OutboxDocument.encoded(after, as: forms.outbox), after: generation)
    return after
  }

  private func storeFile(_ name: String) throws(EnrollError) -> SealedFile {
    SealedFile(
      name: name, temporary: StoreNames.temporary(name), reserve: nil, tag: try openKeys().tag("store", name),
      folder: folder, ring: ring, random: random, form: forms.sealed)
  }

  /// Called with the store's lock held. A damaged file is set aside.
  private func open<Value>(
    _ file: SealedFile, _ decode: (Secret) throws(EnrollError) -> Value
  ) throws(EnrollError) -> (value: Value?, generation: UInt64) {
    do {
      guard let content = try file.read() else { return (nil, 0) }
      let (plaintext, generation) = try file.open(content)
      return (try decode(plaintext), generation)
    } catch {
      throw error.code == .storeCorrupt ? file.setAside(error) : error
    }
  }

  // MARK: Accounts

  private func with<Value>(
    _ name: AccountName, _ body: (AccountFile) throws(EnrollError) -> Value
  ) throws(EnrollError) -> Value {
    try origin.check()
    let file = try use(name)
    defer { file.users.subtract(1, ordering: .releasing) }
    return try body(file)
  }

  private func use(_ name: AccountName) throws(EnrollError) -> AccountFile {
    let present = table.withLock { files in
      let file = files[name]
      file?.users.add(1, ordering: .acquiring)
      return file
    }
    if let present { return present }
    let made = AccountFile(
      tag: try openKeys().tag("account", name.qualifiedName), folder: folder, ring: ring, clock: clock,
      random: random,
      forms: forms)
    return table.withLock { files in
      let file = files[name] ?? made
      file.users.add(1, ordering: .acquiring)
      if files.count >= Self.rememberedLimit {
        files = files.filter { $0.value.users.load(ordering: .acquiring) > 0 }
      }
      files[name] = file
      return file
    }
  }
}
