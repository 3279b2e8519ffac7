// Who guards the store's key. A provider wraps the key such that only it can unwrap it, and the store keeps what it gave: so a
// provider may hold a key of its own (key file, keyring, passphrase) or have one that never leaves its hardware.

public import EnrollCore
public import EnrollCrypto
public import EnrollJSON

/// What a wrapped key belongs to. A provider binds it into the wrapping, so that a slot cannot be moved.
public struct KeySlot: Sendable {
  /// Base64url, as in the `keys` file.
  public var storeID: String
  public var keyID: String

  public init(storeID: String, keyID: String) {
    self.storeID = storeID
    self.keyID = keyID
  }
}

/// One way to keep the store's key from others.
public protocol KeyProvider: AnyObject, Sendable {
  /// Stands in the `keys` file: `file`. ASCII letters, digits and hyphens.
  var name: String { get }

  /// Wraps a store's new key. May make whatever it needs for that, durably, before it returns.
  /// - Returns: what ``unwrap(_:slot:)`` will need; no secret in the clear.
  func wrap(_ key: Secret, slot: KeySlot) throws(EnrollError) -> JSONObject

  /// - Throws: `.storeLocked` while the means to unwrap are not to be had; `.storeKey` when they are not this store's;
  ///   `.storeCorrupt`, `.storeRefused`, `.storeIO` where they are files.
  func unwrap(_ wrapped: JSONObject, slot: KeySlot) throws(EnrollError) -> Secret
}

/// Wrapping with a key of 32 bytes, for the providers that have one.
public enum KeyWrapping {
  /// Bytes.
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
      throw damaged
    }
  }

  private static var info: [UInt8] { Array("enrollkit slot 1".utf8) }

  private static var damaged: EnrollError {
    EnrollError(.storeCorrupt, "the wrapped key in the keys file is damaged", field: "store")
  }

  private static func context(_ slot: KeySlot, _ provider: String) -> [UInt8] {
    // No part holds a line feed: no two slots have one context.
    Array((provider + "\n" + slot.storeID + "\n" + slot.keyID).utf8)
  }

  private static func bytes(_ object: JSONObject, _ key: String) -> [UInt8]? {
    object[key]?.string.flatMap { Base64URL.decode($0) }
  }
}
