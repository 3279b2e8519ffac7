// The options with which a host opens a client.

public import EnrollRules
public import EnrollSteps
import EnrollStore

public struct ClientOptions: Sendable {
  /// Where tokens are stored.
  public enum StoreChoice: Sendable {
    /// An absolute path. The directory is created with mode 0700 if its parent exists.
    case directory(String)
    /// In memory, until the client is closed.
    case memory
    case custom(any TokenStore)

    func opened(
      keys: KeyPlan, clock: any Clock, random: any RandomSource
    ) throws(EnrollError) -> any TokenStore {
      switch self {
      case .directory(let path):
        try FileTokenStore(path: path, keys: keys, clock: clock, random: random)
      case .memory: MemoryTokenStore(clock: clock, random: random)
      case .custom(let own): own
      }
    }
  }

  public var configuration: Configuration
  public var store: StoreChoice
  /// The key provider of a store that is a directory.
  public var keys = KeyPlan.file
  public var account = AccountName.default
  public var platform = Platform()
  /// False if the host will call ``Client/platformReady()``. Until that call, every request for the state waits.
  public var isPlatformReady = true
  /// Whether the client renews tokens shortly before they are due, even if the host calls nothing.
  public var renewsInBackground = false
  /// Starts processes for the steps that must not end with this process; nil if this process runs these steps itself.
  package var stepProcesses: (any StepProcesses)?
  /// The host's own transport; nil for libcurl.
  public var transport: (any Transport)?
  /// The host's own clock; nil for the system's clock.
  public var clock: (any Clock)?
  /// Gets a line for each event and request of the client; nil for no log.
  public var log: (any LogHandler)?
  /// The host's own source of random numbers; nil for the system's.
  public var random: (any RandomSource)?

  public init(configuration: Configuration, store: StoreChoice) {
    self.configuration = configuration
    self.store = store
  }
}
