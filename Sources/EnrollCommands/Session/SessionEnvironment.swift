// The settings that a program adds to the commands: the source of named configurations, and the default store. A
// library has no such settings: its host passes them (flows.md §1).

public import EnrollRules
public import EnrollSteps
import EnrollHost
public import EnrollJSON
import EnrollPosix

/// The defaults for values that the caller does not pass.
public struct SessionEnvironment: Sendable {
  /// Returns the configuration with the given name.
  let configuration: @Sendable (String) throws(EnrollError) -> JSON
  /// Returns the directory of the store for a caller that names no store.
  let defaultStore: @Sendable () throws(EnrollError) -> String
  /// The key provider of the store for a caller that names no key provider.
  let defaultKeys: KeyPlan
  /// The log for the clients' lines; nil if there is no log.
  private(set) var host: (any HostRequester)?
  /// The clock of every client; nil for the system's clock.
  private(set) var log: (any LogHandler)?
  /// The clock of every client; nil: the system's.
  private(set) var clock: (any Clock)?

  public init(
    configuration: @escaping @Sendable (String) throws(EnrollError) -> JSON,
    defaultStore: @escaping @Sendable () throws(EnrollError) -> String, defaultKeys: KeyPlan = .file
  ) {
    self.configuration = configuration
    self.defaultStore = defaultStore
    self.defaultKeys = defaultKeys
  }

  /// The same environment with a host that provides HTTP and secrets on request.
  public func asking(_ host: any HostRequester) -> SessionEnvironment {
    var more = self
    more.host = host
    return more
  }

  /// The same environment with a log for the clients' lines.
  public func logging(_ log: any LogHandler) -> SessionEnvironment {
    var more = self
    more.log = log
    return more
  }

  /// The same environment with another clock for its clients.
  func timed(by clock: any Clock) -> SessionEnvironment {
    var more = self
    more.clock = clock
    return more
  }

  /// An environment without configurations by name and without a default store.
  public static let none = SessionEnvironment(
    configuration: { _ throws(EnrollError) in
      throw EnrollError(
        .unsupported, "this interface takes no configuration by name; pass configuration",
        field: "configurationName")
    },
    defaultStore: { () throws(EnrollError) in
      throw EnrollError(.invalidArgument, "store is missing", field: "store")
    })

  /// The user's directories, and the best key provider that is present: for a program.
  public static let user = SessionEnvironment(
    configuration: { name throws(EnrollError) in try UserDirectories.configuration(name) },
    defaultStore: { () throws(EnrollError) in try UserDirectories.storeInMadeFolders() },
    defaultKeys: .automatic)
}
