// What every command is told about its place: which provider, which store, which account, and the store's key provider.

import CPosix
import EnrollCore
import EnrollHost
import EnrollJSON

/// The options of ``ContextOptions``.
struct PlaceOptions {
  var config: String?
  var profile: String?
  var store: String?
  var account: String?
  var keys: KeyChoice?
  var passphraseFD: Int32?
  var pinFD: Int32?
  var json = false
  /// Whether the command names a provider that may have no profile yet.
  var namesProvider = false

  /// Whether what `enroll switch` chose does not count.
  func isElsewhere(_ environment: Environment) -> Bool {
    namesProvider || config != nil || profile != nil || store != nil || account != nil
      || ["ENROLL_CONFIG", "ENROLL_PROFILE", "ENROLL_STORE", "ENROLL_ACCOUNT"].contains {
        environment[$0] != nil
      }
  }

  /// The key provider, in the manifest's words.
  enum KeyChoice: String, CaseIterable {
    case auto, file, passphrase
    case secretService = "secret-service"

    static let list = allCases.map { $0.rawValue }.joined(separator: ", ")
  }

  /// What is wrong with the options together; nil if nothing is.
  var complaint: String? {
    if config != nil, profile != nil {
      return "--config and --profile exclude each other: each names the configuration."
    }
    if config == "" { return "--config has no value." }
    if store == "" { return "--store has no value." }
    if account == "" { return "--account has no value." }
    if passphraseFD != nil, let keys, keys != .auto, keys != .passphrase {
      return "--passphrase-fd needs --keys passphrase or auto."
    }
    if let passphraseFD, passphraseFD == pinFD {
      return "--passphrase-fd and --pin-fd must be different descriptors."
    }
    return nil
  }

  /// A descriptor that is named and cannot be read; nil if there is none.
  var unreadableDescriptor: Failure? {
    let named = [(passphraseFD, "--passphrase-fd"), (pinFD, "--pin-fd")]
    for case (let descriptor?, let option) in named where !enroll_posix_is_readable(descriptor) {
      return Prompt.unreadable(descriptor, option: option)
    }
    return nil
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

/// Options as they are typed again.
struct ArgumentWords {
  private(set) var list: [String] = []

  mutating func add(_ option: String, _ value: String?) {
    if let value { list += [option, value] }
  }

  mutating func add(_ flag: String, _ isSet: Bool) {
    if isSet { list.append(flag) }
  }
}
