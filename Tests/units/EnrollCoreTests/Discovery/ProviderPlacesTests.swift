import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollPosix
@testable import EnrollStore
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@Suite("Where a provider's endpoints are")
struct ProviderPlacesTests {
  private let wellKnown = "https://id.example/.well-known/openid-configuration"

  @Test("a configured endpoint takes the announced one's place, and the others stay")
  func override() throws {
    let bench = try Bench([
      (
        "endpoints",
        .object([("deviceAuthorizationEndpoint", .string("https://elsewhere.example/device"))])
      )
    ])
    let place = "https://elsewhere.example/device"
    let transport = TransportAt(
      [place: TransportAt.moved(to: "https://id.example/device", of: bench.provider)], else: bench.provider)
    let engine = bench.engine(transport: transport)
    _ = try engine.signIn.begin(SignInOptions(kind: .device), cancellation: nil)
    expect(bench.provider.count(.discovery), is: 1)
    #expect(transport.requests.contains { $0.url == place })
    #expect(
      try engine.signIn.begin(SignInOptions(), cancellation: nil).url.hasPrefix(
        "https://id.example/authorize?"))
  }

  @Test("a hole in the document is filled by configured endpoints, and is named without them")
  func hole() throws {
    let bench = try Bench([
      ("endpoints", .object([("tokenEndpoint", .string("https://id.example/token"))]))
    ])
    let bare = try Bench([])
    for each in [bench, bare] { each.provider.change { $0.metadata = { $0["token_endpoint"] = nil } } }
    _ = try bench.signedIn()
    let error = try #require(refusal { try bare.engine().signIn.begin(SignInOptions(), cancellation: nil) })
    #expect(error.field == "token_endpoint" && error.message.contains("configure it in endpoints"))
  }

  @Test(
    "discovery is not asked where the configured endpoints are all that a sign-in needs",
    arguments: [
      ("read", false, 0), ("openid", false, 1), ("openid", true, 0),
    ])
  func complete(scopes: String, hasKeys: Bool, documents: Int) throws {
    let bench = try Bench([
      ("scopes", .string(scopes)),
      (
        "endpoints",
        .object([
          ("authorizationEndpoint", .string("https://id.example/authorize")),
          ("tokenEndpoint", .string("https://id.example/token")),
          ("jwksUri", hasKeys ? .string("https://id.example/keys") : nil),
        ])
      ),
    ])
    _ = try bench.signedIn()
    expect(bench.provider.count(.discovery), is: documents)
  }

  @Test("without keys a sign-in that asks for openid says which key is missing")
  func noKeys() throws {
    let bench = try Bench([
      ("scopes", .string("read")),
      (
        "endpoints",
        .object([
          ("authorizationEndpoint", .string("https://id.example/authorize")),
          ("tokenEndpoint", .string("https://id.example/token")),
        ])
      ),
    ])
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(scopes: ["openid"]), cancellation: nil)
    let error = refusal { try engine.signIn.resume(bench.provider.signIn(at: begun.url), cancellation: nil) }
    #expect(error?.code == .unsupported && error?.field == "endpoints.jwksUri")
  }

  @Test("the document may be on another host, as long as it names the issuer")
  func elsewhere() throws {
    let place = "https://tenant.example/policy/.well-known/openid-configuration"
    let bench = try Bench([("discoveryUri", .string(place))])
    let transport = TransportAt(
      [place: TransportAt.moved(to: wellKnown, of: bench.provider)], else: bench.provider)
    let engine = bench.engine(transport: transport)
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    try expect(engine.failure(of: bench.provider.signIn(at: begun.url)), is: nil)
    expect(transport.requests.count { $0.url == wellKnown }, is: 0)

    let other = TransportAt(
      [place: TransportAt.json(#"{"issuer":"https://evil.example"}"#)], else: bench.provider)
    let fresh = try Bench([("discoveryUri", .string(place))])
    let error = refusal {
      try fresh.engine(transport: other).signIn.begin(SignInOptions(), cancellation: nil)
    }
    expect(error?.code, is: .issuerMismatch)
    let missing = TransportAt([place: TransportAt.json("{}", status: 404)], else: bench.provider)
    let lost = refusal {
      try Bench([("discoveryUri", .string(place))]).engine(transport: missing).signIn.begin(
        SignInOptions(), cancellation: nil)
    }
    #expect(lost?.field == "discoveryUri" && lost?.message.contains(place) == true)
    expect(missing.requests.count, is: 1)
  }

  @Test(
    "the document of RFC 8414 is found where OpenID Connect's is not",
    arguments: [
      ("https://id.example", "https://id.example/.well-known/oauth-authorization-server"),
      ("https://id.example/", "https://id.example/.well-known/oauth-authorization-server"),
      ("https://id.example/a/b/", "https://id.example/.well-known/oauth-authorization-server/a/b"),
    ])
  func authorizationServer(issuer: String, place: String) throws {
    let clock = FakeClock()
    let provider = try FakeProvider(issuer: issuer, clock: clock)
    let openID = (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer) + ProviderMetadata.wellKnownPath
    let document = Array(
      #"{"issuer":"\#(issuer)","authorization_endpoint":"https://id.example/a","token_endpoint":"https://id.example/t"}"#
        .utf8)
    let transport = TransportAt(
      [
        openID: TransportAt.json("{}", status: 404),
        place: { _ in
          HTTPResponse(
            status: 200,
            headers: [
              HTTPHeader("Content-Type", "application/json"), HTTPHeader("Cache-Control", "max-age=1"),
              HTTPHeader("ETag", "\"v1\""),
            ],
            body: document)
        },
      ], else: provider)
    let configuration = try Configuration(
      issuer: issuer, clientID: "native", redirectURI: "com.example.app:/callback"
    ) {
      $0.scopes = ["read"]
    }
    let engine = Engine(
      configuration: configuration, account: .default, platform: Platform(), transport: transport,
      store: MemoryTokenStore(clock: clock), clock: clock, random: SystemRandomSource(), observer: Recorder(),
      exclusion: { Mutex() })
    #expect(
      try engine.signIn.begin(SignInOptions(), cancellation: nil).url.hasPrefix("https://id.example/a?"))
    expect(transport.requests.map(\.url), is: [openID, place])
    // After the first discovery, EnrollKit requests the document only from the URL at which it found the
    // document.
    clock.advance(seconds: 4000)
    _ = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    expect(transport.requests.map(\.url), is: [openID, place, place])
    #expect(transport.requests[2].headers.contains(HTTPHeader("If-None-Match", "\"v1\"")))
  }

  @Test("where neither is, the error is about the first")
  func neither() throws {
    let bench = try Bench([])
    let transport = TransportAt(
      [
        wellKnown: TransportAt.json("{}", status: 404),
        "https://id.example/.well-known/oauth-authorization-server": TransportAt.json("no", status: 500),
      ], else: bench.provider)
    let error = refusal {
      try bench.engine(transport: transport).signIn.begin(SignInOptions(), cancellation: nil)
    }
    #expect(error?.field == "issuer" && error?.httpStatus == 404)
  }

  @Test("every request says who asks, with the host's word before it")
  func userAgent() throws {
    for (word, header) in [(nil, "EnrollKit"), ("App/2.1", "App/2.1 EnrollKit")] as [(String?, String)] {
      let bench = try Bench([("userAgent", word.map { .string($0) })])
      let transport = TransportAt([:], else: bench.provider)
      _ = try bench.engine(transport: transport).signIn.begin(SignInOptions(), cancellation: nil)
      #expect(transport.requests.allSatisfy { $0.headers.contains(HTTPHeader("User-Agent", header)) })
      #expect(!transport.requests.isEmpty)
    }
    for bad in ["", "a\r\nX: y", "é"] {
      expect(refusal { try Bench([("userAgent", .string(bad))]) }?.field, is: "userAgent", "\(bad)")
    }
  }
}
