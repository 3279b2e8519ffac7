// Determines where the configuration and the tokens are: where the options or the environment say, or else in the
// user's directories. The daemon uses the same directories.

import CPosix
import EnrollRules
import EnrollHost
import EnrollJSON
import EnrollPosix

/// The configuration, store and account of this run.
struct Context {
  /// The file of the configuration.
  let configurationPath: String
  /// The configuration's name for messages: the profile's name, or the path of the file.
  let configurationName: String
  let store: String
  let account: String
  /// Whether the user chose the profile and the account earlier, with `enroll switch`.
  let isChosen: Bool
  /// Whether the store is the default store. Missing parent directories are created only for this store.
  private let isDefaultStore: Bool

  /// - Parameter current: reads the choice of `enroll switch`.
  /// - Throws: `.usage`.
  init(
    _ options: PlaceOptions, environment: Environment = .process,
    current: () throws(Failure) -> CurrentChoice? = CurrentChoice.saved
  ) throws(Failure) {
    let chosen = options.isElsewhere(environment) ? nil : try current()
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

  /// The configuration, not checked yet. Relative paths in it are relative to the folder of the configuration's file.
  /// - Throws: `.usage` if it is missing or unreadable; `.interrupted` by Ctrl-C while it is read from a pipe.
  func configuration() throws(Failure) -> ConfigurationDocument {
    do throws(EnrollError) {
      let read = try UserDirectories.readConfiguration(
        at: configurationPath, called: configurationPath, wait: Interrupts.awaitInput)
      guard read.object != nil else {
        throw EnrollError(
          .configuration,
          "the configuration \(Shown.text(configurationPath)): expected a JSON object, got \(read.kind)",
          field: "configurationName")
      }
      return ConfigurationDocument(
        try Configuration.resolvingFiles(of: read) { file throws(EnrollError) in
          try Self.absolute(file, in: try Self.absolute(configurationPath))
        })
    } catch {
      guard error.code == .notFound else {
        throw Failure(reading: error, advice: "Correct the file, or name another by --config or --profile.")
      }
      throw Failure(
        .usage, "there is no configuration at \(configurationPath)",
        advice: "Run \(.firstLogin) once, or name a file by --config.")
    }
  }

  /// The options with which `login` signs in at the resource of the profile again. Empty if the configuration is for
  /// no resource, or is in a file that the user named, because that file may be a pipe.
  var registration: [String] {
    guard configurationName != configurationPath, let known = try? configuration(),
      let resource = known.resource
    else { return [] }
    return ["--resource", resource]
      + (known.allowsLoopbackHTTP ? ["--allow-loopback-http"] : [])
  }

  /// The advice for an invalid configuration.
  var advice: Advice { "Correct \(configurationPath), or name another file by --config." }

  /// Whether the configuration exists.
  /// - Throws: `.usage` if that cannot be determined.
  func hasConfiguration() throws(Failure) -> Bool {
    try Folders.exists(configurationPath) { number in
      Failure(
        .usage, "the configuration \(configurationPath) cannot be accessed: \(SystemError.message(number))",
        advice: "Correct the path, or name another file by --config or --profile.")
    }
  }

  /// Whether the store exists.
  /// - Throws: `.storeUnusable` if that cannot be determined: there may be a session in the store.
  func hasStore() throws(Failure) -> Bool {
    try Folders.exists(store) { number in
      Failure(.storeUnusable, "the store \(store) cannot be accessed: \(SystemError.message(number))")
    }
  }

  /// The missing folder in which the store would be; nil if the folder exists, or if the first sign-in creates it.
  var missingStoreParent: String? {
    let parent = Folders.parent(of: store)
    guard !isDefaultStore, access(parent, F_OK) != 0, SystemError.isMissingFile(enroll_posix_errno()) else {
      return nil
    }
    return parent
  }

  /// Creates the directory that holds the store. A directory that the user named must exist, so that a typing error
  /// creates no directory.
  func makeStoreParent() throws(Failure) {
    if isDefaultStore { try Folders.make(Folders.parent(of: store)) }
  }

  /// - Parameter configuration: the absolute path of the file that contains `path`. If this file is a descriptor, such
  ///   as `/dev/fd/3`, `path` is relative to the current directory.
  static func absolute(_ path: String, in configuration: String) throws(EnrollError) -> String {
    guard !LastingFile.isOfThisProcess(configuration),
      let slash = configuration.utf8.lastIndex(of: UInt8(ascii: "/"))
    else { return try absolute(path) }
    return configuration[...slash] + path
  }

  /// Makes a path absolute. A relative path is relative to the directory in which the program was started.
  /// - Throws: `.unsupported` for a relative path if that directory was removed, or if its path is not UTF-8.
  static func absolute(_ path: String) throws(EnrollError) -> String {
    guard path.utf8.first != UInt8(ascii: "/") else { return path }
    guard let folder = getcwd(nil, 0) else {
      let reason = SystemError.message(enroll_posix_errno())
      throw EnrollError(
        .unsupported, "the current folder cannot be determined (\(reason)): expected an absolute path")
    }
    defer { free(folder) }
    guard let text = String(validatingCString: folder) else {
      throw EnrollError(.unsupported, "the current folder's path is not UTF-8: expected an absolute path")
    }
    return text + "/" + path
  }
}
