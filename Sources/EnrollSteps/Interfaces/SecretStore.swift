// A store of the system for small secrets, each with a name: a desktop's keyring; a phone's Keychain or Keystore, which
// the host accesses. EnrollKit's own store wraps its key with such a secret, and keeps the wrapped key in the `keys`
// file.

public import EnrollCrypto
public import EnrollRules

/// Stores secrets of 32 bytes, each with a name. Any method may be called from any thread.
public protocol SecretStore: AnyObject, Sendable {
  /// Whether the store can be used now.
  func presence() -> KeyPresence

  /// Reads a secret.
  /// - Parameter name: the name of the item, in two parts that together are unique: the id of the store and
  ///   the id of the item, base64url.
  /// - Returns: nil if there is no such item.
  /// - Throws: `.storeLocked` while the secret store is locked; `.storeIO` if it fails.
  func load(_ name: SecretName) throws(EnrollError) -> Secret?

  /// Saves the secret durably before it returns.
  func save(_ secret: Secret, as name: SecretName) throws(EnrollError)

  /// Removes the item; a missing item is not an error.
  func remove(_ name: SecretName) throws(EnrollError)
}

extension SecretStore {
  public func presence() -> KeyPresence { .present }
}

/// The name of an item in a secret store.
public struct SecretName: Equatable, Sendable {
  /// The id of the store, base64url, as in the `keys` file.
  public var storeID: String
  /// The id of the item, random, base64url.
  public var item: String

  public init(storeID: String, item: String) {
    self.storeID = storeID
    self.item = item
  }

  /// Both parts of the name in one text. It has letters, digits, `-`, `_` and `.`, and less than 64 bytes.
  public var text: String { "enrollkit." + storeID + "." + item }
}
