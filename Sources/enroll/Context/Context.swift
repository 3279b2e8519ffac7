// Where configuration and tokens are: what the user said, what the environment says, or the user's own directories, which
// the daemon looks in as well.

import CPosix
import EnrollCore
import EnrollHost
import EnrollJSON
import EnrollPosix

/// Where this run finds what it is about.
struct Context {
  /// The file of the configuration.
  let configurationPath: String
  /// The name to show: the profile's name, or the path.
  let configurationName: String
  let store: String
  let account: String
  /// Whether profile and account are what `enroll switch` chose.
  let isChosen: Bool
  /// Whether the store's folder is the default one, whose parents are made.
  private let isDefaultStore: Bool

  /// - Parameter current: what `enroll switch` chose.
  /// - Throws: `.usage`.
  init(
    _ options: PlaceOptions, environment: Environment = .process,
    current: () -> CurrentChoice? = CurrentChoice.saved
  ) throws(Failure) {
    let chosen = options.isElsewhere(environment) ? nil : current()
    isChosen = chosen != nil
    account = options.account ?? environment["ENROLL_ACCOUNT"] ?? chosen?.account ?? "default"
    do throws(EnrollError) {
      if let path = options.config ?? (options.profile == nil ? environment["ENROLL_CONFIG"] : nil) {
        (configurationPath, configurationName) = (path, path)
      } else {
        configurationName =
          options.profile ?? environment["ENROLL_PROFILE"] ?? chosen?.profile ?? "default"
        configurationPath = try UserDirectories.configurationPath(configurationName)
      }
      let named = options.store ?? environment["ENROLL_STORE"]
      isDefaultStore = named == nil
      if let named { store = try Self.absolute(named) } else { store = try UserDirectories.store() }
    } catch {
      let isName = error.code == .invalidArgument
      throw Failure(
        .usage,
        isName
          ? "a profile's name is 1 to 64 letters, digits or -_. and does not begin with a dot" : error.message
      )
    }
  }

  /// The configuration, not checked yet.
  /// - Throws: `.usage` if it is missing or unreadable; `.interrupted` by Ctrl-C while it is read from a pipe.
  func configuration() throws(Failure) -> JSON {
    do throws(EnrollError) {
      return try UserDirectories.readConfiguration(
        at: configurationPath, called: configurationPath, wait: Interrupts.awaitInput)
    } catch {
      guard error.code == .notFound else {
        throw Failure(reading: error, advice: "Correct the file, or name another by --config or --profile.")
      }
      throw Failure(
        .usage, "there is no configuration at \(configurationPath)",
        advice: "Run \(.firstLogin) once, or name a file by --config.")
    }
  }

  /// The options of `login` that name the resource of the profile; empty for a configuration of another kind, and for a file
  /// that the user named, which may be a pipe.
  var registration: [String] {
    guard configurationName != configurationPath, let known = try? configuration(),
      let resource = known["resource"]?.string
    else { return [] }
    return ["--resource", resource]
      + (known["allowLoopbackHTTP"] == .bool(true) ? ["--allow-loopback-http"] : [])
  }

  /// The advice for an invalid configuration.
  var advice: Advice { "Correct \(configurationPath), or name another file by --config." }

  /// - Throws: `.usage` where that cannot be told.
  func hasConfiguration() throws(Failure) -> Bool {
    try Folders.exists(configurationPath) { number in
      Failure(
        .usage, "the configuration \(configurationPath) cannot be accessed: \(SystemError.words(number))",
        advice: "Correct the path, or name another file by --config or --profile.")
    }
  }

  /// - Throws: `.storeUnusable` where that cannot be told: a session may be in it.
  func hasStore() throws(Failure) -> Bool {
    try Folders.exists(store) { number in
      Failure(.storeUnusable, "the store \(store) cannot be accessed: \(SystemError.words(number))")
    }
  }

  /// Makes the directory that holds the store. A directory that the user named must exist, so that a typing error
  /// makes no directories.
  func makeStoreParent() throws(Failure) {
    if isDefaultStore { try Folders.make(Folders.parent(of: store)) }
  }

  /// A relative path is one from where the program was started.
  static func absolute(_ path: String) throws(EnrollError) -> String {
    guard path.utf8.first != UInt8(ascii: "/"), let folder = getcwd(nil, 0) else { return path }
    defer { free(folder) }
    guard let text = String(validatingCString: folder) else {
      throw EnrollError(.unsupported, "the current folder's path is not UTF-8: expected an absolute path")
    }
    return text + "/" + path
  }
}
