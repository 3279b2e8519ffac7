// The provider of the store's key. The provider wraps (encrypts) the key so that only the provider can unwrap it, and
// the store keeps the wrapped key. So the provider may use a wrapping key that it can read (key file, keyring,
// passphrase), or a wrapping key that never leaves its hardware.

public import EnrollCrypto
public import EnrollJSON
public import EnrollRules

/// A slot identifies the place of a wrapped key in its store. A provider binds the wrapped key to its slot, so that the
/// wrapped key cannot be moved to another slot.
public struct KeySlot: Sendable {
  /// The id of the store, base64url, as in the `keys` file.
  public var storeID: String
  /// Identifies the wrapped key among the keys of its store, base64url.
  public var keyID: String

  public init(storeID: String, keyID: String) {
    self.storeID = storeID
    self.keyID = keyID
  }
}

/// Whether a provider can be used on this machine now. The text says why not, and what would help.
public enum KeyPresence: Equatable, Sendable {
  /// The provider can be used.
  case present
  /// The provider exists, but is locked: the user has to unlock it.
  case locked(String)
  /// The provider cannot be used here.
  case absent(String)
}

/// A way to protect the store's key.
public protocol KeyProvider: AnyObject, Sendable {
  /// The provider's name in the `keys` file, such as `file`: ASCII letters, digits and hyphens.
  var name: String { get }

  /// Says whether the provider can be used. EnrollKit calls this before it chooses a provider for a new store, or for a
  /// store that changes its provider.
  func presence() -> KeyPresence

  /// Wraps a store's new key. If the provider needs its own wrapping key, this method may create one, and must have
  /// stored it durably when it returns.
  /// - Returns: the data for ``unwrap(_:slot:)``, which contain no unencrypted secret.
  func wrap(_ key: Secret, slot: KeySlot) throws(EnrollError) -> JSONObject

  /// - Throws: `.storeLocked` while the key cannot be unwrapped; `.storeKey` if the key does not belong to this store;
  ///   `.storeCorrupt`, `.storeRefused`, `.storeIO` if the provider uses files.
  func unwrap(_ wrapped: JSONObject, slot: KeySlot) throws(EnrollError) -> Secret

  /// Makes a new wrapping key, which the provider uses from now on. Called before the same provider wraps the keys of a
  /// store again. The provider can still unwrap keys that were wrapped with the old wrapping key.
  func renew() throws(EnrollError)

  /// Lets the provider delete its data for a slot. Called when the slot was removed from the `keys` file for good.
  func discard(_ wrapped: JSONObject, slot: KeySlot) throws(EnrollError)

  /// Called by a process that has opened a store: deletes the incomplete data of processes that died. A provider does
  /// not have to implement this.
  func removeLeftovers()

  /// The secret store for the anchor. The anchor is 32 bytes outside the store's folder; with it, EnrollKit detects an
  /// old copy of the folder. nil if the provider has no such secret store.
  var anchors: (any SecretStore)? { get }
}

extension KeyProvider {
  public func presence() -> KeyPresence { .present }
  public func renew() throws(EnrollError) {}
  public func discard(_ wrapped: JSONObject, slot: KeySlot) throws(EnrollError) {}
  public func removeLeftovers() {}
  public var anchors: (any SecretStore)? { nil }
}
