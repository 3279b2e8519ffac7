// The options that every command takes: which provider, which store, which account, and the store's key provider.
// Secrets never come this way: arguments are public.

import ArgumentParser
import EnrollCore
import EnrollHost
import EnrollJSON

struct ContextOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The configuration file (ENROLL_CONFIG).", valueName: "file"),
    completion: .file(extensions: ["json"]))
  var config: String?

  @Option(
    help: ArgumentHelp(
      "The name of a configuration in $XDG_CONFIG_HOME/enrollkit (ENROLL_PROFILE; default).",
      valueName: "name"), completion: .custom(Candidates.profiles))
  var profile: String?

  @Option(
    help: ArgumentHelp(
      "The store's directory (ENROLL_STORE; $XDG_DATA_HOME/enrollkit).", valueName: "folder"),
    completion: .directory)
  var store: String?

  @Option(
    help: ArgumentHelp("The name of the account in the store (ENROLL_ACCOUNT; default).", valueName: "name"),
    completion: .custom(Candidates.accounts))
  var account: String?

  @Option(
    help: ArgumentHelp(
      "The key provider that protects the store's key: \(KeyChoice.list). The default is auto, the best one that is available.",
      valueName: "provider"))
  var keys: KeyChoice?

  @Option(
    name: .customLong("passphrase-fd"),
    help: ArgumentHelp("Read the store's passphrase from this file descriptor.", valueName: "number"))
  var passphraseFD: Int32?

  @Option(
    name: .customLong("pin-fd"),
    help: ArgumentHelp("Read the account's PIN from this file descriptor.", valueName: "number"))
  var pinFD: Int32?

  @Flag(help: "Print JSON on standard output; messages go to standard error.")
  var json = false

  /// The key provider, in the manifest's words.
  enum KeyChoice: String, CaseIterable, ExpressibleByArgument {
    case auto, file, passphrase
    case secretService = "secret-service"

    static let list = allCases.map(\.rawValue).joined(separator: ", ")
  }

  func validate() throws {
    if config != nil, profile != nil {
      throw ValidationError("--config and --profile exclude each other: each names the configuration.")
    }
    for (option, value) in [("--config", config), ("--store", store), ("--account", account)]
    where value == "" {
      throw ValidationError("\(option) has no value.")
    }
    for (option, number) in [("--passphrase-fd", passphraseFD), ("--pin-fd", pinFD)] where (number ?? 0) < 0 {
      throw ValidationError("\(option) must be the number of an open file descriptor, 0 or more.")
    }
    if passphraseFD != nil, ![nil, .auto, .passphrase].contains(keys) {
      throw ValidationError("--passphrase-fd needs --keys passphrase or auto.")
    }
    if let passphraseFD, passphraseFD == pinFD {
      throw ValidationError("--passphrase-fd and --pin-fd must be different descriptors.")
    }
  }

  /// The options that name the same place, for a later command. Settings from the environment are included, because a
  /// variable may have been set for one command only.
  func words(_ environment: Environment = .process) -> [String] {
    var words = ArgumentWords()
    if let path = config ?? (profile == nil ? environment["ENROLL_CONFIG"] : nil) {
      words.add("--config", path)
    } else {
      words.add("--profile", profile ?? environment["ENROLL_PROFILE"])
    }
    words.add("--store", store ?? environment["ENROLL_STORE"])
    words.add("--account", account ?? environment["ENROLL_ACCOUNT"])
    words.add("--keys", keys?.rawValue)
    return words.list
  }

  /// The parameter `keys`; nil for the program's default.
  func keysParameter() throws(Failure) -> JSON? {
    if let passphraseFD {
      return Self.passphraseKeys(try Prompt.secret(from: passphraseFD, option: "--passphrase-fd"))
    }
    return keys.map { .object([("provider", .string($0.rawValue))]) }
  }

  static func passphraseKeys(_ passphrase: String) -> JSON {
    .object([("provider", .string("passphrase")), ("passphrase", .string(passphrase))])
  }
}
