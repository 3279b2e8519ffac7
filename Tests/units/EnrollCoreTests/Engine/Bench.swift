import EnrollPosix
@testable import EnrollStore
import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollTesting
import Testing

/// An engine with fakes: a provider in memory, a clock that does not advance by itself, a store in memory.
struct Bench {
  let clock: FakeClock
  let provider: FakeProvider
  let store: MemoryTokenStore
  let seen = Recorder()
  let configuration: Configuration

  init(
    requiresConfirmation: Bool = false, isNative: Bool = true,
    scopes: [String]? = ["openid", "offline_access"], prompt: String? = nil,
    redirectURI: String = "com.example.app:/callback",
    passwordless: PasswordlessDialect? = nil, connectionParameter: String = "connection",
    registration: Registration = .signIn, activation: Activation = .authorize, welcomePage: String? = nil,
    parameters: [(String, String)] = [], pushedRequests: FeaturePolicy = .auto, dpop: FeaturePolicy = .auto,
    checks: Bool? = nil, requireVerifiedEmail: Bool = false, tellsBackEnd: Bool = false,
    clientSecret: String? = nil, secretMethod: ClientSecretMethod? = nil, resource: String? = nil,
    resources: [String] = [], postLogoutRedirectURI: String? = nil
  ) throws {
    clock = FakeClock()
    provider = try FakeProvider(clock: clock)
    store = MemoryTokenStore(clock: clock)
    let issuer = provider.issuer
    configuration = try Configuration(
      issuer: issuer, clientID: "native", redirectURI: redirectURI
    ) {
      $0.clientSecret = clientSecret.map { Secret($0) }
      $0.tokenEndpointAuthMethod = secretMethod
      $0.postLogoutRedirectURI = postLogoutRedirectURI
      $0.prompt = prompt
      $0.fallbackURI = "com.example.app://identity/fallback"
      if let scopes { $0.scopes = scopes }
      $0.appLinks = ["https://app.example/welcome/{activationToken}"]
      $0.authorizeParameters = parameters
      $0.pushedRequests = pushedRequests
      $0.dpop = dpop
      $0.resource = resource
      $0.resources = resources
      $0.registration = registration
      $0.activation = activation
      $0.welcomePage = welcomePage
      $0.isNative = isNative
      $0.standInToken = isNative ? nil : Secret("stand-in")
      $0.requiresConfirmation = requiresConfirmation
      $0.registrationCheckURI = checks == nil ? nil : issuer + "/check"
      $0.requireCheck = checks ?? false
      $0.profileUpdateURI = tellsBackEnd ? issuer + "/profile" : nil
      $0.errorReportURI = tellsBackEnd ? issuer + "/errors" : nil
      $0.requireVerifiedEmail = requireVerifiedEmail
      $0.passwordless = passwordless
      $0.connectionParameter = connectionParameter
    }
  }

  /// Makes the bench with changes of the configuration's JSON.
  init(_ changes: [(String, JSON?)]) throws {
    clock = FakeClock()
    provider = try FakeProvider(clock: clock)
    store = MemoryTokenStore(clock: clock)
    configuration = try Configuration(
      json: .object(
        [
          ("issuer", .string(provider.issuer)), ("clientId", .string("native")),
          ("redirectUri", .string("com.example.app:/callback")), ("confirmation", .bool(false)),
        ] + changes))
  }

  /// A second engine over the same store, as in another process.
  func engine(
    account: AccountName = .default, store other: (any TokenStore)? = nil,
    transport: (any Transport)? = nil, clientKey: ClientKey? = nil, readingKey: ClientKey.Reader? = nil
  ) -> Engine {
    var reader = readingKey
    if let clientKey { reader = { () throws(EnrollError) in clientKey } }
    return Engine(
      configuration: configuration, account: account,
      platform: Platform(type: "android", width: 1080, height: 2400, appVersion: "7.1", deviceID: "device-9"),
      transport: transport ?? provider, store: other ?? store,
      clock: clock, random: SystemRandomSource(), observer: seen,
      clientKey: reader, exclusion: { Mutex() })
  }

  /// An engine with a signed-in user.
  func signedIn() throws -> Engine {
    let engine = engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    let ending = try engine.signIn.resume(provider.signIn(at: begun.url), cancellation: nil).ending
    guard case .succeeded = ending else { throw Unexpected(what: "\(ending)") }
    return engine
  }

  var record: AccountRecord {
    get throws { try store.read(.default) ?? AccountRecord() }
  }
}

struct Unexpected: Error { var what: String }

extension FakeProvider.Reply {
  /// Glewlwyd's refusal of a refresh token: a response with status 400 whose headers say that there is no body.
  static let empty = FakeProvider.Reply.status(400, headers: [HTTPHeader("Content-Length", "0")])
}

extension Transaction {
  /// The URL of the action; empty if the action has no URL, which fails every test that uses this property.
  var url: String { action.url ?? "" }
}

extension Engine {
  /// The outcome of `token.access`. If a renewal is needed, this function runs it.
  func access(minimumLifetimeSeconds: Int64 = 0) throws -> AccessOutcome {
    switch try tokens.decideAccess(minimumLifetimeSeconds: minimumLifetimeSeconds) {
    case .fresh(let token, _): return .valid(token)
    case .answer(let outcome): return outcome
    case .renew(let epoch):
      let result = try renewal.renew(epochs: [epoch], forced: false)
      return try tokens.outcome(after: result, minimumLifetimeSeconds: minimumLifetimeSeconds)
    }
  }

  func token() throws -> String { try access().token().value.reveal() }

  /// The error code if the sign-in with this redirect fails; nil if it succeeds.
  func failure(of url: String) throws -> EnrollError.Code? {
    guard case .failed(let error) = try signIn.resume(url, cancellation: nil).ending else { return nil }
    return error.code
  }
}

/// An observer that keeps the events and warnings of an engine.
final class Recorder: EngineObserver {
  private let kept = Guarded<[EnrollEvent]>([], by: Mutex())
  private let warnings = Guarded<[EnrollError]>([], by: Mutex())

  func warn(_ error: EnrollError) { warnings.withLock { $0.append(error) } }

  /// The warnings, oldest first.
  var warned: [EnrollError] { warnings.withLock { $0 } }

  func observe(_ notification: EnrollEvent) { kept.withLock { $0.append(notification) } }

  var names: [String] { kept.withLock { $0.map(\.name) } }

  /// Failures that were reported, oldest first.
  var reported: [EnrollError] {
    kept.withLock { kept in
      kept.compactMap { if case .errorReported(let error) = $0 { error } else { nil } }
    }
  }
}

/// The code of the error that `body` throws; nil if `body` throws no error.
func code(_ body: () throws -> Void) -> EnrollError.Code? {
  do {
    try body()
    return nil
  } catch let error as EnrollError {
    return error.code
  } catch {
    return nil
  }
}
