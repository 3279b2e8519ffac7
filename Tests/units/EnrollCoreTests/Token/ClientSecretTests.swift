@testable import EnrollRules
@testable import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollStore
import EnrollTesting
import Expectations
import Foundation
import Testing

@Suite("A secret that the provider gave a native client (RFC 6749 §2.3.1, RFC 8252 §8.5)")
struct ClientSecretTests {
  static let secret = "GOCSPX-a secret+with/signs%"

  func bench(
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

  /// The methods that the provider accepts and announces, and the configured method.
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
    try expect(engine.introspection.introspect(.accessToken, cancellation: nil)["active"], is: .bool(true))
    _ = try engine.logout.beginLogout(localOnly: false, cancellation: nil)
    #expect(!bench.provider.revoked.isEmpty)
    expect(bench.provider.count(.pushed), is: 1)
  }

  @Test("a device signs in with it", arguments: ClientSecretMethod.allCases)
  func device(method: ClientSecretMethod) throws {
    let bench = try bench([method])
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(kind: .device), cancellation: nil)
    bench.provider.change { $0.deviceError = nil }
    bench.clock.advance(seconds: 5)
    guard case .succeeded? = try engine.device.pollDevice(begun.transactionID)?.ending else {
      throw Unexpected(what: "no tokens")
    }
  }

  /// The method of the token endpoint, then the method that the provider announces for its other endpoints,
  /// and the method that those endpoints accept.
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
    try expect(engine.introspection.introspect(.accessToken, cancellation: nil)["active"], is: .bool(true))
    expect(bench.provider.count(.introspection), is: requests)
    _ = try engine.logout.beginLogout(localOnly: false, cancellation: nil)
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
    _ = try bench.engine().signIn.begin(SignInOptions(kind: .device), cancellation: nil)
    let request = try #require(bench.provider.requests(.deviceAuthorization).last)
    let form = String(decoding: request.body, as: UTF8.self).split(separator: "&")
    expect(form.filter { $0 == "client_id=native" }.count, is: 1)
  }

  @Test(
    "where both are announced the header goes first, and where nothing is (RFC 8414 §2); a provider without metadata gets the body",
    arguments: [
      ([ClientSecretMethod.post, .basic], ClientSecretMethod.basic), ([.basic], .basic), ([.post], .post),
      ([], .post),
    ])
  func order(announced: [ClientSecretMethod], first: ClientSecretMethod) throws {
    let order = ClientSecretMethod.order(configured: nil, worked: nil, announced: announced)
    expect(order, is: [first, first == .post ? .basic : .post])
    expect(
      ClientSecretMethod.order(configured: .post, worked: nil, announced: announced), is: [.post])
    expect(
      ClientSecretMethod.order(configured: nil, worked: .post, announced: announced), is: [.post, .basic])
  }

  @Test("metadata without methods means the header (RFC 8414 §2)")
  func unannounced() throws {
    let bench = try bench([.basic])
    bench.provider.change { $0.metadata = { $0["token_endpoint_auth_methods_supported"] = nil } }
    _ = try bench.signedIn()
    expect(bench.provider.count(.token), is: 1)
  }

  /// Recorded refusals of a client: with different error codes, or without a body.
  static let refusals: [HTTPResponse] = [
    (401, #"{"error":"invalid_client"}"#), (400, #"{"error":"invalid_client"}"#),
    (401, #"{"error":"unauthorized_client"}"#), (400, #"{"error":"unauthorized_client"}"#),
    (401, #"{"error":"invalid_request","error_description":"Authentication failed."}"#), (401, ""), (403, ""),
  ].map { (status, body) in
    HTTPResponse(
      status: status,
      headers: [
        HTTPHeader("Content-Type", "application/json"), HTTPHeader("Content-Length", "\(body.utf8.count)"),
      ], body: Array(body.utf8))
  }

  @Test(
    "a secret that is refused in the way that goes first is sent in the other once, at every endpoint, and from then on",
    arguments: refusals)
  func second(refusal: HTTPResponse) throws {
    let bench = try bench([.post])
    bench.provider.change {
      $0.announcedSecretMethods = [.basic, .post]
      $0.clientRefusal = refusal
    }
    var engine = try bench.signedIn()
    // The push was refused once; every later request used the right method.
    #expect(bench.provider.count(.pushed) == 2 && bench.provider.count(.token) == 1)
    try expect(bench.record.secretMethod, is: .post)
    engine = bench.engine()
    bench.clock.advance(seconds: 4000)
    _ = try engine.token()
    expect(bench.provider.count(.token), is: 2)
    try expect(engine.introspection.introspect(.accessToken, cancellation: nil)["active"], is: .bool(true))
    expect(bench.provider.count(.introspection), is: 1)
    _ = try engine.logout.beginLogout(localOnly: false, cancellation: nil)
    #expect(
      !bench.provider.revoked.isEmpty && bench.provider.count(.revocation) == bench.provider.revoked.count)
  }

  @Test(
    "a code that is refused for its client is sent once more, and no third time (R15)",
    arguments: [false, true])
  func code(isWrong: Bool) throws {
    let bench = try bench([.post], sends: isWrong ? "another" : Self.secret)
    bench.provider.change {
      $0.announcedSecretMethods = [.basic, .post]
      $0.takesPushedRequests = false
    }
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    let ending = try engine.signIn.resume(bench.provider.signIn(at: begun.url), cancellation: nil).ending
    expect(bench.provider.count(.token), is: 2)
    guard case .failed(let error) = ending else {
      #expect(!isWrong)
      return
    }
    #expect(isWrong && error.oauthError == "invalid_client", "\(error)")
    try expect(bench.record.secretMethod, is: nil)
  }

  @Test("where the first refusal spent the code, the next sign-in knows the way")
  func spent() throws {
    let bench = try bench([.post])
    bench.provider.change {
      $0.announcedSecretMethods = [.basic, .post]
      $0.takesPushedRequests = false
      $0.spendsCodesOfRefusedClients = true
    }
    let begun = try bench.engine().signIn.begin(SignInOptions(), cancellation: nil)
    let url = bench.provider.signIn(at: begun.url)
    guard case .failed(let error) = try bench.engine().signIn.resume(url, cancellation: nil).ending else {
      throw Unexpected(what: "accepted")
    }
    expect(error.oauthError, is: "invalid_grant")
    _ = try bench.signedIn()
    expect(bench.provider.count(.token), is: 3)
  }

  @Test("a refusal of anything else is no reason to send the secret again")
  func otherRefusals() throws {
    let bench = try bench([.post, .basic])
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 4000)
    bench.provider.next(.token, .status(400, body: #"{"error":"invalid_grant"}"#))
    _ = try? engine.token()
    expect(bench.provider.count(.token), is: 2)
  }

  @Test("the configured way goes before the announced one")
  func configured() throws {
    let bench = try bench([.basic], configured: .basic)
    bench.provider.change {
      $0.metadata = { $0["token_endpoint_auth_methods_supported"] = .array([.string("client_secret_post")]) }
    }
    _ = try bench.signedIn()
  }

  @Test(
    "a revocation that is refused in both ways is about the token, not the way, and ends as refused (zitadel)"
  )
  func knownWay() throws {
    let bench = try bench([.basic, .post])
    let engine = try bench.signedIn()
    let refusal = FakeProvider.Reply.status(401, body: #"{"error":"invalid_client"}"#)
    bench.provider.next(.revocation, refusal, refusal, refusal, refusal)
    let logout = try engine.logout.beginLogout(localOnly: false, cancellation: nil)
    expect(bench.provider.count(.revocation), is: 4)
    guard case .notPossible? = logout.providerTold else { throw Unexpected(what: "\(logout)") }
    expect(try bench.store.updateOutbox { _ in }.count, is: 0)
  }

  @Test(
    "revocation and introspection try the other way, too, which changes nothing for the token endpoint",
    arguments: [(ClientSecretMethod.basic, ClientSecretMethod.post), (.post, .basic)])
  func otherWay(token: ClientSecretMethod, taken: ClientSecretMethod) throws {
    let bench = try bench([token])
    bench.provider.change { $0.laterSecretMethods = [taken] }
    let engine = try bench.signedIn()
    try expect(engine.introspection.introspect(.accessToken, cancellation: nil)["active"], is: .bool(true))
    bench.clock.advance(seconds: 4000)
    let sent = bench.provider.count(.token)
    _ = try engine.token()
    expect(bench.provider.count(.token), is: sent + 1)
    try expect(bench.record.secretMethod, is: token)
    let logout = try engine.logout.beginLogout(localOnly: false, cancellation: nil)
    expect(bench.provider.revoked.count, is: 2)
    expect(logout.providerTold, is: .told)
  }

  @Test("a refused revocation is not tried with the access token: nobody proves who they are in two ways")
  func refusedRevocation() throws {
    let bench = try bench([.basic])
    let engine = try bench.signedIn()
    let refusal = FakeProvider.Reply.status(401, body: #"{"error":"invalid_client"}"#)
    bench.provider.next(.revocation, refusal, refusal, refusal, refusal)
    _ = try engine.logout.beginLogout(localOnly: false, cancellation: nil)
    expect(bench.provider.count(.revocation), is: 4)
    #expect(
      bench.provider.requests(.revocation).allSatisfy {
        $0.headers.allSatisfy { $0.name != "Authorization" || $0.value.hasPrefix("Basic ") }
      })
  }

  @Test("without it the provider's refusal says which key may help")
  func missing() throws {
    let bench = try bench([.post], sends: nil)
    bench.provider.change { $0.takesPushedRequests = false }
    let engine = bench.engine()
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    guard case .failed(let error) = try engine.signIn.resume(url, cancellation: nil).ending else {
      throw Unexpected(what: "accepted")
    }
    #expect(
      error.oauthError == "invalid_client" && error.message.contains("clientSecret if"), "\(error)")
  }

  @Test("it is in no diagnostics, no record, no error and no description")
  func hidden() throws {
    let bench = try bench([.basic])
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 4000)
    bench.provider.next(.token, .status(401, body: #"{"error":"no \#(Self.secret)"}"#))
    let outcome = try engine.access()
    let told =
      "\(outcome) \(engine.diagnostics.diagnostics()) \(try bench.record) \(bench.configuration) \(bench.seen.warned)"
    #expect(!told.contains("GOCSPX"), "\(told)")
    #expect("\(engine.diagnostics.diagnostics())".contains("hasClientSecret"))
  }
}
