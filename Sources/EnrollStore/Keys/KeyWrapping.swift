// Wraps keys for the providers that have a key of 32 bytes. A key is encrypted in the same way as the store's files,
// and the result is bound to the key's slot.

public import EnrollRules
public import EnrollSteps
public import EnrollCrypto
public import EnrollJSON

/// Wraps and unwraps keys with a key of 32 bytes, for the providers that have such a key.
public enum KeyWrapping {
  /// The number of bytes of a key.
  public static let keyCount = 32
  private static let saltCount = 32

  public static func wrap(
    _ key: Secret, under wrappingKey: Secret, slot: KeySlot, provider: String, random: any RandomSource
  ) throws(EnrollError) -> JSONObject {
    let salt = try random.bytes(saltCount)
    let nonce = try random.bytes(AESGCM.nonceCount)
    let context = context(slot, provider)
    return try SealedFormat.crypto { () throws(CryptoError) in
      let (sealingKey, commitment) = SealedFormat.split(
        try HKDF.sha256(key: wrappingKey, salt: salt, info: info, count: 64))
      let sealed = try AESGCM.seal(key, key: sealingKey, nonce: nonce, associatedData: context)
      var object = JSONObject()
      object["salt"] = .string(Base64URL.encode(salt))
      object["nonce"] = .string(Base64URL.encode(nonce))
      object["commitment"] = .string(Base64URL.encode(commitment))
      object["sealed"] = .string(Base64URL.encode(sealed))
      return object
    }
  }

  /// - Throws: `.storeKey` for another wrapping key, `.storeCorrupt` for a damaged slot.
  public static func unwrap(
    _ wrapped: JSONObject, under wrappingKey: Secret, slot: KeySlot, provider: String
  ) throws(EnrollError) -> Secret {
    guard let salt = bytes(wrapped, "salt"), let nonce = bytes(wrapped, "nonce"),
      nonce.count == AESGCM.nonceCount,
      let commitment = bytes(wrapped, "commitment"), let sealed = bytes(wrapped, "sealed")
    else { throw damaged }
    let (key, found) = try SealedFormat.crypto { () throws(CryptoError) in
      SealedFormat.split(try HKDF.sha256(key: wrappingKey, salt: salt, info: info, count: 64))
    }
    guard ConstantTime.equal(found, commitment) else {
      throw EnrollError(.storeKey, "the key is not the one that locked the store", field: "store")
    }
    do {
      return try AESGCM.open(sealed, key: key, nonce: nonce, associatedData: context(slot, provider))
    } catch {
      guard error.reason == .authentication else { throw EnrollError(error) }
      throw damaged
    }
  }

  private static var info: [UInt8] { Array("enrollkit slot 1".utf8) }

  private static var damaged: EnrollError {
    EnrollError(.storeCorrupt, "the wrapped key in the keys file is damaged", field: "store")
  }

  private static func context(_ slot: KeySlot, _ provider: String) -> [UInt8] {
    // No part contains a line feed, so two slots never have the same context.
    Array((provider + "\n" + slot.storeID + "\n" + slot.keyID).utf8)
  }

  private static func bytes(_ object: JSONObject, _ key: String) -> [UInt8]? {
    object[key]?.string.flatMap { Base64URL.decode($0) }
  }
}
