import EnrollCore
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollTesting
import Testing

@Suite("A secret that the provider gave a native client (RFC 6749 §2.3.1, RFC 8252 §8.5)")
struct ClientSecretTests {
  private static let secret = "GOCSPX-a secret+with/signs%"

  private func bench(
    _ methods: [ClientSecretMethod], configured: ClientSecretMethod? = nil,
    sends secret: String? = Self.secret,
    passwordless: PasswordlessDialect? = nil
  ) throws -> Bench {
    let bench = try Bench(
      passwordless: passwordless, pushedRequests: .auto, dpop: .never, clientSecret: secret,
      secretMethod: configured)
    bench.provider.change {
      $0.clientSecret = Self.secret
      $0.secretMethods = methods
      $0.takesPushedRequests = true
    }
    return bench
  }

  /// Methods that the provider takes and announces, and the one that is configured.
  static let ways: [([ClientSecretMethod], ClientSecretMethod?)] = [
    ([.post], nil), ([.basic], nil), ([.basic, .post], nil), ([.basic, .post], .basic), ([.post], .post),
  ]

  @Test("sign-in, renewal, introspection and logout prove it, each in one way", arguments: ways)
  func everywhere(_ way: (methods: [ClientSecretMethod], configured: ClientSecretMethod?)) throws {
    let bench = try bench(way.methods, configured: way.configured)
    let engine = try bench.signedIn()
    let first = try engine.token()
    #expect(first.hasPrefix("access-"))
    bench.clock.advance(seconds: 4000)
    #expect(try engine.token() != first)
    #expect(try engine.introspect(.accessToken, cancellation: nil)["active"] == .bool(true))
    _ = try engine.beginLogout(localOnly: false, cancellation: nil)
    #expect(!bench.provider.revoked.isEmpty)
    #expect(bench.provider.count(.pushed) == 1)
  }

  @Test("a device signs in with it", arguments: ClientSecretMethod.allCases)
  func device(method: ClientSecretMethod) throws {
    let bench = try bench([method])
    let engine = bench.engine()
    let begun = try engine.begin(SignInOptions(kind: .device), cancellation: nil)
    bench.provider.change { $0.deviceError = nil }
    bench.clock.advance(seconds: 5)
    guard case .succeeded? = try engine.pollDevice(begun.transactionID)?.ending else {
      throw Unexpected(what: "no tokens")
    }
  }

  @Test("a provider that announces nothing gets it in the body")
  func unannounced() throws {
    let bench = try bench([.post])
    bench.provider.change { $0.metadata = { $0["token_endpoint_auth_methods_supported"] = nil } }
    _ = try bench.signedIn()
  }

  @Test("the configured way goes before the announced one")
  func configured() throws {
    let bench = try bench([.basic], configured: .basic)
    bench.provider.change {
      $0.metadata = { $0["token_endpoint_auth_methods_supported"] = .array([.string("client_secret_post")]) }
    }
    _ = try bench.signedIn()
  }

  @Test("a refused revocation is not tried with the access token: nobody proves who they are in two ways")
  func refusedRevocation() throws {
    let bench = try bench([.basic])
    let engine = try bench.signedIn()
    bench.provider.next(
      .revocation, .status(401, body: #"{"error":"invalid_client"}"#),
      .status(401, body: #"{"error":"invalid_client"}"#))
    _ = try engine.beginLogout(localOnly: false, cancellation: nil)
    #expect(bench.provider.count(.revocation) == 2)
    #expect(
      bench.provider.requests(.revocation).allSatisfy {
        $0.headers.filter { $0.name == "Authorization" }.count == 1
      })
  }

  @Test("without it the provider's refusal says which key may help")
  func missing() throws {
    let bench = try bench([.post], sends: nil)
    bench.provider.change { $0.takesPushedRequests = false }
    let engine = bench.engine()
    let url = bench.provider.signIn(at: try engine.begin(SignInOptions(), cancellation: nil).url)
    guard case .failed(let error) = try engine.resume(url, cancellation: nil).ending else {
      throw Unexpected(what: "accepted")
    }
    #expect(error.oauthError == "invalid_client" && error.message.contains("clientSecret"), "\(error)")
  }

  @Test("it is in no diagnostics, no record, no error and no description")
  func hidden() throws {
    let bench = try bench([.basic])
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 4000)
    bench.provider.next(.token, .status(401, body: #"{"error":"no \#(Self.secret)"}"#))
    let outcome = try engine.access()
    let told =
      "\(outcome) \(engine.diagnostics()) \(try bench.record) \(bench.configuration) \(bench.seen.warned)"
    #expect(!told.contains("GOCSPX"), "\(told)")
    #expect("\(engine.diagnostics())".contains("hasClientSecret"))
  }
}
