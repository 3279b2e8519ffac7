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

@Suite("A provider that has forgotten a registered client")
struct ForgottenClientTests {
  private static let resource = "https://api.example/"
  private let bench: Bench

  init() throws {
    bench = try Bench(resource: Self.resource)
    bench.provider.change { $0.resources = [Self.resource] }
  }

  private func keep(_ clientID: String, former: [String] = []) throws {
    let name = RegistrationName(
      issuer: bench.configuration.issuer, redirectURI: bench.configuration.redirectURI,
      resource: try ResourceIdentifier(Self.resource, allowsLoopbackHTTP: false),
      trust: bench.provider.trust)
    try bench.store.updateRegisteredClient(name) {
      $0 = RegisteredClient(
        clientID: ClientID(clientID), former: former.map { ClientID($0) },
        registeredAt: bench.clock.wallTime())
    }
  }

  private func refused(_ code: String) -> FakeProvider.Reply {
    .status(401, body: #"{"error":"\#(code)"}"#)
  }

  private func refusal(_ engine: Engine) throws -> EnrollError {
    let reason = try engine.access().renewalFailure
    return try #require(reason)
  }

  @Test(
    "the refusal of a renewal asks for another registration, and for no look at the configuration, also while it is remembered",
    arguments: ["invalid_client", "unauthorized_client"])
  func renewal(code: String) throws {
    try keep("native")
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 100_000)
    bench.provider.next(.token, refused(code))
    for _ in 1...2 {
      let error = try refusal(engine)
      expect(error.field, is: "again")
      expect(error.oauthError, is: code)
      #expect(error.message.contains("resource.register with again"))
      #expect(!error.message.contains("clientSecret"))
    }
    expect(bench.provider.count(.token), is: 2)
    expect(engine.diagnostics.diagnostics()["isClientForgotten"], is: .bool(true))
  }

  @Test("so does the refusal of a client that gave way for one with further scopes")
  func former() throws {
    try keep("wider", former: ["older", "native"])
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 100_000)
    bench.provider.next(.token, refused("invalid_client"))
    try expect(refusal(engine).field, is: "again")
  }

  @Test("so does the refusal of a code")
  func code() throws {
    try keep("native")
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    bench.provider.next(.token, refused("invalid_client"))
    let ending = try engine.signIn.resume(bench.provider.signIn(at: begun.url), cancellation: nil).ending
    guard case .failed(let error) = ending else { throw Unexpected(what: "\(ending)") }
    expect(error.field, is: "again")
  }

  @Test(
    "a client that the host configured, beside a registered one or not, is looked at in the configuration")
  func configured() throws {
    for other in [nil, "other"] {
      let bench = try Self()
      if let other { try bench.keep(other) }
      let engine = try bench.bench.signedIn()
      bench.bench.clock.advance(seconds: 100_000)
      bench.bench.provider.next(.token, refused("invalid_client"))
      let error = try refusal(engine)
      expect(error.field, is: nil)
      #expect(error.message.contains("check clientId, and clientSecret"))
    }
  }
}
