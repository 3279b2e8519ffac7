// A host's choice for the key of a store: a provider, or the best that is available. Nothing is opened or asked until a
// store needs its key.

public import EnrollCrypto

/// How the key of a store is kept.
public struct KeyPlan: Sendable {
  /// The provider of the key.
  public enum Provider: Sendable {
    /// The best that is present, for a store that is new or moves; the one that has it, for a store that is there.
    case automatic
    /// A key file; nil: `key` in the store's own folder.
    case file(path: String? = nil)
    /// The desktop's keyring, through libsecret. It brings GLib's threads into the process.
    case secretService
    /// scrypt of ``KeyPlan/passphrase``.
    case passphrase
    /// The host's own: a Keychain, a Keystore.
    case host(any SecretStore)
    /// Any other.
    case custom(any KeyProvider)
  }

  /// The provider of the key.
  public var provider: Provider
  /// For the provider of that name; nil where the user was not asked.
  public var passphrase: Secret?
  /// How long an opened key is remembered in the kernel's keyring for other processes of the user; 0: not at all. At most
  /// ``longestSessionSeconds``.
  public var sessionCacheSeconds: Int64

  public init(_ provider: Provider, passphrase: Secret? = nil, sessionCacheSeconds: Int64 = 0) {
    self.provider = provider
    self.passphrase = passphrase
    self.sessionCacheSeconds = sessionCacheSeconds
  }

  /// A key file in the store's own folder: what a library does unless its host says otherwise.
  public static let file = KeyPlan(.file())
  /// The best there is: what the programs do.
  public static let automatic = KeyPlan(.automatic)
  /// Longer is no session.
  public static let longestSessionSeconds: Int64 = 7 * 86_400
}
