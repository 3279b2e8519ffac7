// A host's choice of the provider that keeps the store's key: one particular provider, or the best provider that is
// available. The provider is opened, and the user is asked, only when a store needs its key.

public import EnrollCrypto
import EnrollRules

/// How the key of a store is kept.
public struct KeyPlan: Sendable {
  /// The provider of the key.
  public enum Provider: Sendable {
    /// The best provider that is available here. This choice is made for a new store, and for a store that changes its
    /// provider. An existing store uses the provider that has its key.
    case automatic
    /// A file with the key. If `path` is nil, it is the file `key` in the store's own folder.
    case file(path: String? = nil)
    /// The desktop's keyring, through libsecret. With this provider, threads of GLib run in the process.
    case secretService
    /// A key that scrypt derives from ``KeyPlan/passphrase``.
    case passphrase
    /// The host's own store of secrets, such as a Keychain or a Keystore.
    case host(any SecretStore)
    /// Any other provider.
    case custom(any KeyProvider)
  }

  /// The provider of the key.
  public var provider: Provider
  /// The passphrase, for ``Provider/passphrase``; nil if the user was not asked for a passphrase.
  public var passphrase: Secret?
  /// For how many seconds other processes of the user can find an opened key in the kernel's keyring. With 0 they
  /// cannot find it. The limit is ``longestSessionSeconds``.
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
