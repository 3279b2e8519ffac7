// Settings of the program around the commands: where named configurations are, and where tokens are kept by default.
// A library has neither: its host says where (flows.md §1).

public import EnrollCore
import EnrollHost
public import EnrollJSON
import EnrollPosix

/// Where a session finds what its caller did not say.
public struct SessionEnvironment: Sendable {
  /// The configuration of that name.
  let configuration: @Sendable (String) throws(EnrollError) -> JSON
  /// The directory of the store when none is named.
  let defaultStore: @Sendable () throws(EnrollError) -> String
  /// The key provider of a store when none is named.
  let defaultKeys: KeyPlan
  /// nil in a face that cannot ask its host.
  private(set) var host: (any HostLine)?
  /// Gets what clients tell; nil: nobody does.
  private(set) var log: (any LogHandler)?
  /// Starts a process that runs ``Session/perform(order:tell:)`` with these bytes, and gives a descriptor for what it tells; nil
  /// where none can be made. nil: this process runs every step itself.
  private(set) var startStep: (@Sendable ([UInt8]) -> Int32?)?
  /// Of every client; nil: the system's.
  private(set) var clock: (any Clock)?

  public init(
    configuration: @escaping @Sendable (String) throws(EnrollError) -> JSON,
    defaultStore: @escaping @Sendable () throws(EnrollError) -> String, defaultKeys: KeyPlan = .file
  ) {
    self.configuration = configuration
    self.defaultStore = defaultStore
    self.defaultKeys = defaultKeys
  }

  /// The same, with a host that can be asked for HTTP and secrets.
  public func asking(_ host: any HostLine) -> SessionEnvironment {
    var more = self
    more.host = host
    return more
  }

  /// The same, with a log for what clients tell.
  public func logging(_ log: any LogHandler) -> SessionEnvironment {
    var more = self
    more.log = log
    return more
  }

  /// The same, with processes for the steps that must not end with this one.
  /// - Parameter start: hands the bytes to a process that calls ``Session/perform(order:tell:)``, and gives a descriptor for the
  ///   lines that it is told; nil where no process can be made.
  package func startingSteps(
    _ start: @escaping @Sendable ([UInt8]) -> Int32?
  ) -> SessionEnvironment {
    var more = self
    more.startStep = start
    return more
  }

  /// The same, with another clock for its clients.
  func timed(by clock: any Clock) -> SessionEnvironment {
    var more = self
    more.clock = clock
    return more
  }

  /// No configurations by name, no default store.
  public static let none = SessionEnvironment(
    configuration: { _ throws(EnrollError) in
      throw EnrollError(
        .unsupported, "this interface takes no configuration by name; pass configuration",
        field: "configurationName")
    },
    defaultStore: { () throws(EnrollError) in
      throw EnrollError(.invalidArgument, "store is missing", field: "store")
    })

  /// The user's directories, and the best key provider that is present: for a program, as the user's own.
  public static let user = SessionEnvironment(
    configuration: { name throws(EnrollError) in try UserDirectories.configuration(name) },
    defaultStore: { () throws(EnrollError) in try UserDirectories.storeInMadeFolders() },
    defaultKeys: .automatic)
}
