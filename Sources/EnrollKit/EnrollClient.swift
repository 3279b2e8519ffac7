// The Swift interface. The methods that may wait are `async`, and no method blocks a thread of the cooperative pool:
// the blocking steps run on the client's own threads. Cancelling a task ends its wait. It does not end a renewal, whose
// answer must not be lost.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollPosix

/// One account at one provider: registers the user, signs the user in, and gives your app a valid access token at any
/// time.
///
/// ```swift
/// let client = try EnrollClient(
///   configuration: Configuration(
///     issuer: "https://id.example", clientID: "app", redirectURI: "com.example.app:/callback"),
///   store: .directory("/home/me/.local/share/app"))
/// let begun = try await client.begin()              // open begun.url in the browser
/// let state = try await client.resume(redirectURL)  // when the browser returns
/// let token = try await client.accessToken()        // before every request, for months
/// ```
public struct EnrollClient: Sendable {
  let client: Client

  /// The default timeout of a call.
  public static let defaultTimeout = Duration.seconds(60)

  /// Opens an account.
  /// - Parameters:
  ///   - configuration: the provider, and the app as the provider knows it.
  ///   - store: where tokens are stored; there is no default path.
  ///   - keys: the key provider of a store that is a directory. The desktop's keyring must be named explicitly,
  ///     because it brings GLib's threads into the process.
  ///   - account: the account's name in the store. The same name at another issuer or client id is another account.
  ///   - platform: facts about the device.
  ///   - waitsForPlatform: whether calls about the registration wait for ``platformReady()``.
  ///   - renewsInBackground: whether tokens are renewed shortly before they are due, even without a call, until
  ///     ``close()``. Otherwise the first call that finds a token due renews it.
  ///   - transport: the host's own transport; nil for libcurl.
  ///   - clock: the host's own clock; nil for the system's.
  ///   - log: receives a line for each action of the client, without secrets; nil for no log.
  ///   - random: the host's own source of random bytes; nil for the system's.
  /// - Throws: `.configuration` for an invalid configuration; `.storeRefused`, `.storeIO` and similar errors if the
  ///   store cannot be used.
  public init(
    configuration: Configuration, store: Store, keys: KeyPlan = .file, account: AccountName = .default,
    platform: Platform = Platform(), waitsForPlatform: Bool = false, renewsInBackground: Bool = false,
    transport: (any Transport)? = nil, clock: (any Clock)? = nil, log: (any LogHandler)? = nil,
    random: (any RandomSource)? = nil
  ) throws(EnrollError) {
    var options = try ClientOptions(configuration: configuration.validated(), store: store.choice)
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

  /// Where tokens are stored.
  public enum Store: Sendable {
    /// Sealed files in a directory, given by its absolute path. The directory is created if it is missing; its parent
    /// must exist.
    case directory(String)
    /// A store in memory, until the client is closed: for tests and previews.
    case memory
    /// The host's own store.
    case custom(any TokenStore)

    var choice: ClientOptions.StoreChoice {
      switch self {
      case .directory(let path): .directory(path)
      case .memory: .memory
      case .custom(let store): .custom(store)
      }
    }
  }

  /// Disables core dumps of this process, and debugging by the same user, until the process runs another program. Meant
  /// for command-line programs and services; an app leaves this to its system.
  /// - Throws: `.unsupported` if the system refuses.
  public static func hideProcessMemory() throws(EnrollError) { try ProcessMemory.hide() }

  /// Reports that the host's platform is ready: calls that waited for the platform continue.
  public func platformReady() { client.platformReady() }

  /// Closes the client: calls in progress throw `.cancelled`, later calls `.handle`. The answer to a renewal that was
  /// already sent is still stored.
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
      if !isStarted { done(.failure(EnrollError.noThread())) }
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
