import EnrollCore
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollTesting
import Expectations
import Foundation
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
    try expect(engine.token(), isNot: first)
    try expect(engine.introspect(.accessToken, cancellation: nil)["active"], is: .bool(true))
    _ = try engine.beginLogout(localOnly: false, cancellation: nil)
    #expect(!bench.provider.revoked.isEmpty)
    expect(bench.provider.count(.pushed), is: 1)
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

  /// The method of the token endpoint, the one that the others announce, and the one that they take.
  static let others: [(ClientSecretMethod, ClientSecretMethod, ClientSecretMethod)] = [
    (.post, .basic, .basic), (.post, .basic, .post), (.basic, .post, .post), (.basic, .post, .basic),
  ]

  @Test(
    "revocation and introspection prove it as they announce, else as at the token endpoint (RFC 8414 §2)",
    arguments: others)
  func otherEndpoints(
    _ case: (token: ClientSecretMethod, announced: ClientSecretMethod, taken: ClientSecretMethod)
  ) throws {
    let bench = try bench([`case`.token])
    bench.provider.change {
      $0.laterSecretMethods = [`case`.taken]
      $0.metadata = {
        for endpoint in ["revocation", "introspection"] {
          $0["\(endpoint)_endpoint_auth_methods_supported"] = .array([
            .string(`case`.announced.rawValue), .string("bearer"),
          ])
        }
      }
    }
    let engine = try bench.signedIn()
    let requests = `case`.announced == `case`.taken ? 1 : 2
    try expect(engine.introspect(.accessToken, cancellation: nil)["active"], is: .bool(true))
    expect(bench.provider.count(.introspection), is: requests)
    _ = try engine.beginLogout(localOnly: false, cancellation: nil)
    expect(bench.provider.revoked.count, is: 2)
    expect(bench.provider.count(.revocation), is: 2 * requests)
  }

  @Test("in the header a space is %20, and other signs are as in a form")
  func header() throws {
    let bench = try bench([.basic])
    _ = try bench.signedIn()
    let value = try #require(
      bench.provider.requests(.token).last?.headers.first { $0.name == "Authorization" }?.value)
    let pair = try #require(Data(base64Encoded: String(value.dropFirst(6))))
    #expect(value.hasPrefix("Basic "))
    expect(String(decoding: pair, as: UTF8.self), is: "native:GOCSPX-a%20secret%2Bwith%2Fsigns%25")
  }

  @Test("a device that proves it in the header names itself in the body as well (RFC 8628 §3.1)")
  func deviceNames() throws {
    let bench = try bench([.basic])
    _ = try bench.engine().begin(SignInOptions(kind: .device), cancellation: nil)
    let request = try #require(bench.provider.requests(.deviceAuthorization).last)
    let form = String(decoding: request.body, as: UTF8.self).split(separator: "&")
    expect(form.filter { $0 == "client_id=native" }.count, is: 1)
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
    expect(bench.provider.count(.revocation), is: 2)
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
    #expect(
      error.oauthError == "invalid_client" && error.message.contains("clientSecret and token"), "\(error)")
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
