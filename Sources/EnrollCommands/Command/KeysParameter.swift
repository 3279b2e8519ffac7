// Who guards a store's key, as a caller says it; or the program's default: a library's is a key file, the daemon's the best
// that is present (store.md, Keys).

import EnrollCore
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollStore

extension Schema {
  static let keyProvider = Schema.words(
    "KeyProvider", KeyPlan.choices,
    "auto: the best that is present, or the one that has the key. secret-service: the desktop's keyring. host: the "
      + "host's own, by host.store.get and its kin.")

  static let keys = Schema.object(
    [
      .required("provider", .keyProvider),
      .optional(
        "file",
        .text("file: an absolute path, elsewhere than in the store, where it else is.", maximumBytes: 4095)),
      .optional("passphrase", .text("passphrase: what the user typed.", maximumBytes: 1024).sensitive),
      .optional(
        "sessionCacheSeconds",
        .seconds(
          0...KeyPlan.longestSessionSeconds,
          "How long the opened key is remembered in the kernel's keyring for other processes of the user."),
        default: .integer(0)),
    ], "Where the key of a store is kept."
  ).named("Keys")
}

extension Schema.Property {
  static let keys = Schema.Property.optional(
    "keys", .keys.as("Who guards the store's key. The daemon's default: provider auto; a library's: file."))
}

extension KeyPlan {
  static let automaticName = "auto"
  static let hostName = "host"

  /// What a caller can name.
  static let choices = [
    automaticName, KeyFileProvider.providerName, SecretService.providerName,
    PassphraseKeyProvider.providerName, hostName,
  ]

  /// - Parameters:
  ///   - object: what the schema has accepted.
  ///   - secrets: the host's; nil in a face that cannot ask its host.
  /// - Throws: `.invalidArgument` for what belongs to another provider; `.unsupported` for a host that cannot be asked.
  init(_ object: JSONObject, secrets: HostSecrets?) throws(EnrollError) {
    let provider = object["provider"]?.string ?? ""
    let path = object["file"]?.string
    let passphrase = object["passphrase"]?.string
    if path != nil, !ASCII.equals(provider, KeyFileProvider.providerName) {
      throw EnrollError(.invalidArgument, "keys.file goes with provider file, not \(provider)", field: "keys")
    }
    let takesPassphrase =
      ASCII.equals(provider, PassphraseKeyProvider.providerName) || ASCII.equals(provider, Self.automaticName)
    if passphrase != nil, !takesPassphrase {
      throw EnrollError(
        .invalidArgument, "keys.passphrase goes with provider passphrase or auto, not \(provider)",
        field: "keys")
    }
    if ASCII.equals(provider, Self.automaticName) {
      self = .automatic
    } else if ASCII.equals(provider, SecretService.providerName) {
      self.init(.secretService)
    } else if ASCII.equals(provider, PassphraseKeyProvider.providerName) {
      self.init(.passphrase)
    } else if ASCII.equals(provider, Self.hostName) {
      guard let secrets else {
        throw EnrollError(
          .unsupported, "keys: this face cannot ask its host for secrets; it takes them another way",
          field: "keys")
      }
      self.init(.host(secrets))
    } else {
      self.init(.file(path: path))
    }
    self.passphrase = passphrase.map { Secret($0) }
    sessionCacheSeconds = object["sessionCacheSeconds"]?.integer ?? 0
  }
}

extension Invocation {
  /// The parameter of that name, or what the face gave beside the parameters, or the program's default.
  /// - Parameter client: the handle of the one that is opened.
  func keyPlan(_ name: String = "keys", for client: String? = nil) throws(EnrollError) -> KeyPlan {
    if let object = object(name) { return try KeyPlan(object, secrets: hostSecrets(for: client)) }
    return keys ?? session?.environment.defaultKeys ?? .file
  }

  /// nil in a face that cannot ask its host.
  func hostSecrets(for client: String? = nil) -> HostSecrets? {
    session?.environment.host.map { HostSecrets($0, for: client) }
  }
}
