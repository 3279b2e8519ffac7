// The encryption of an account under its PIN (store.md, PIN): scrypt derives a key from the PIN. That key wraps the
// account's own key, which encrypts the record. A short PIN does not resist an attacker who has the store's data key.

import EnrollRules
import EnrollSteps
import EnrollCrypto

enum PINSeal {
  private static let keyCount = 32
  private static let saltCount = 32
  private static let blockSize: UInt32 = 8
  private static let parallelism: UInt32 = 1
  /// The accepted costs. A cost is the base-2 logarithm of scrypt's N. EnrollKit writes no cost outside this range;
  /// 2^18 needs 256 MiB.
  private static let costs: ClosedRange<Int64> = 14...18

  /// A new key for an account.
  static func makeKey(_ random: any RandomSource) throws(EnrollError) -> Secret {
    var bytes = try random.bytes(keyCount)
    defer { bytes.withUnsafeMutableBytes { Wipe.bytes($0) } }
    return Secret(bytes)
  }

  static func wrap(
    _ key: Secret, under pin: Secret, lineage: String, random: any RandomSource
  ) throws(EnrollError) -> PINEnvelope {
    let salt = try random.bytes(saltCount)
    let wrapping = try derive(pin, salt, cost: PINEnvelope.cost)
    return PINEnvelope(
      salt: salt, wrappedKey: try seal(key, wrapping, "key", lineage, random))
  }

  /// Opens the account's own key with the PIN.
  /// - Returns: the account's own key; nil if the PIN is wrong.
  static func unwrap(
    _ envelope: PINEnvelope, with pin: Secret, lineage: String
  ) throws(EnrollError) -> Secret? {
    guard costs.contains(envelope.cost) else {
      throw EnrollError(
        .storeCorrupt, "the PIN's cost is \(envelope.cost), which no version writes", field: "pin")
    }
    let wrapping = try derive(pin, envelope.salt, cost: envelope.cost)
    return try open(envelope.wrappedKey, wrapping, "key", lineage)
  }

  /// Encrypts with a key that is derived for this write only, so that no pair of key and nonce is used twice.
  static func seal(
    _ record: AccountRecord, key: Secret, lineage: String, random: any RandomSource
  ) throws(EnrollError) -> [UInt8] {
    let salt = try random.bytes(saltCount)
    return salt + (try seal(record.encoded(), try oneWrite(key, salt), "record", lineage, random))
  }

  /// Opens a sealed record.
  /// - Returns: the record's bytes; nil if the record was sealed with another key, or was changed.
  static func open(_ sealed: [UInt8], key: Secret, lineage: String) throws(EnrollError) -> Secret? {
    guard sealed.count > saltCount else { return nil }
    return try open(
      Array(sealed[saltCount...]), try oneWrite(key, Array(sealed[..<saltCount])), "record", lineage)
  }

  private static func derive(_ pin: Secret, _ salt: [UInt8], cost: Int64) throws(EnrollError) -> Secret {
    try SealedFormat.crypto { () throws(CryptoError) in
      try Scrypt.derive(
        password: pin, salt: salt, n: 1 << UInt64(cost), r: blockSize, p: parallelism, count: keyCount)
    }
  }

  private static func oneWrite(_ key: Secret, _ salt: [UInt8]) throws(EnrollError) -> Secret {
    try SealedFormat.crypto { () throws(CryptoError) in
      try HKDF.sha256(key: key, salt: salt, info: Array("enrollkit pin record 1".utf8), count: keyCount)
    }
  }

  private static func seal(
    _ plaintext: Secret, _ key: Secret, _ purpose: String, _ lineage: String, _ random: any RandomSource
  ) throws(EnrollError) -> [UInt8] {
    let nonce = try random.bytes(AESGCM.nonceCount)
    return try SealedFormat.crypto { () throws(CryptoError) in
      nonce
        + (try AESGCM.seal(plaintext, key: key, nonce: nonce, associatedData: associated(purpose, lineage)))
    }
  }

  /// - Returns: the opened bytes; nil if the bytes were sealed with another key, or were changed.
  private static func open(
    _ sealed: [UInt8], _ key: Secret, _ purpose: String, _ lineage: String
  ) throws(EnrollError) -> Secret? {
    guard sealed.count > AESGCM.nonceCount + AESGCM.tagCount else { return nil }
    do {
      return try AESGCM.open(
        Array(sealed[AESGCM.nonceCount...]), key: key, nonce: Array(sealed[..<AESGCM.nonceCount]),
        associatedData: associated(purpose, lineage))
    } catch {
      if error.reason == .authentication { return nil }
      throw EnrollError(.internal, error.message)
    }
  }

  /// The associated data, which binds the sealed bytes to their purpose and to the account's lineage.
  private static func associated(_ purpose: String, _ lineage: String) -> [UInt8] {
    Array("enrollkit pin 1 \(purpose) \(lineage)".utf8)
  }
}
