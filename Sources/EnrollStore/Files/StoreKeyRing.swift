// The store's keys, and how they are opened. Keys are made only for a new store, because sealed files could not be read
// with new keys (store.md, Keys).
//
// Replacement never loses a key. The `keys` file first has the old and the new slots. The new slots are read back from
// the disk and opened, files are sealed again if needed, and only then are the old slots removed. If the process dies
// in between, both providers open the store. Before other processes seal a file, they notice the replacement: while
// they hold the lock of the file that they save, they compare the status of `keys` with the known status.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollJSON
import EnrollPosix

/// Opens the store's keys once and keeps them.
final class StoreKeyRing: @unchecked Sendable {
  // Unchecked: `loaded` and `chooser` are only touched with `condition` held.
  static let fileName = StoreNames.keys

  /// Opened keys, and the status of the `keys` file from which they were read.
  private struct Loaded {
    var keys: StoreKeys
    var status: FileStatus
  }

  private let folder: StoreFolder
  private let random: any RandomSource
  private let form: StoreForm<JSONObject>
  private let storeLock: StoreLock
  /// This lock is held while keys are replaced, so that only one process at a time replaces them.
  private let replacing: StoreLock
  private let condition = Condition()
  /// This mutex is held while keys are opened. The opening may have to wait for the key provider.
  private let opening = TimedMutex()
  private var chooser: KeyChooser
  private var loaded: Loaded?

  init(
    folder: StoreFolder, chooser: KeyChooser, random: any RandomSource, storeLock: StoreLock,
    form: StoreForm<JSONObject>
  ) {
    self.folder = folder
    self.form = form
    self.chooser = chooser
    self.random = random
    self.storeLock = storeLock
    replacing = StoreLock(StoreNames.keysLock, in: folder)
  }

  /// Returns the keys. The first call that succeeds opens them, or creates them for a new store.
  /// - Throws: `.storeLocked`, `.storeKey`, `.storeCorrupt`, `.storeVersion`, and the errors of file operations.
  func open() throws(EnrollError) -> StoreKeys {
    if let loaded = locked({ loaded }) { return loaded.keys }
    try opening.lock()
    defer { opening.unlock() }
    if let known = locked({ loaded }) { return known.keys }
    let opened = if let opened = try openedFile() { opened } else { try make(currentChooser) }
    locked { loaded = opened }
    return opened.keys
  }

  /// Opens the keys on disk; nil if there is no `keys` file. If another process replaces the keys meanwhile, the
  /// wrapping key of a slot that was read may be gone. In that case the `keys` file has changed, and is read again.
  private func openedFile() throws(EnrollError) -> Loaded? {
    while let (file, status) = try KeysFile.read(folder, as: form) {
      do throws(EnrollError) {
        return Loaded(keys: try unwrap(file, currentChooser), status: status)
      } catch {
        guard error.code == .storeKey || error.code == .storeLocked,
          try !folder.status(StoreKeyRing.fileName).isSame(as: status)
        else { throw error }
        try CallTimeout.check("while another process replaced the store's keys")
      }
    }
    return nil
  }

  /// Removes temporary files that dead processes left with the key provider.
  func removeLeftovers() {
    for candidate in locked({ chooser }).candidates { candidate.removeLeftovers() }
  }

  /// The rollback anchor of the account with that tag. The anchor is kept outside the store, so that restoring the
  /// store does not restore it. nil if no key provider of the store can keep an anchor.
  func anchor(for tag: [UInt8]) -> RollbackAnchor? {
    guard let keys = try? open(), let found = try? KeysFile.read(folder, as: form) else { return nil }
    for candidate in locked({ chooser }).candidates {
      guard found.file.slots.contains(where: { ASCII.equals($0.provider, candidate.name) }),
        let store = candidate.anchors
      else { continue }
      return RollbackAnchor(store: store, keys: keys, tag: tag)
    }
    return nil
  }

  /// The key providers that are in use.
  var currentChooser: KeyChooser { locked { chooser } }

  /// Reads the keys from the disk again, after another process replaced them.
  func reopen() throws(EnrollError) -> StoreKeys {
    try opening.lock()
    defer { opening.unlock() }
    return try reload()
  }

  /// The keys for sealing a file. Call it with the lock of that file held. A key that another process replaced must not
  /// seal anything, because the key will be removed soon.
  func keysForSealing() throws(EnrollError) -> StoreKeys {
    _ = try open()
    let status = try folder.status(StoreKeyRing.fileName)
    if let loaded = locked({ loaded }), status.isSame(as: loaded.status) { return loaded.keys }
    try opening.lock()
    defer { opening.unlock() }
    guard let (file, seen) = try KeysFile.read(folder, as: form) else { throw StoreKeyRing.missing }
    // The keys have moved to another provider, which this process may be unable to use. But the data key is still the
    // same, so the known keys are used.
    if var known = locked({ loaded }), known.keys.storeID == file.storeID, known.keys.active.id == file.active
    {
      known.status = seen
      locked { loaded = known }
      return known.keys
    }
    return try reload()
  }

  /// Opens the keys on disk again. Called with `opening` held.
  private func reload() throws(EnrollError) -> StoreKeys {
    guard let opened = try openedFile() else { throw StoreKeyRing.missing }
    locked { loaded = opened }
    return opened.keys
  }

  private static var missing: EnrollError {
    EnrollError(
      .storeLocked,
      "the keys file is missing while sealed files are there. Without it they cannot be read. Restore it from a backup, or move the store away and sign in again",
      field: EnrollError.keyFileField)
  }

  // MARK: Making

  private func make(_ chooser: KeyChooser) throws(EnrollError) -> Loaded {
    let held = try storeLock.acquire()
    defer { held.release() }
    // Another process may have created the keys in the meantime.
    if let opened = try openedFile() { return opened }
    for name in try folder.names() where StoreNames.isSealed(name) { throw StoreKeyRing.missing }

    let provider = try chooser.best()
    let storeID = try random.bytes(StoreKeys.idCount)
    let keyID = try random.bytes(StoreKeys.idCount)
    let both = StoreKeys.both(try newKey(), try newKey())
    let file = KeysFile(storeID: storeID, active: keyID, slots: [])
    let wrapped = try provider.wrap(both, slot: file.slot(keyID))
    let whole = KeysFile(
      storeID: storeID, active: keyID,
      slots: [KeysFile.Slot(provider: provider.name, keyID: keyID, wrapped: wrapped)])
    // The new key is opened once for a test: a key that cannot be opened again must not become the key of a store.
    let opened = try unwrap(whole, chooser)
    guard opened.nameKey == StoreKeys.halves(of: both)?.name else { throw StoreKeyRing.otherKey }
    return Loaded(keys: opened, status: try save(whole))
  }

  private func newKey() throws(EnrollError) -> Secret {
    var material = try random.bytes(StoreKeys.keyCount)
    defer { material.withUnsafeMutableBytes { Wipe.bytes($0) } }
    return Secret(material)
  }

  private func save(_ file: KeysFile) throws(EnrollError) -> FileStatus {
    try folder.replace(
      StoreKeyRing.fileName, with: file.encoded(as: form),
      temporary: StoreNames.temporary(StoreKeyRing.fileName))
  }

  private static var otherKey: EnrollError {
    EnrollError(.internal, "the key provider returned another key than it was given")
  }

  // MARK: Opening

  private func unwrap(_ file: KeysFile, _ chooser: KeyChooser) throws(EnrollError) -> StoreKeys {
    guard let active = try dataKey(file.active, file, chooser) else { throw chooser.mismatch(file) }
    var keys = StoreKeys(storeID: file.storeID, nameKey: active.name, active: active.data)
    for slot in file.slots where keys.dataKey(slot.keyID) == nil {
      if let older = try dataKey(slot.keyID, file, chooser) { keys.older.append(older.data) }
    }
    return keys
  }

  private func dataKey(
    _ id: [UInt8], _ file: KeysFile, _ chooser: KeyChooser
  ) throws(EnrollError) -> (name: Secret, data: StoreKeys.DataKey)? {
    guard let both = try chooser.open(id, in: file) else { return nil }
    guard let (name, data) = StoreKeys.halves(of: both) else {
      throw EnrollError(.storeCorrupt, "a key in the keys file has \(both.count) bytes", field: "store")
    }
    return (name, StoreKeys.DataKey(id: id, key: data))
  }

  // MARK: Replacing

  /// Lets the best provider of `chooser` wrap the keys, and removes all other slots. If that provider already wraps the
  /// keys, it wraps them again.
  /// - Parameters:
  ///   - reseal: nil to keep the data key. Otherwise a new data key is made, and `reseal` is called once it is active,
  ///     to seal every file with it. `reseal` returns whether no file needs an older key any more.
  /// - Returns: the name of the provider.
  func replace(
    with new: KeyChooser, reseal: (() throws(EnrollError) -> Bool)?
  ) throws(EnrollError) -> String {
    let held = try replacing.acquire()
    defer { held.release() }
    guard let (before, _) = try KeysFile.read(folder, as: form) else {
      throw EnrollError(.notFound, "the store has no keys yet: there is nothing to rewrap", field: "store")
    }
    let old = locked { chooser }
    let opened = try unwrap(before, old)
    let provider = try new.best()
    if before.slots.contains(where: { ASCII.equals($0.provider, provider.name) }) { try provider.renew() }

    // If there is a new data key, the new slots are only for that key. The old slots stay until no file needs the
    // older keys.
    var wanted = KeysFile(storeID: before.storeID, active: before.active, slots: [])
    var all = [opened.active] + opened.older
    if reseal != nil {
      wanted.active = try random.bytes(StoreKeys.idCount)
      let key = try newKey()
      all = [StoreKeys.DataKey(id: wanted.active, key: key)]
    }
    for key in all {
      let both = StoreKeys.both(opened.nameKey, key.key)
      let wrapped = try provider.wrap(both, slot: wanted.slot(key.id))
      wanted.slots.append(KeysFile.Slot(provider: provider.name, keyID: key.id, wrapped: wrapped))
    }

    // The new slots are first, so that a search finds them first. The old slots stay until the new slots have been read
    // back.
    var both = wanted
    both.slots += before.slots
    let status = try save(both)
    var keys = try unwrap(wanted, KeyChooser([provider], isAutomatic: false))
    guard keys.nameKey == opened.nameKey, keys.active.key == all.first?.key else {
      throw StoreKeyRing.otherKey
    }
    if reseal != nil { keys.older = [opened.active] + opened.older }
    locked {
      chooser = new
      loaded = Loaded(keys: keys, status: status)
    }

    if let reseal {
      guard try reseal() else { return provider.name }
      keys.older = []
    }
    let last = try save(wanted)
    locked { loaded = Loaded(keys: keys, status: last) }
    for slot in before.slots {
      for candidate in old.candidates where ASCII.equals(candidate.name, slot.provider) {
        // Errors are ignored: an old wrapping key that could not be removed opens nothing any more.
        try? candidate.discard(slot.wrapped, slot: before.slot(slot.keyID))
      }
    }
    return provider.name
  }

  private func locked<Value>(_ body: () -> Value) -> Value {
    condition.lock()
    defer { condition.unlock() }
    return body()
  }
}

extension StoreKeys {
  /// Splits the two keys that a slot wraps: first the name key, then the data key.
  static func halves(of both: Secret) -> (name: Secret, data: Secret)? {
    guard both.count == 2 * keyCount else { return nil }
    return both.withBytes { bytes in
      (
        Secret(UnsafeRawBufferPointer(rebasing: bytes[..<keyCount])),
        Secret(UnsafeRawBufferPointer(rebasing: bytes[keyCount...]))
      )
    }
  }

  static func both(_ name: Secret, _ data: Secret) -> Secret {
    var bytes = name.revealBytes()
    defer { bytes.withUnsafeMutableBytes { Wipe.bytes($0) } }
    data.withBytes { bytes += $0 }
    return Secret(bytes)
  }
}
