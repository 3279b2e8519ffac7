// Sealing: AES-256-GCM with a new key for each write and the whole header as associated data (store.md, Format). A file
// that was renamed, given another generation or combined from two files cannot be opened. A wrong key and a damaged
// file are different errors: the header's checksum detects accidental damage, the commitment detects the wrong key.

import EnrollRules
import EnrollSteps
import EnrollCrypto

/// The keys of an open store.
struct StoreKeys: Sendable {
  static let idCount = 16
  static let keyCount = 32

  struct DataKey: Sendable {
    /// A random id, with which the headers of files name the key.
    var id: [UInt8]
    var key: Secret
  }

  /// A random id, made when the store is created.
  var storeID: [UInt8]
  /// The key of the HMAC that hides account names in file names. This key stays the same when data keys are replaced.
  var nameKey: Secret
  /// The key that seals new files.
  var active: DataKey
  /// The keys that open files which were sealed before the data key was replaced.
  var older: [DataKey] = []

  func dataKey(_ id: [UInt8]) -> DataKey? {
    if active.id == id { return active }
    return older.first { $0.id == id }
  }

  /// 128 bits of HMAC over a purpose and a name. The tag is in the file's name and in its header.
  func tag(_ purpose: String, _ name: String) throws(EnrollError) -> [UInt8] {
    try SealedFormat.crypto { () throws(CryptoError) in
      Array(try HMAC.sha256(key: nameKey, Array((purpose + ":" + name).utf8))[..<Self.idCount])
    }
  }
}

/// A sealed file, with the keys that open it.
struct SealedBytes: Sendable {
  var file: [UInt8]
  /// The tag that the file must have.
  let tag: [UInt8]
  let keys: StoreKeys
}

enum SealedFormat {
  /// The forms of sealed files. An upgrade step opens a file of the older form, and seals its content in the next form.
  static let form = StoreForm<SealedBytes>("sealed file", newest: 1)

  /// The maximum number of bytes of the plaintext.
  static let plaintextLimit = 1 << 20
  /// The maximum number of bytes of a sealed file.
  static let fileLimit = SealedHeader.count + plaintextLimit + AESGCM.tagCount

  /// Seals the content of a file.
  /// - Throws: `.invalidArgument` for more than ``plaintextLimit`` bytes.
  static func seal(
    _ plaintext: Secret, tag: [UInt8], generation: UInt64, keys: StoreKeys, random: any RandomSource,
    as form: StoreForm<SealedBytes> = form
  ) throws(EnrollError) -> [UInt8] {
    guard plaintext.count <= plaintextLimit else {
      throw EnrollError(
        .invalidArgument, "the record has \(plaintext.count) bytes, a store file holds \(plaintextLimit)",
        field: "store")
    }
    let drawn = try random.bytes(32)
    let nonce = try random.bytes(AESGCM.nonceCount)
    return try crypto { () throws(CryptoError) in
      // The salt also depends on the content. If a random generator repeats itself (in a cloned virtual machine), no
      // key is repeated for different content.
      var seed = drawn
      SealedHeader.append(generation, 8, to: &seed)
      seed += tag
      seed += try Digest.sha256.hash(plaintext)
      let salt = try HMAC.sha256(key: keys.active.key, seed)
      let (key, commitment) = try derive(keys.active, salt, keys.storeID)
      let header = SealedHeader(
        version: form.newest, storeID: keys.storeID, keyID: keys.active.id, tag: tag, generation: generation,
        salt: salt,
        nonce: nonce,
        plaintextCount: UInt32(plaintext.count), commitment: commitment)
      let head = try header.encoded()
      return head + (try AESGCM.seal(plaintext, key: key, nonce: nonce, associatedData: head))
    }
  }

  /// Opens a sealed file.
  /// - Parameter tag: the tag that the file must have.
  /// - Throws: `.storeCorrupt`; `.storeKey` when an intact file was sealed with another store's key; `.storeVersion`.
  static func open(
    _ file: [UInt8], tag: [UInt8], keys: StoreKeys, as form: StoreForm<SealedBytes> = form
  ) throws(EnrollError) -> (plaintext: Secret, generation: UInt64) {
    let version = try SealedHeader.version(of: file)
    let file = try form.upgraded(SealedBytes(file: file, tag: tag, keys: keys), from: version).file
    let header = try SealedHeader(of: file)
    guard header.version == form.newest else {
      throw SealedHeader.damage("is not of the form that it states")
    }
    guard header.tag == tag else { throw SealedHeader.damage("does not belong under its name") }
    guard file.count == SealedHeader.count + Int(header.plaintextCount) + AESGCM.tagCount else {
      throw SealedHeader.damage("has \(file.count) bytes, but its header states another size")
    }
    guard header.storeID == keys.storeID, let dataKey = keys.dataKey(header.keyID) else {
      throw EnrollError(
        .storeKey, "the file was sealed with a key that this store does not have", field: "store")
    }
    let key: Secret
    let commitment: [UInt8]
    (key, commitment) = try crypto { () throws(CryptoError) in
      try derive(dataKey, header.salt, header.storeID)
    }
    guard ConstantTime.equal(commitment, header.commitment) else {
      throw EnrollError(.storeKey, "the key is not the one that sealed the file", field: "store")
    }
    do {
      let plaintext = try AESGCM.open(
        Array(file[SealedHeader.count...]), key: key, nonce: header.nonce,
        associatedData: Array(file[..<SealedHeader.count]))
      return (plaintext, header.generation)
    } catch {
      if error.reason == .authentication { throw SealedHeader.damage("was changed after it was sealed") }
      throw EnrollError(error)
    }
  }

  /// Derives the key for one file, and the value that commits to the key.
  private static func derive(
    _ dataKey: StoreKeys.DataKey, _ salt: [UInt8], _ storeID: [UInt8]
  ) throws(CryptoError) -> (key: Secret, commitment: [UInt8]) {
    try split(
      HKDF.sha256(
        key: dataKey.key, salt: salt, info: Array("enrollkit file 1".utf8) + storeID + dataKey.id, count: 64))
  }

  /// Splits the derived bytes: the first half is the key, the second half is the commitment, which is not secret.
  static func split(_ derived: Secret) -> (key: Secret, commitment: [UInt8]) {
    derived.withBytes { bytes in
      let half = bytes.count / 2
      return (
        Secret(UnsafeRawBufferPointer(rebasing: bytes[..<half])), Array(bytes[half...])
      )
    }
  }

  /// Turns an error of the crypto library into an EnrollError.
  static func crypto<Value>(_ body: () throws(CryptoError) -> Value) throws(EnrollError) -> Value {
    do {
      return try body()
    } catch {
      throw EnrollError(error)
    }
  }
}
