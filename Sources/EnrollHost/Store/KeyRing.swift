// The store's keys and how they are opened. Made with the store; never made over a store that is
// there, because a new key would turn every record into noise (reliability.md, Keys).

import EnrollCore
import EnrollCrypto

/// Opens the store's keys once and keeps them.
final class KeyRing: @unchecked Sendable {
  // Unchecked: `keys` is only touched with `condition` held.
  static let fileName = "keys"
  private static let temporaryName = "keys.temp"

  private let folder: StoreFolder
  private let provider: any KeyProvider
  private let random: any RandomSource
  private let storeLock: StoreLock
  private let condition = Condition()
  private var keys: StoreKeys?

  init(folder: StoreFolder, provider: any KeyProvider, random: any RandomSource, storeLock: StoreLock) {
    self.folder = folder
    self.provider = provider
    self.random = random
    self.storeLock = storeLock
  }

  /// The keys, opened at the first call that succeeds. A new store is made where there is none.
  /// - Throws: `.storeLocked`, `.storeKey`, `.storeCorrupt`, `.storeVersion`, and what files can throw.
  func open() throws(EnrollError) -> StoreKeys {
    condition.lock()
    defer { condition.unlock() }
    if let keys { return keys }
    let opened: StoreKeys
    if let file = try KeysFile.read(folder) { opened = try unwrap(file) } else { opened = try make() }
    keys = opened
    return opened
  }

  /// The keys as they are on disk now: after another process replaced one.
  func reopen() throws(EnrollError) -> StoreKeys {
    condition.lock()
    defer { condition.unlock() }
    guard let file = try KeysFile.read(folder) else { throw KeyRing.missing }
    let opened = try unwrap(file)
    keys = opened
    return opened
  }

  private static var missing: EnrollError {
    EnrollError(
      .storeLocked, "the keys file is missing while sealed files are there; without it they cannot be read",
      field: "store")
  }

  private func make() throws(EnrollError) -> StoreKeys {
    let held = try storeLock.take()
    defer { held.release() }
    // Another process may have been faster.
    if let file = try KeysFile.read(folder) { return try unwrap(file) }
    for name in try folder.names() where StoreNames.isSealed(name) { throw KeyRing.missing }

    let storeID = try random.bytes(StoreKeys.idCount)
    let keyID = try random.bytes(StoreKeys.idCount)
    var material = try random.bytes(2 * StoreKeys.keyCount)
    defer { material.withUnsafeMutableBytes { Wipe.bytes($0) } }
    let both = Secret(material)
    let file = KeysFile(storeID: storeID, active: keyID, slots: [])
    let wrapped = try provider.wrap(both, slot: file.slot(keyID))
    let whole = KeysFile(
      storeID: storeID, active: keyID,
      slots: [KeysFile.Slot(provider: provider.name, keyID: keyID, wrapped: wrapped)])
    // What cannot be opened again must not become the key of a store.
    let opened = try unwrap(whole)
    guard opened.nameKey == StoreKeys.halves(of: both)?.name else {
      throw EnrollError(.internal, "the key provider gave another key back than it was given")
    }
    _ = try folder.replace(KeyRing.fileName, with: whole.encoded(), temporary: KeyRing.temporaryName)
    return opened
  }

  private func unwrap(_ file: KeysFile) throws(EnrollError) -> StoreKeys {
    var keys: StoreKeys?
    var older: [StoreKeys.DataKey] = []
    for slot in file.slots where ASCII.equals(slot.provider, provider.name) {
      let both = try provider.unwrap(slot.wrapped, slot: file.slot(slot.keyID))
      guard let (name, data) = StoreKeys.halves(of: both) else {
        throw EnrollError(.storeCorrupt, "a key in the keys file has \(both.count) bytes", field: "store")
      }
      let dataKey = StoreKeys.DataKey(id: slot.keyID, key: data)
      if slot.keyID == file.active, keys == nil {
        keys = StoreKeys(storeID: file.storeID, nameKey: name, active: dataKey)
      } else {
        older.append(dataKey)
      }
    }
    guard var keys else {
      throw EnrollError(
        .storeKey, "the store was not locked with the key provider \(provider.name)", field: "store")
    }
    keys.older = older
    return keys
  }
}

extension StoreKeys {
  /// What a slot wraps: the key of names, then the data key.
  static func halves(of both: Secret) -> (name: Secret, data: Secret)? {
    guard both.count == 2 * keyCount else { return nil }
    return both.withBytes { bytes in
      (
        Secret(UnsafeRawBufferPointer(rebasing: bytes[..<keyCount])),
        Secret(UnsafeRawBufferPointer(rebasing: bytes[keyCount...]))
      )
    }
  }
}
