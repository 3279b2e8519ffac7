// A host's choice of a provider for the store's key: a certain provider, or the best available one. Nothing is opened,
// and the user is not asked, until a store needs its key.

public import EnrollCrypto
import EnrollRules

/// How the key of a store is kept.
public struct KeyPlan: Sendable {
  /// The provider of the key.
  public enum Provider: Sendable {
    /// The best provider that is present, for a new store and for a store that changes its provider. An existing store
    /// uses the provider that has its key.
    case automatic
    /// A key file; nil: `key` in the store's own folder.
    case file(path: String? = nil)
    /// The desktop's keyring, through libsecret. GLib's threads then run in the process.
    case secretService
    /// A key that scrypt derives from ``KeyPlan/passphrase``.
    case passphrase
    /// The host's own store of secrets: a Keychain, a Keystore.
    case host(any SecretStore)
    /// Any other provider.
    case custom(any KeyProvider)
  }

  /// The provider of the key.
  public var provider: Provider
  /// The passphrase, for ``Provider/passphrase``; nil if the user was not asked for it.
  public var passphrase: Secret?
  /// For how many seconds other processes of the user can find an opened key in the kernel's keyring. With 0 they
  /// cannot find it. At most ``longestSessionSeconds``.
  public var sessionCacheSeconds: Int64

  public init(_ provider: Provider, passphrase: Secret? = nil, sessionCacheSeconds: Int64 = 0) {
    self.provider = provider
    self.passphrase = passphrase
    self.sessionCacheSeconds = sessionCacheSeconds
  }

  /// A key file in the store's own folder: the default of the library.
  public static let file = KeyPlan(.file())
  /// The best provider available: the default of the programs.
  public static let automatic = KeyPlan(.automatic)
  /// The limit for ``sessionCacheSeconds``.
  public static let longestSessionSeconds: Int64 = 7 * 86_400
}
