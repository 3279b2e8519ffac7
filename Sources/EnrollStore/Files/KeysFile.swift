// The `keys` file as text and as a value: the store's keys, each wrapped once per slot. The checksum in the first line
// distinguishes damage from a wrong key. The checksum does not detect forged slots, but the encryption of each slot
// detects them.
//
// The file has one line `enrollkit-keys 1 CHECKSUM`, then one JSON object with the members storeID, active (the id of
// the key that seals) and slots. Each slot has the provider, the id of the key, and the wrapped key in the provider's
// format.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollJSON

/// The `keys` file as a value.
struct KeysFile {
  static let form = StoreForm<JSONObject>("keys file", newest: 1)

  struct Slot {
    var provider: String
    var keyID: [UInt8]
    var wrapped: JSONObject
  }

  private static let mark = "enrollkit-keys "
  private static let slotLimit = 64

  var storeID: [UInt8]
  var active: [UInt8]
  var slots: [Slot]

  func slot(_ keyID: [UInt8]) -> KeySlot {
    KeySlot(storeID: Base64URL.encode(storeID), keyID: Base64URL.encode(keyID))
  }

  func encoded(as form: StoreForm<JSONObject> = form) throws(EnrollError) -> [UInt8] {
    var object = JSONObject()
    object["storeID"] = .string(Base64URL.encode(storeID))
    object["active"] = .string(Base64URL.encode(active))
    var written: [JSON] = []
    for slot in slots {
      var member = JSONObject()
      member["provider"] = .string(slot.provider)
      member["keyID"] = .string(Base64URL.encode(slot.keyID))
      member["wrapped"] = .object(slot.wrapped)
      written.append(.object(member))
    }
    object["slots"] = .array(written)
    let text = JSON.object(object).serialized() + [0x0A]
    return try KeysFile.firstLine(form.newest, text) + text
  }

  private static func firstLine(_ version: Int64, _ text: [UInt8]) throws(EnrollError) -> [UInt8] {
    let start = Array((mark + version.description + " ").utf8)
    let checksum = try SealedFormat.crypto { () throws(CryptoError) in try Digest.sha256.hash(start + text) }
    return start + Base64URL.encodedBytes(checksum) + [0x0A]
  }

  /// Reads the file.
  /// - Returns: nil if there is no such file.
  static func read(
    _ folder: StoreFolder, as form: StoreForm<JSONObject> = form
  ) throws(EnrollError) -> (file: KeysFile, status: FileStatus)? {
    guard let (bytes, status) = try folder.read(StoreKeyRing.fileName, limit: 1 << 16) else { return nil }
    return (try KeysFile(bytes, as: form), status)
  }

  /// - Throws: `.storeCorrupt`, `.storeVersion`.
  init(_ bytes: [UInt8], as form: StoreForm<JSONObject> = form) throws(EnrollError) {
    guard let end = bytes.firstIndex(of: 0x0A), bytes.starts(with: Array(Self.mark.utf8)) else {
      throw KeysFile.damaged
    }
    let line = bytes[Self.mark.utf8.count..<end]
    guard let space = line.firstIndex(of: 0x20), line[..<space].allSatisfy({ ASCII.isDigit($0) }),
      let version = Int64(String(decoding: line[..<space], as: UTF8.self))
    else { throw KeysFile.damaged }
    let text = Array(bytes[(end + 1)...])
    guard try KeysFile.firstLine(version, text) == Array(bytes[...end]) else { throw KeysFile.damaged }
    var value = JSON.null
    do {
      value = try JSON.parse(text)
    } catch {
      guard !error.isOutOfMemory else {
        throw EnrollError(.outOfMemory, "the keys file: ", error, field: "store")
      }
    }
    let members = try form.upgraded(value.object ?? JSONObject(), from: version)
    guard let storeID = KeysFile.id(members["storeID"]), let active = KeysFile.id(members["active"]),
      let slots = members["slots"]?.array, slots.count <= Self.slotLimit
    else { throw KeysFile.damaged }
    self.storeID = storeID
    self.active = active
    self.slots = []
    for member in slots {
      guard let provider = member["provider"]?.string, let keyID = KeysFile.id(member["keyID"]),
        let wrapped = member["wrapped"]?.object
      else { throw KeysFile.damaged }
      self.slots.append(Slot(provider: provider, keyID: keyID, wrapped: wrapped))
    }
  }

  init(storeID: [UInt8], active: [UInt8], slots: [Slot]) {
    self.storeID = storeID
    self.active = active
    self.slots = slots
  }

  private static var damaged: EnrollError {
    EnrollError(.storeCorrupt, "the keys file is damaged; it was left as it is", field: "store")
  }

  private static func id(_ value: JSON?) -> [UInt8]? {
    guard let text = value?.string, let bytes = Base64URL.decode(text), bytes.count == StoreKeys.idCount
    else {
      return nil
    }
    return bytes
  }
}
