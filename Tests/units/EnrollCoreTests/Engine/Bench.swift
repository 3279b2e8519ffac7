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
    configuration = try Configuration(
      issuer: provider.issuer, clientID: "native", redirectURI: redirectURI,
      clientSecret: clientSecret.map { Secret($0) }, tokenEndpointAuthMethod: secretMethod,
      postLogoutRedirectURI: postLogoutRedirectURI, prompt: prompt,
      fallbackURI: "com.example.app://identity/fallback",
      scopes: scopes, appLinks: ["https://app.example/welcome/{activationToken}"],
      authorizeParameters: parameters, pushedRequests: pushedRequests, dpop: dpop, resource: resource,
      resources: resources, registration: registration,
      activation: activation,
      welcomePage: welcomePage, isNative: isNative,
      standInToken: isNative ? nil : Secret("stand-in"), requiresConfirmation: requiresConfirmation,
      registrationCheckURI: checks == nil ? nil : provider.issuer + "/check", requireCheck: checks ?? false,
      profileUpdateURI: tellsBackEnd ? provider.issuer + "/profile" : nil,
      errorReportURI: tellsBackEnd ? provider.issuer + "/errors" : nil,
      requireVerifiedEmail: requireVerifiedEmail, passwordless: passwordless,
      connectionParameter: connectionParameter)
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

  /// Another process: a second engine over the same store.
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
    let begun = try engine.begin(SignInOptions(), cancellation: nil)
    let ending = try engine.resume(provider.signIn(at: begun.url), cancellation: nil).ending
    guard case .succeeded = ending else { throw Unexpected(what: "\(ending)") }
    return engine
  }

  var record: AccountRecord {
    get throws { try store.read(.default) ?? AccountRecord() }
  }
}

struct Unexpected: Error { var what: String }

extension FakeProvider.Reply {
  /// Glewlwyd's refusal of a refresh token: a 400 whose headers say that it has no body.
  static let empty = FakeProvider.Reply.status(400, headers: [HTTPHeader("Content-Length", "0")])
}

extension Transaction {
  /// The URL of the action; empty if it has none, which fails every test that uses it.
  var url: String { action.url ?? "" }
}

extension Engine {
  /// The outcome of `token.access`; the test itself runs the renewal.
  func access(minimumLifetimeSeconds: Int64 = 0) throws -> AccessOutcome {
    switch try decideAccess(minimumLifetimeSeconds: minimumLifetimeSeconds) {
    case .fresh(let token, _): return .valid(token)
    case .answer(let outcome): return outcome
    case .renew(let epoch):
      let result = try renew(epochs: [epoch], forced: false)
      return try outcome(after: result, minimumLifetimeSeconds: minimumLifetimeSeconds)
    }
  }

  func token() throws -> String { try access().token().value.reveal() }

  /// The code of the failure to which a redirect leads.
  func failure(of url: String) throws -> EnrollError.Code? {
    guard case .failed(let error) = try resume(url, cancellation: nil).ending else { return nil }
    return error.code
  }
}

/// Keeps the events and warnings of an engine.
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

/// The code of the error that `body` throws; nil if it throws none.
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
