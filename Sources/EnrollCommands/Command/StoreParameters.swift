// The store that a command uses, and the store's key provider. Each is the caller's choice or the program's default.
// The default key provider of the library is a key file; the default of the daemon is the best provider that is present
// (store.md, Keys).

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollStore

extension Schema {
  static let store = Schema.storeFolder.as(
    "The absolute path of a directory, or memory. The daemon's default: $XDG_DATA_HOME/enrollkit.")
}

extension Invocation {
  var wantsMemoryStore: Bool { text("store").map { ASCII.equals($0, "memory") } ?? false }

  /// The path of the store: the parameter `store`, or the program's default.
  /// - Throws: `.invalidArgument` if there is neither a parameter nor a default.
  func storePath() throws(EnrollError) -> String {
    if let path = text("store") { return path }
    return try (session?.environment ?? .none).defaultStore()
  }
}

extension Schema {
  static let keyProvider = Schema.words(
    "KeyProvider", KeyPlan.choices,
    "auto: the best one available, or the one that has the key. secret-service: the desktop's keyring. host: the "
      + "host's own, through host.store.get, host.store.set and host.store.remove.")

  static let keys = Schema.object(
    [
      .required("provider", .keyProvider),
      .optional(
        "file",
        .text(
          "file: an absolute path outside the store. By default the file is in the store directory.",
          maximumBytes: 4095)),
      .optional("passphrase", .text("passphrase: the passphrase.", maximumBytes: 1024).sensitive),
      .optional(
        "sessionCacheSeconds",
        .seconds(
          0...KeyPlan.longestSessionSeconds,
          "How long the kernel's keyring keeps the opened key for the user's other processes."),
        default: .integer(0)),
    ], "Where the key of a store is kept."
  ).named("Keys")
}

extension Schema.Property {
  static let keys = Schema.Property.optional(
    "keys",
    .keys.as(
      "The key provider that protects the store's key. The default is auto in the daemon and file in the library."
    ))
}

extension KeyPlan {
  static let automaticName = "auto"
  static let hostName = "host"

  /// The providers that a caller can choose.
  static let choices = [
    automaticName, KeyFileProvider.providerName, SecretService.providerName,
    PassphraseKeyProvider.providerName, hostName,
  ]

  /// Reads a key provider from the parameter of a command.
  /// - Parameters:
  ///   - object: the parameter, after the checks of the schema.
  ///   - secrets: the host's secret store; nil in an interface that cannot send requests to its host.
  /// - Throws: `.invalidArgument` for a member that belongs to another provider; `.unsupported` for the provider `host`
  ///   without `secrets`.
  init(_ object: JSONObject, secrets: HostSecrets?) throws(EnrollError) {
    let provider = object["provider"]?.string ?? ""
    let path = object["file"]?.string
    let passphrase = object["passphrase"]?.string
    if path != nil, !ASCII.equals(provider, KeyFileProvider.providerName) {
      throw EnrollError(.invalidArgument, "keys.file needs the provider file, not \(provider)", field: "keys")
    }
    let takesPassphrase =
      ASCII.equals(provider, PassphraseKeyProvider.providerName) || ASCII.equals(provider, Self.automaticName)
    if passphrase != nil, !takesPassphrase {
      throw EnrollError(
        .invalidArgument, "keys.passphrase needs the provider passphrase or auto, not \(provider)",
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
          .unsupported,
          "keys: this interface does not take the provider host; it has a parameter of its own for it",
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
  /// The plan in the parameter of this name. Without the parameter, the plan from the interface; without both, the
  /// program's default.
  /// - Parameter client: the handle of the client that is opened.
  func keyPlan(_ name: String = "keys", for client: String? = nil) throws(EnrollError) -> KeyPlan {
    if let object = object(name) { return try KeyPlan(object, secrets: hostSecrets(for: client)) }
    return keys ?? session?.environment.defaultKeys ?? .file
  }

  /// The host's secret store; nil in an interface that cannot send requests to its host.
  func hostSecrets(for client: String? = nil) -> HostSecrets? {
    session?.environment.host.map { HostSecrets($0, for: client) }
  }
}
