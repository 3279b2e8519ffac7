// The options that every command takes: which provider, which store, which account, and who guards the store's key.
// Secrets never come this way: arguments are public.

import ArgumentParser
import EnrollCore
import EnrollHost
import EnrollJSON

struct ContextOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The configuration's file (ENROLL_CONFIG).", valueName: "file"),
    completion: .file(extensions: ["json"]))
  var config: String?

  @Option(
    help: ArgumentHelp(
      "The configuration of that name in $XDG_CONFIG_HOME/enrollkit (ENROLL_PROFILE; default).",
      valueName: "name"), completion: .custom(Candidates.profiles))
  var profile: String?

  @Option(
    help: ArgumentHelp(
      "The store's folder (ENROLL_STORE; $XDG_DATA_HOME/enrollkit).", valueName: "folder"),
    completion: .directory)
  var store: String?

  @Option(
    help: ArgumentHelp("One set of tokens (ENROLL_ACCOUNT; default).", valueName: "name"),
    completion: .custom(Candidates.accounts))
  var account: String?

  @Option(
    help: ArgumentHelp(
      "Who guards the store's key: \(KeyChoice.list). By default auto: the best that is present.",
      valueName: "provider"))
  var keys: KeyChoice?

  @Option(
    name: .customLong("passphrase-fd"),
    help: ArgumentHelp("Read the store's passphrase from this descriptor.", valueName: "number"))
  var passphraseFD: Int32?

  @Option(
    name: .customLong("pin-fd"),
    help: ArgumentHelp("Read the account's PIN from this descriptor.", valueName: "number"))
  var pinFD: Int32?

  @Flag(help: "Print JSON on standard output; words stay on standard error.")
  var json = false

  /// Who guards the key, in the manifest's words.
  enum KeyChoice: String, CaseIterable, ExpressibleByArgument {
    case auto, file, passphrase
    case secretService = "secret-service"

    static let list = allCases.map(\.rawValue).joined(separator: ", ")
  }

  func validate() throws {
    if config != nil, profile != nil {
      throw ValidationError("--config and --profile name two configurations.")
    }
    for (option, value) in [("--config", config), ("--store", store), ("--account", account)]
    where value == "" {
      throw ValidationError("\(option) has no value.")
    }
    for (option, number) in [("--passphrase-fd", passphraseFD), ("--pin-fd", pinFD)] where (number ?? 0) < 0 {
      throw ValidationError("\(option) is the number of an open descriptor, 0 or more.")
    }
    if passphraseFD != nil, ![nil, .auto, .passphrase].contains(keys) {
      throw ValidationError("--passphrase-fd goes with --keys passphrase or auto.")
    }
    if let passphraseFD, passphraseFD == pinFD {
      throw ValidationError("--passphrase-fd and --pin-fd are two descriptors.")
    }
  }

  /// The same place again, as far as a later command needs it. What the environment says is said, too: a variable may
  /// have been set for one command alone.
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
