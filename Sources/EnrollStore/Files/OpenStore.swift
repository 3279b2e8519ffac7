// An open store folder, with its keys, locks and accounts. If a restore or a file synchronizer replaces the folder,
// the new folder is opened as another OpenStore, and this object is released after the last call that uses it.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollPosix
import Synchronization

/// One opened store folder.
final class OpenStore: Sendable {
  /// If more account objects than this number are in memory, the objects that are not in use are released.
  private static let rememberedLimit = 1024

  let folder: StoreFolder
  let ring: StoreKeyRing
  let lock: StoreLock
  let forms: StoreForms
  private let clock: any Clock
  private let random: any RandomSource
  private let hasRemovedLeftovers = Atomic<Bool>(false)
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
    ring = StoreKeyRing(folder: folder, chooser: chooser, random: random, storeLock: lock, form: forms.keys)
  }

  /// Opens the folder that is at the path now.
  /// - Throws: the same errors as opening a store. A missing folder is an error and is not created.
  func reopened() throws(EnrollError) -> OpenStore {
    OpenStore(try folder.reopened(), ring.currentChooser, clock: clock, random: random, forms: forms)
  }

  /// The keys. The first call also removes temporary files that dead processes left.
  func keys() throws(EnrollError) -> StoreKeys {
    let keys = try ring.open()
    if !hasRemovedLeftovers.exchange(true, ordering: .relaxed) {
      folder.removeLeftovers(StoreNames.ownTemporaries)
    }
    return keys
  }

  /// The names of all files, for calls that read the whole folder. Files that dead processes left are removed.
  func names() throws(EnrollError) -> [String] {
    let names = try folder.names()
    folder.removeLeftovers(names)
    ring.removeLeftovers()
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
    // This runs only at an account's first use, and only for the two files that a dead process can leave behind:
    // reading the whole folder would cost too much.
    made.removeLeftovers()
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

  /// A new object for the account with that tag. The object is not put into `table`.
  private func account(_ tag: [UInt8]) -> AccountFile {
    AccountFile(tag: tag, folder: folder, ring: ring, clock: clock, random: random, forms: forms)
  }

  /// Runs `body` for every record, one after the other. Each record is released before the next is read.
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

  /// A sealed file that is not an account's record.
  func sealedFile(_ name: String, _ tag: [UInt8]) -> SealedFile {
    SealedFile(
      name: name, temporary: StoreNames.temporary(name), tag: tag, folder: folder, ring: ring, random: random,
      form: forms.sealed)
  }

  /// Reads and decodes a file. Sets it aside if it is damaged. Called with the store's lock held.
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

  // MARK: Sealing again

  /// Seals every file with the active data key.
  /// - Returns: whether no file needs an older key.
  func reseal() throws(EnrollError) -> Bool {
    // The tags of records, clients and write locks are collected. A record or client that is being saved for the first
    // time has a write lock, but perhaps no file yet; a file that was restored from a copy may have no write lock.
    var tags: Set<[UInt8]> = []
    for name in try names() {
      if let tag = AccountFileNames.tag(ofWriteLock: name) ?? AccountFileNames.tag(ofRecord: name)
        ?? ClientFileNames.tag(ofClient: name)
      {
        tags.insert(tag)
      }
      // Provider documents are only a cache. They are deleted, and will be fetched from the provider again.
      if StoreNames.tag(ofProvider: name) != nil { try folder.discard(name) }
    }
    for tag in tags {
      try account(tag).reseal()
      try resealClient(tag)
    }
    let held = try lock.acquire()
    defer { held.release() }
    for name in [StoreNames.installation, StoreNames.outbox] { try reseal(try file(name)) }
    return try isResealed()
  }

  /// Seals a client's file again. This takes only the write lock, so it does not wait for a registration that is in
  /// progress.
  private func resealClient(_ tag: [UInt8]) throws(EnrollError) {
    let names = ClientFileNames(tag: tag)
    let held = try StoreLock(names.writeLock, in: folder).acquire()
    defer { held.release() }
    try reseal(sealedFile(names.client, tag))
  }

  /// Seals the file again. A file that cannot be opened is not changed. Called with the file's lock held.
  private func reseal(_ file: SealedFile) throws(EnrollError) {
    do throws(EnrollError) {
      guard let content = try file.read() else { return }
      let (plaintext, generation) = try file.open(content)
      _ = try file.save(plaintext, after: generation)
    } catch {
      guard error.code == .storeCorrupt || error.code == .storeKey else { throw error }
    }
  }

  /// Whether the header of every sealed file names the active key. All files on disk are checked once more, because a
  /// file that was overlooked could not be opened after the older keys are removed.
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
