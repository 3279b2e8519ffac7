// The options for the context of a command: provider, store, account, and the store's key provider.

import EnrollSteps
import CPosix
import EnrollCrypto
import EnrollRules

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
  /// The resource to which ``profile`` belongs; nil if the user named the configuration.
  var resource: String?
  /// Whether the command names a provider that may have no profile yet.
  var namesProvider = false

  /// Whether the command is `enroll switch`, which itself chooses the account.
  var choosesAccount = false

  /// Whether the choice of `enroll switch` is ignored.
  func isElsewhere(_ environment: Environment) -> Bool {
    namesProvider || choosesAccount || config != nil || profile != nil || store != nil || account != nil
      || ["ENROLL_CONFIG", "ENROLL_PROFILE", "ENROLL_STORE", "ENROLL_ACCOUNT"].contains {
        environment[$0] != nil
      }
  }

  /// The key provider, by its name in the manifest.
  enum KeyChoice: String, CaseIterable {
    case auto, file, passphrase
    case secretService = "secret-service"

    var plan: KeyPlan {
      switch self {
      case .auto: .automatic
      case .file: .file
      case .passphrase: KeyPlan(.passphrase)
      case .secretService: KeyPlan(.secretService)
      }
    }

    static let list = allCases.map { $0.rawValue }.joined(separator: ", ")
  }

  /// Whether the user named the configuration, on the command line or in the environment.
  func namesConfiguration(_ environment: Environment = .process) -> Bool {
    guard resource == nil else { return false }
    return config != nil || profile != nil || environment["ENROLL_CONFIG"] != nil
      || environment["ENROLL_PROFILE"] != nil
  }

  /// Why the options do not fit together; nil if they do.
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

  /// The error for a named descriptor that cannot be read; nil if there is no such descriptor.
  var unreadableDescriptor: Failure? {
    let named = [(passphraseFD, "--passphrase-fd"), (pinFD, "--pin-fd")]
    for case (let descriptor?, let option) in named where !enroll_posix_is_readable(descriptor) {
      return Prompt.unreadable(descriptor, option: option)
    }
    return nil
  }

  /// Keeps the descriptors with a passphrase or a PIN from the programs that this one starts. The standard streams stay
  /// open, because each program needs them.
  func keepDescriptors() {
    for case let descriptor? in [passphraseFD, pinFD] where descriptor > STDERR_FILENO {
      enroll_posix_close_on_exec(descriptor)
    }
  }

  /// The options for the same context, for a later command. Settings from the environment are included, because a
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

  /// The same options as ``words(_:)``, for a process that runs in another directory.
  func lastingWords(_ environment: Environment = .process) throws(Failure) -> [String] {
    var place = self
    try Failure.wrapping { () throws(EnrollError) in
      if let config = place.config ?? environment["ENROLL_CONFIG"], place.profile == nil {
        place.config = try Context.absolute(config)
      }
      if let store = place.store ?? environment["ENROLL_STORE"] { place.store = try Context.absolute(store) }
    }
    return place.words(environment)
  }

  /// The key provider of the store; nil for the program's default.
  func keyPlan() throws(Failure) -> KeyPlan? {
    if let passphraseFD {
      let passphrase = try Prompt.secret(from: passphraseFD, option: "--passphrase-fd")
      return KeyPlan(.passphrase, passphrase: Secret(passphrase))
    }
    return keys?.plan
  }
}

/// Options as arguments for a command line.
struct ArgumentWords {
  private(set) var list: [String] = []

  mutating func add(_ option: String, _ value: String?) {
    if let value { list += Self.option(option, value) }
  }

  /// The words of one option. A value that begins with a dash would be read as an option, unless it follows `=`.
  static func option(_ name: String, _ value: String) -> [String] {
    value.hasPrefix("-") && value.utf8.count > 1 ? ["\(name)=\(value)"] : [name, value]
  }

  mutating func add(_ flag: String, _ isSet: Bool) {
    if isSet { list.append(flag) }
  }
}
