// The Swift face. Every method is `async`, none holds a thread of the cooperative pool: the blocking steps run on the
// client's own threads, and a cancelled task ends its wait, never a renewal whose answer must not be lost.

public import EnrollCore
import EnrollCrypto
import EnrollHost
import EnrollPosix

/// One account of one provider: registers and signs its user in, and has a valid token whenever one is asked for.
///
/// ```swift
/// let client = try EnrollClient(
///   configuration: Configuration(
///     issuer: "https://id.example", clientID: "app", redirectURI: "com.example.app:/callback"),
///   store: .directory("/home/me/.local/share/app"))
/// let begun = try await client.begin()              // open begun.url in the browser
/// let state = try await client.resume(redirectURL)  // when it comes back
/// let token = try await client.accessToken()        // before every request, for months
/// ```
public struct EnrollClient: Sendable {
  let client: Client

  /// How long a call waits where its caller does not say.
  public static let defaultTimeout = Duration.seconds(60)

  /// Opens an account.
  /// - Parameters:
  ///   - configuration: the provider, and the app as it knows it.
  ///   - store: where tokens are kept; there is no default path.
  ///   - keys: the key provider of a store that is a directory. The desktop's keyring has to be named: it brings
  ///     GLib's threads into the process.
  ///   - account: its name in the store; at another issuer or for another client id it is another account.
  ///   - platform: what the host knows of the device.
  ///   - waitsForPlatform: calls that ask for the registration wait for ``platformReady()``.
  ///   - renewsInBackground: tokens are renewed a little before they are due, whether anybody asks or not, until
  ///     ``close()``. Otherwise the first call that finds them due renews them.
  ///   - transport: the host's own; nil for libcurl.
  ///   - clock: the host's own; nil for the system's.
  ///   - log: gets a line for what the client does, without secrets; nil: nobody does.
  ///   - random: the host's own; nil for the system's.
  /// - Throws: `.storeRefused`, `.storeIO` and its kin when the store cannot be used.
  public init(
    configuration: Configuration, store: Store, keys: KeyPlan = .file, account: AccountName = .default,
    platform: Platform = Platform(), waitsForPlatform: Bool = false, renewsInBackground: Bool = false,
    transport: (any Transport)? = nil, clock: (any Clock)? = nil, log: (any LogHandler)? = nil,
    random: (any RandomSource)? = nil
  ) throws(EnrollError) {
    var options = ClientOptions(configuration: configuration, store: store.choice)
    options.keys = keys
    options.account = account
    options.platform = platform
    options.isPlatformReady = !waitsForPlatform
    options.renewsInBackground = renewsInBackground
    options.transport = transport
    options.clock = clock
    options.log = log
    options.random = random
    client = try Client(options)
  }

  /// Where tokens are kept.
  public enum Store: Sendable {
    /// Sealed files in a directory of their own, given by its absolute path; made when its parent exists.
    case directory(String)
    /// Gone with the client: for tests and previews.
    case memory
    /// The host's own.
    case custom(any TokenStore)

    fileprivate var choice: ClientOptions.StoreChoice {
      switch self {
      case .directory(let path): .directory(path)
      case .memory: .memory
      case .custom(let store): .custom(store)
      }
    }
  }

  /// No core dump of this process is written, and no debugger of the same user may look, until it runs another program.
  /// For a program of its own; an app leaves that to its system.
  /// - Throws: `.unsupported` where the system refuses.
  public static func hideProcessMemory() throws(EnrollError) { try ProcessMemory.hide() }

  /// The host's platform is ready: calls that waited for it go on.
  public func platformReady() { client.platformReady() }

  /// Ends the client: calls under way throw `.cancelled`, later ones `.handle`. A renewal that was sent is stored.
  public func close() { client.close() }

  typealias Step<Result> =
    @Sendable (Client, Instant, any Cancellation) throws(EnrollError) -> Result

  /// Runs a blocking step on the client's own threads.
  func offload<Result: Sendable>(
    _ timeout: Duration = defaultTimeout, _ step: @escaping Step<Result>
  ) async throws(EnrollError) -> Result {
    try await completed(timeout) { client, deadline, cancellation, done in
      let isStarted = client.perform {
        do throws(EnrollError) {
          done(.success(try step(client, deadline, cancellation)))
        } catch {
          done(.failure(error))
        }
      }
      if !isStarted { done(.failure(EnrollError(.busy, "no thread could be started"))) }
    }
  }

  /// Waits for a completion; a cancelled task cancels the wait.
  func completed<Value: Sendable>(
    _ timeout: Duration,
    _ start: (Client, Instant, CancellationFlag, @escaping @Sendable (Result<Value, EnrollError>) -> Void) ->
      Void
  ) async throws(EnrollError) -> Value {
    let cancellation = CancellationFlag()
    let (seconds, attoseconds) = timeout.components
    let deadline = client.deadline(afterSeconds: max(0, seconds))
      .advanced(byNanoseconds: max(0, attoseconds / 1_000_000_000))
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let done = client.untilClosed(cancellation) { (result: Result<Value, EnrollError>) in
          continuation.resume(returning: result)
        }
        start(client, deadline, cancellation, done)
      }
    } onCancel: {
      cancellation.cancel()
    }
    return try result.get()
  }
}
