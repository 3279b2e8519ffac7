// The options with which a host opens a client.

public import EnrollCore
import EnrollStore

public struct ClientOptions: Sendable {
  /// Where tokens live.
  public enum StoreChoice: Sendable {
    /// An absolute path; the directory is made, 0700, when its parent exists.
    case directory(String)
    /// Gone with the client.
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
  /// False where ``Client/platformReady()`` will be called: until then requests for the state wait.
  public var isPlatformReady = true
  /// Tokens are renewed a little before they are due, whether anybody asks or not.
  public var renewsInBackground = false
  /// Makes processes for the steps that must not end with this one; nil: this process runs them.
  package var stepProcesses: (any StepProcesses)?
  /// nil: libcurl.
  public var transport: (any Transport)?
  /// nil: the system's.
  public var clock: (any Clock)?
  /// Gets a line for what the client does; nil: nobody does.
  public var log: (any LogHandler)?
  /// nil: the system's.
  public var random: (any RandomSource)?

  public init(configuration: Configuration, store: StoreChoice) {
    self.configuration = configuration
    self.store = store
  }
}
