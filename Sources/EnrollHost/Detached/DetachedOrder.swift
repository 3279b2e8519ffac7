// The order that a program passes to a new process of the same program, so that the new process runs one step. The
// order has the data to open the same account, and the step. It is JSON, and is passed through a pipe, because it
// contains the passphrase and the PIN.

package import EnrollRules
package import EnrollSteps
package import EnrollCrypto
package import EnrollJSON
import EnrollStore

/// A step for a separate process, with the account that the step belongs to.
package struct DetachedOrder: Sendable {
  /// An account in a store, as the program opened it.
  package struct Account: Sendable {
    /// The document of the configuration.
    package var configuration: JSON
    /// The absolute path of the store.
    package var store: String
    /// The key provider of the store.
    package var keys: KeyPlan
    /// The account's name.
    package var name: String
    /// The PIN that unlocks the account; nil if the account has no PIN.
    package var pin: Secret?

    package init(configuration: JSON, store: String, keys: KeyPlan, name: String, pin: Secret? = nil) {
      self.configuration = configuration
      self.store = store
      self.keys = keys
      self.name = name
      self.pin = pin
    }

    /// The options of a client for the account.
    /// - Throws: `.configuration`; `.invalidArgument` for a name that no account can have.
    package func options() throws(EnrollError) -> ClientOptions {
      var options = ClientOptions(
        configuration: try Configuration(json: configuration), store: .directory(store))
      options.keys = keys
      options.account = try AccountName(name)
      return options
    }
  }

  let account: Account
  let step: DetachedStep

  /// Writes an order.
  /// - Parameter step: the step, in the form that ``DetachedStep`` reads.
  /// - Returns: the order for ``init(_:)``; nil if another process cannot open the store.
  package static func bytes(_ account: Account, _ step: JSON) -> [UInt8]? {
    guard let keys = account.keys.word else { return nil }
    return JSON.object([
      ("configuration", account.configuration), ("store", .string(account.store)),
      ("keys", .string(keys)),
      ("passphrase", account.keys.passphrase.map { .string($0.reveal()) }),
      ("account", .string(account.name)), ("pin", account.pin.map { .string($0.reveal()) }), ("step", step),
    ]).serialized()
  }

  /// Reads an order.
  /// - Returns: nil for bytes that no process of this program wrote.
  package init?(_ bytes: [UInt8]) {
    guard let json = try? JSON.parse(bytes), let configuration = json["configuration"],
      let store = json["store"]?.string, let name = json["account"]?.string,
      let keys = json["keys"]?.string.flatMap({ KeyPlan.Provider(word: $0) }),
      let step = json["step"].flatMap({ DetachedStep($0) })
    else { return nil }
    account = Account(
      configuration: configuration, store: store,
      keys: KeyPlan(keys, passphrase: json["passphrase"]?.string.map { Secret($0) }), name: name,
      pin: json["pin"]?.string.map { Secret($0) })
    self.step = step
  }

  /// Runs the step, and returns once all its results are stored.
  /// - Parameter tell: gets each line for the process that passed the order, without a line end. If the account cannot
  ///   be opened, `tell` is never called, and the process that passed the order runs the step itself.
  package func perform(tell: @escaping @Sendable ([UInt8]) -> Void) {
    guard let client = try? Client(account.options()) else { return }
    defer {
      client.close()
      client.drain()
    }
    if let pin = account.pin {
      guard let answer = try? client.usePIN(pin, to: .unlock), answer.outcome == .unlocked else { return }
    }
    client.perform(step) { tell($0.serialized()) }
  }
}

extension KeyPlan {
  /// The name of the key provider in an order; nil for a provider that only this process has, and for a key
  /// file outside the store.
  fileprivate var word: String? {
    switch provider {
    case .automatic: "auto"
    case .host, .custom, .file(path: _?): nil
    case .file(path: nil): KeyFileProvider.providerName
    case .secretService: SecretService.providerName
    case .passphrase: PassphraseKeyProvider.providerName
    }
  }
}

extension KeyPlan.Provider {
  /// The key provider that a word in an order names; nil for a word that no order contains.
  fileprivate init?(word: String) {
    switch word {
    case "auto": self = .automatic
    case KeyFileProvider.providerName: self = .file()
    case SecretService.providerName: self = .secretService
    case PassphraseKeyProvider.providerName: self = .passphrase
    default: return nil
    }
  }
}
