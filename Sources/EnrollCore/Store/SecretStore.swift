// Places that keep a few bytes for us under a name: a desktop's keyring, a phone's Keychain or Keystore, reached by the
// host. The store's key is wrapped with what is kept there, and never leaves the `keys` file.

public import EnrollCrypto

/// Keeps secrets of 32 bytes, each under a name. Any method may be called from any thread.
public protocol SecretStore: AnyObject, Sendable {
  /// Whether it can be used now.
  func presence() -> KeyPresence

  /// - Parameter name: of the item, in two parts that together are unique: the store's id and the item's own, base64url.
  /// - Returns: nil if there is no such item.
  /// - Throws: `.storeLocked` while the keeper is shut; `.storeIO` when it fails.
  func load(_ name: SecretName) throws(EnrollError) -> Secret?

  /// Keeps the secret durably, before it returns.
  func save(_ secret: Secret, as name: SecretName) throws(EnrollError)

  /// A missing item is no error.
  func remove(_ name: SecretName) throws(EnrollError)
}

extension SecretStore {
  public func presence() -> KeyPresence { .present }
}

/// The name of an item in a keeper.
public struct SecretName: Equatable, Sendable {
  /// Base64url, as in the `keys` file.
  public var storeID: String
  /// Base64url, random.
  public var item: String

  public init(storeID: String, item: String) {
    self.storeID = storeID
    self.item = item
  }

  /// Both in one: letters, digits, `-`, `_` and `.`, less than 64 bytes.
  public var text: String { "enrollkit." + storeID + "." + item }
}
