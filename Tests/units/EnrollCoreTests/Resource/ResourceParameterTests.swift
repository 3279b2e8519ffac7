@testable import EnrollRules
@testable import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollStore
import EnrollTesting
import Expectations
import Testing

@Suite("What tokens are asked for (RFC 8707)")
struct ResourceParameterTests {
  private static let resource = "https://api.example/mcp?a=b"

  private func sent(_ request: HTTPRequest) throws -> [String] {
    try FormEncoding.decode(request.body).filter { $0.0 == "resource" }.map(\.1)
  }

  @Test("the authorize request, the code and every renewal name the resource, once (R43)")
  func signIn() throws {
    let bench = try Bench(pushedRequests: .never, resource: Self.resource)
    bench.provider.change { $0.resources = [Self.resource] }
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    let mark = try #require(begun.url.firstIndex(of: "?"))
    let query = try FormEncoding.decode(Array(begun.url[mark...].dropFirst().utf8))
    expect(query.filter { $0.0 == "resource" }.map(\.1), is: [Self.resource])
    _ = try engine.signIn.resume(bench.provider.signIn(at: begun.url), cancellation: nil)
    bench.clock.advance(seconds: 4000)
    _ = try engine.token()
    let requests = bench.provider.requests(.token)
    expect(requests.count, is: 2)
    for request in requests { try expect(sent(request), is: [Self.resource]) }
  }

  @Test("a pushed request and a device name it, too")
  func otherRequests() throws {
    let bench = try Bench(pushedRequests: .always, resource: Self.resource)
    bench.provider.change { $0.takesPushedRequests = true }
    _ = try bench.engine().signIn.begin(SignInOptions(), cancellation: nil)
    try expect(sent(#require(bench.provider.requests(.pushed).first)), is: [Self.resource])
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(kind: .device), cancellation: nil)
    bench.provider.change { $0.deviceError = nil }
    bench.clock.advance(seconds: 5)
    _ = try engine.device.pollDevice(begun.transactionID)
    try expect(sent(#require(bench.provider.requests(.deviceAuthorization).first)), is: [Self.resource])
    try expect(sent(#require(bench.provider.requests(.token).first)), is: [Self.resource])
  }

  @Test("a provider that refuses resources gets none, and the account is that of the resource")
  func unsent() throws {
    let bench = try Bench([
      ("resource", .string(Self.resource)), ("resourceParameter", .string("none")),
      ("pushedRequests", .string("never")),
    ])
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    #expect(!begun.url.contains("resource="))
    #expect(!begun.url.contains("none="))
    _ = try engine.signIn.resume(bench.provider.signIn(at: begun.url), cancellation: nil)
    bench.clock.advance(seconds: 4000)
    _ = try engine.token()
    for request in bench.provider.requests(.token) { #expect(try sent(request).isEmpty) }
  }

  @Test("without the key no request names one")
  func none() throws {
    let bench = try Bench(dpop: .never)
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 4000)
    _ = try engine.token()
    for request in bench.provider.requests(.token) { #expect(try sent(request).isEmpty) }
  }

  @Test("a host's own parameter cannot change it", arguments: [TransactionKind.signIn, .device])
  func parameters(kind: TransactionKind) throws {
    let bench = try Bench(resource: Self.resource)
    let options = SignInOptions(kind: kind, parameters: [("resource", "https://evil.example")])
    let error = refusal { try bench.engine().signIn.begin(options, cancellation: nil) }
    expect(error?.code, is: .invalidArgument)
    expect(error?.field, is: "parameters")
    expect(
      refusal { try Bench(parameters: [("resource", "https://evil.example")], resource: Self.resource) }?
        .field, is: "authorizeParameters")
    // If the configuration has no key `resource`, `resource` is an ordinary parameter, which some providers
    // require.
    _ = try Bench(parameters: [("resource", "urn:other")])
  }

  @Test("an account belongs to one resource: the tokens of two never mix (R43)")
  func accounts() throws {
    func account(_ clientID: String, _ resource: String?) throws -> AccountName {
      try AccountName("me").belonging(
        to: Configuration(
          issuer: "https://id.example", clientID: clientID, redirectURI: "com.example.app:/cb"
        ) {
          $0.resource = resource
        })
    }
    let names = try [
      account("app", nil), account("app", "https://api.example"), account("app", "https://api.example/"),
      account("app https://api.example", nil),
    ]
    expect(Set(names).count, is: 4)
    // Stores of earlier builds have this realm.
    expect(names[0].realm, is: "https://id.example app")
  }

  @Test("a session is not seen through the configuration of another resource")
  func sessions() throws {
    let store = MemoryTokenStore(clock: FakeClock())
    let clock = FakeClock()
    let provider = try FakeProvider(clock: clock)
    func client(_ resource: String?) throws -> Client {
      var options = ClientOptions(
        configuration: try Configuration(
          issuer: provider.issuer, clientID: "native", redirectURI: "com.example.app:/cb"
        ) {
          $0.scopes = ["openid", "offline_access"]
          $0.resource = resource
          $0.requiresConfirmation = false
        },
        store: .custom(store))
      options.transport = provider
      options.clock = clock
      return try Client(options)
    }
    let mine = try client("https://api.example")
    let begun = try mine.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
    _ = try mine.resume(
      provider.signIn(at: begun.url), transactionID: nil, until: .distantFuture, cancellation: nil)
    try expect(mine.readAccount().accessToken, isNot: nil)
    for other in [nil, "https://evil.example", "https://api.example/"] {
      try expect(client(other).readAccount().accessToken, is: nil)
    }
    try expect(client("https://api.example").readAccount().accessToken, isNot: nil)
  }

  @Test(
    "a resource is an https URL without a fragment",
    arguments: ["http://api.example", "https://api.example/#f", "api", "com.example.app:/x", ""])
  func configuration(text: String) {
    expect(refusal { try Bench(resource: text) }?.field, is: "resource")
  }
}
