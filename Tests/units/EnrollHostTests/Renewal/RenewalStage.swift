// The stage for tests of renewals over a real connection: a session from an earlier sign-in, and a fake clock.

@testable import EnrollStore
import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollTesting
import Testing

/// A session of one hour, and a token endpoint on the network.
struct RenewalStage {
  let clock = FakeClock()
  let store: MemoryTokenStore
  let account: AccountName
  private let configuration: Configuration

  init(tokenEndpoint: String, caFile: String? = nil) throws {
    store = MemoryTokenStore(clock: clock)
    configuration = try Configuration(
      issuer: "https://id.example", clientID: "native", redirectURI: "com.example.app:/callback"
    ) {
      $0.scopes = ["offline_access"]
      $0.endpoints = Endpoints(
        authorization: "https://id.example/authorize", token: tokenEndpoint,
        jwks: "https://id.example/keys")
      $0.requiresConfirmation = false
      $0.allowsLoopbackHTTP = true
      $0.caFile = caFile
    }
    account = AccountName.default.belonging(to: configuration)
    let expiry = Expiry(lifetimeSeconds: 3600, from: clock.moment())
    try store.update(account) {
      $0.confirmed = TokenSet(
        accessToken: Secret("access-1"), tokenType: "Bearer",
        refreshToken: Secret(MisbehavingProvider.refreshToken(1)), expiry: expiry)
      $0.tokenEpoch = 1
    }
  }

  /// A process with the same store.
  /// - Parameter milliseconds: the timeout of a request.
  func client(milliseconds: Int64 = 30_000) throws -> Client {
    var options = ClientOptions(configuration: configuration, store: .custom(store))
    options.clock = clock
    options.transport = CurlTransport(
      .init(
        allowsLoopbackHTTP: true, caFile: configuration.caFile, totalTimeout: .init(milliseconds)))
    return try Client(options)
  }

  var record: AccountRecord {
    get throws { try #require(try store.read(account)) }
  }
}

extension Client {
  func now() throws -> AccessOutcome {
    try access(minimumLifetimeSeconds: 0, until: .distantFuture, cancellation: nil)
  }
}

struct Unmet: Error { var what: String }
