// The store's key provider. It wraps the key such that only it can unwrap it, and the store keeps what it gave: so a
// provider may hold a key of its own (key file, keyring, passphrase) or have one that never leaves its hardware.

public import EnrollCrypto
public import EnrollJSON

/// The slot that a wrapped key belongs to. A provider binds it into the wrapping, so that a slot cannot be moved.
public struct KeySlot: Sendable {
  /// Base64url, as in the `keys` file.
  public var storeID: String
  /// Names the wrapped key among those of its store, base64url.
  public var keyID: String

  public init(storeID: String, keyID: String) {
    self.storeID = storeID
    self.keyID = keyID
  }
}

/// Whether a provider can be used on this machine, now. The text says why not, and what would help.
public enum KeyPresence: Equatable, Sendable {
  /// It can be used.
  case present
  /// It is there, and shut: somebody has to unlock it.
  case locked(String)
  /// It cannot be used here.
  case absent(String)
}

/// One way to keep the store's key from others.
public protocol KeyProvider: AnyObject, Sendable {
  /// Stands in the `keys` file: `file`. ASCII letters, digits and hyphens.
  var name: String { get }

  /// Looked at before the provider is chosen for a new store, or for one that moves.
  func presence() -> KeyPresence

  /// Wraps a store's new key. May make whatever it needs for that, durably, before it returns.
  /// - Returns: what ``unwrap(_:slot:)`` will need; no secret in the clear.
  func wrap(_ key: Secret, slot: KeySlot) throws(EnrollError) -> JSONObject

  /// - Throws: `.storeLocked` while the means to unwrap are unavailable; `.storeKey` when they are not this store's;
  ///   `.storeCorrupt`, `.storeRefused`, `.storeIO` where they are files.
  func unwrap(_ wrapped: JSONObject, slot: KeySlot) throws(EnrollError) -> Secret

  /// Called before the same provider wraps the keys of a store again: from now on it wraps with a new key. It still
  /// unwraps what the old key wrapped.
  func renew() throws(EnrollError)

  /// The slot is gone from the `keys` file for good: whatever was kept for it alone may go too.
  func discard(_ wrapped: JSONObject, slot: KeySlot) throws(EnrollError)

  /// Called by a process that has opened a store: what processes left half made that died may go. Nothing depends on it.
  func tidy()

  /// A place for 32 bytes that a copy of the store's folder does not restore; nil if there is none.
  var anchors: (any SecretStore)? { get }
}

extension KeyProvider {
  public func presence() -> KeyPresence { .present }
  public func renew() throws(EnrollError) {}
  public func discard(_ wrapped: JSONObject, slot: KeySlot) throws(EnrollError) {}
  public func tidy() {}
  public var anchors: (any SecretStore)? { nil }
}
