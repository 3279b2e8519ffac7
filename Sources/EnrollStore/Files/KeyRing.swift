// The store's keys and how they are opened. Made with the store; never made over a store that is
// there, because a new key would turn every record into noise (store.md, Keys).
//
// Replaced without losing anything: the `keys` file first holds the old slots and the new ones; once the new ones were opened
// from the disk, and what has to be sealed anew is, the old ones go. A process that dies in between leaves a store that both
// open. Other processes notice before they seal anything: they look at the file's status under the lock of what they save.

import EnrollCore
import EnrollCrypto
import EnrollJSON
import EnrollPosix

/// Opens the store's keys once and keeps them.
final class KeyRing: @unchecked Sendable {
  // Unchecked: `loaded` and `chooser` are only touched with `condition` held.
  static let fileName = StoreNames.keys

  /// Keys, and the file that they were read from.
  private struct Loaded {
    var keys: StoreKeys
    var status: FileStatus
  }

  private let folder: StoreFolder
  private let random: any RandomSource
  private let form: StoreForm<JSONObject>
  private let storeLock: StoreLock
  /// Held while keys are replaced: nobody else replaces them meanwhile.
  private let replacing: StoreLock
  private let condition = Condition()
  /// Held while keys are opened, which may mean waiting for their keeper.
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

  /// The keys, opened at the first call that succeeds. A new store is made if there is none.
  /// - Throws: `.storeLocked`, `.storeKey`, `.storeCorrupt`, `.storeVersion`, and what files can throw.
  func open() throws(EnrollError) -> StoreKeys {
    if let loaded = locked({ loaded }) { return loaded.keys }
    try opening.lock()
    defer { opening.unlock() }
    if let known = locked({ loaded }) { return known.keys }
    let opened = if let opened = try openedFile() { opened } else { try make(currentChooser) }
    locked { loaded = opened }
    return opened.keys
  }

  /// The keys on disk; nil where there are none. While another process replaces them, what opened the keys file that was just read
  /// may be gone already: then there is another keys file, and that one is opened.
  private func openedFile() throws(EnrollError) -> Loaded? {
    while let (file, status) = try KeysFile.read(folder, as: form) {
      do throws(EnrollError) {
        return Loaded(keys: try unwrap(file, currentChooser), status: status)
      } catch {
        guard error.code == .storeKey || error.code == .storeLocked,
          try !folder.status(KeyRing.fileName).isSame(as: status)
        else { throw error }
        try CallTimeout.check("while another process replaced the store's keys")
      }
    }
    return nil
  }

  /// Removes what processes left of keys that died.
  func tidy() {
    for candidate in locked({ chooser }).candidates { candidate.tidy() }
  }

  /// How far the account with that tag had come, kept where a copy of the store does not restore it; nil if the key's
  /// provider has no such place.
  func anchor(for tag: [UInt8]) -> RollbackAnchor? {
    guard let keys = try? open(), let found = try? KeysFile.read(folder, as: form) else { return nil }
    for candidate in locked({ chooser }).candidates {
      guard found.file.slots.contains(where: { ASCII.equals($0.provider, candidate.name) }),
        let keeper = candidate.anchors
      else { continue }
      return RollbackAnchor(keeper: keeper, keys: keys, tag: tag)
    }
    return nil
  }

  /// The chooser that opens the keys.
  var currentChooser: KeyChooser { locked { chooser } }

  /// The keys as they are on disk now: after another process replaced one.
  func reopen() throws(EnrollError) -> StoreKeys {
    try opening.lock()
    defer { opening.unlock() }
    return try reload()
  }

  /// The keys to seal with, under the lock of what is sealed: a key that another process replaced must not be used again,
  /// or what it seals could not be opened once the old key is gone.
  func forSealing() throws(EnrollError) -> StoreKeys {
    _ = try open()
    let status = try folder.status(KeyRing.fileName)
    if let loaded = locked({ loaded }), status.isSame(as: loaded.status) { return loaded.keys }
    try opening.lock()
    defer { opening.unlock() }
    guard let (file, seen) = try KeysFile.read(folder, as: form) else { throw KeyRing.missing }
    // Moved to another provider, perhaps one that this process cannot open: the key that seals is the same.
    if var known = locked({ loaded }), known.keys.storeID == file.storeID, known.keys.active.id == file.active
    {
      known.status = seen
      locked { loaded = known }
      return known.keys
    }
    return try reload()
  }

  /// Called with `opening` held.
  private func reload() throws(EnrollError) -> StoreKeys {
    guard let opened = try openedFile() else { throw KeyRing.missing }
    locked { loaded = opened }
    return opened.keys
  }

  private static var missing: EnrollError {
    EnrollError(
      .storeLocked,
      "the keys file is missing while sealed files are there; without it they cannot be read: restore it",
      field: "store")
  }

  // MARK: Making

  private func make(_ chooser: KeyChooser) throws(EnrollError) -> Loaded {
    let held = try storeLock.take()
    defer { held.release() }
    // Another process may have been faster.
    if let opened = try openedFile() { return opened }
    for name in try folder.names() where StoreNames.isSealed(name) { throw KeyRing.missing }

    let provider = try chooser.best()
    let storeID = try random.bytes(StoreKeys.idCount)
    let keyID = try random.bytes(StoreKeys.idCount)
    let both = StoreKeys.both(try newKey(), try newKey())
    let file = KeysFile(storeID: storeID, active: keyID, slots: [])
    let wrapped = try provider.wrap(both, slot: file.slot(keyID))
    let whole = KeysFile(
      storeID: storeID, active: keyID,
      slots: [KeysFile.Slot(provider: provider.name, keyID: keyID, wrapped: wrapped)])
    // A key that cannot be opened again must not become the key of a store.
    let opened = try unwrap(whole, chooser)
    guard opened.nameKey == StoreKeys.halves(of: both)?.name else { throw KeyRing.otherKey }
    return Loaded(keys: opened, status: try save(whole))
  }

  private func newKey() throws(EnrollError) -> Secret {
    var material = try random.bytes(StoreKeys.keyCount)
    defer { material.withUnsafeMutableBytes { Wipe.bytes($0) } }
    return Secret(material)
  }

  private func save(_ file: KeysFile) throws(EnrollError) -> FileStatus {
    try folder.replace(
      KeyRing.fileName, with: file.encoded(as: form), temporary: StoreNames.temporary(KeyRing.fileName))
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

  /// Has the keys wrapped by the best provider of `chooser`, anew if it has them already, and forgets all other slots.
  /// - Parameters:
  ///   - reseal: nil to keep the data key. Otherwise there is a new one; called once it seals, to seal anew what is
  ///     there. Returns whether nothing needs the older keys any more.
  /// - Returns: the name of the provider.
  func replace(
    with new: KeyChooser, reseal: (() throws(EnrollError) -> Bool)?
  ) throws(EnrollError) -> String {
    let held = try replacing.take()
    defer { held.release() }
    guard let (before, _) = try KeysFile.read(folder, as: form) else {
      throw EnrollError(.notFound, "the store has no keys yet: there is nothing to rewrap", field: "store")
    }
    let old = locked { chooser }
    let opened = try unwrap(before, old)
    let provider = try new.best()
    if before.slots.contains(where: { ASCII.equals($0.provider, provider.name) }) { try provider.renew() }

    // A new data key alone: the older ones keep their slots until nothing needs them any more.
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

    // The new slots first, so that a search for the active key finds them; the old ones stay until all is well.
    var both = wanted
    both.slots += before.slots
    let status = try save(both)
    var keys = try unwrap(wanted, KeyChooser([provider], isAutomatic: false))
    guard keys.nameKey == opened.nameKey, keys.active.key == all.first?.key else { throw KeyRing.otherKey }
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
        // A key that stays behind opens nothing any more.
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
  /// The two keys that a slot wraps: the key of names, then the data key.
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
