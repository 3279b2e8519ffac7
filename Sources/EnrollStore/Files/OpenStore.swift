// One opening of a store's folder, with the keys, locks and accounts that belong to it. A folder that is put in the place of the
// open one (a restore, a tool that synchronises) is another store: it is opened anew, and this one ends with its last call.

import EnrollCore
import EnrollCrypto
import EnrollPosix
import Synchronization

/// A store's folder as it is open.
final class OpenStore: Sendable {
  /// Accounts that are remembered; more are forgotten once nobody uses them.
  private static let rememberedLimit = 1024

  let folder: StoreFolder
  let ring: KeyRing
  let lock: StoreLock
  let forms: StoreForms
  private let clock: any Clock
  private let random: any RandomSource
  private let isTidied = Atomic<Bool>(false)
  private let table = Guarded<[AccountName: AccountFile]>([:], by: Mutex())

  init(
    _ folder: StoreFolder, _ chooser: KeyChooser, clock: any Clock, random: any RandomSource,
    forms: StoreForms
  ) {
    self.folder = folder
    self.clock = clock
    self.random = random
    self.forms = forms
    lock = StoreLock(StoreNames.lock, in: folder)
    ring = KeyRing(folder: folder, chooser: chooser, random: random, storeLock: lock, form: forms.keys)
  }

  /// The store that is at this path now.
  /// - Throws: as the opening of a store does; a folder that is not there is not made.
  func reopened() throws(EnrollError) -> OpenStore {
    OpenStore(try folder.reopened(), ring.currentChooser, clock: clock, random: random, forms: forms)
  }

  /// The keys. The first time, what processes that died left of the store's own files is removed.
  func keys() throws(EnrollError) -> StoreKeys {
    let keys = try ring.open()
    if !isTidied.exchange(true, ordering: .relaxed) { folder.tidy(StoreNames.ownTemporaries) }
    return keys
  }

  /// The names of all files, for a call that is about all of them. Files that dead processes left behind are removed.
  func names() throws(EnrollError) -> [String] {
    let names = try folder.names()
    folder.tidy(names)
    ring.tidy()
    return names
  }

  // MARK: Accounts

  func with<Value>(
    _ name: AccountName, _ body: (AccountFile) throws(EnrollError) -> Value
  ) throws(EnrollError) -> Value {
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
    let made = account(try keys().tag("account", name.qualifiedName))
    // Not at every save, and not by a look at the whole folder: what is left behind has one of two names.
    made.tidy()
    return table.withLock { files in
      let file = files[name] ?? made
      file.users.add(1, ordering: .acquiring)
      if files.count >= Self.rememberedLimit {
        files = files.filter { $0.value.isInUse }
      }
      files[name] = file
      return file
    }
  }

  /// Of that tag, not remembered.
  private func account(_ tag: [UInt8]) -> AccountFile {
    AccountFile(tag: tag, folder: folder, ring: ring, clock: clock, random: random, forms: forms)
  }

  /// Runs `body` for every record that is there, one after the other: what was read of one is gone before the next.
  func forEachRecord(_ body: (AccountFile) throws(EnrollError) -> Void) throws(EnrollError) {
    _ = try keys()
    for name in try names() {
      if let tag = AccountFileNames.tag(ofRecord: name) { try body(account(tag)) }
    }
  }

  // MARK: The store's own files

  func file(_ name: String) throws(EnrollError) -> SealedFile {
    sealedFile(name, try keys().tag("store", name))
  }

  /// A file of the store as a whole.
  func sealedFile(_ name: String, _ tag: [UInt8]) -> SealedFile {
    SealedFile(
      name: name, temporary: StoreNames.temporary(name), tag: tag, folder: folder, ring: ring, random: random,
      form: forms.sealed)
  }

  /// Called with the store's lock held. A damaged file is set aside.
  func open<Value>(
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

  // MARK: Sealing anew

  /// Seals every file with the key that seals now.
  /// - Returns: whether nothing needs the older keys any more.
  func reseal() throws(EnrollError) -> Bool {
    // A record or client that is being saved for the first time this moment has its lock already; one that was put back from
    // a copy may have none.
    var tags: Set<[UInt8]> = []
    for name in try names() {
      if let tag = AccountFileNames.tag(ofWriteLock: name) ?? AccountFileNames.tag(ofRecord: name)
        ?? ClientFileNames.tag(ofClient: name)
      {
        tags.insert(tag)
      }
      // Not worth more: the provider is asked again.
      if StoreNames.tag(ofProvider: name) != nil { try folder.discard(name) }
    }
    for tag in tags {
      try account(tag).reseal()
      try resealClient(tag)
    }
    let held = try lock.take()
    defer { held.release() }
    for name in [StoreNames.installation, StoreNames.outbox] { try reseal(try file(name)) }
    return try isResealed()
  }

  /// A registration that is under way is not waited for.
  private func resealClient(_ tag: [UInt8]) throws(EnrollError) {
    let names = ClientFileNames(tag: tag)
    let held = try StoreLock(names.writeLock, in: folder).take()
    defer { held.release() }
    try reseal(sealedFile(names.client, tag))
  }

  /// Called with the file's lock held. A file that cannot be opened is left as it is.
  private func reseal(_ file: SealedFile) throws(EnrollError) {
    do throws(EnrollError) {
      guard let content = try file.read() else { return }
      let (plaintext, generation) = try file.open(content)
      _ = try file.save(plaintext, after: generation)
    } catch {
      guard error.code == .storeCorrupt || error.code == .storeKey else { throw error }
    }
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
}
