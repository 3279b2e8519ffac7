import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@Suite("What is known of the provider serves until a valid answer says otherwise (R18, R23)")
struct ProviderDirectoryTests {
  private typealias Reply = FakeProvider.Reply

  /// Advances the clock past the default lifetime of a document, and past the token's expiry.
  private func outlive(_ bench: Bench) { bench.clock.advance(seconds: 4000) }

  private static func status(_ status: Int, _ body: String = "", _ headers: HTTPHeader...) -> Reply {
    .status(status, headers: headers, body: body)
  }

  /// Failures of the provider, or of the network on the way to it.
  private static let troubles: [(name: String, reply: Reply)] = [
    ("429", status(429, "", HTTPHeader("Retry-After", "3600"))),
    ("403 of a firewall", status(403, "<html>Request blocked</html>")),
    ("403 of a gateway", status(403, #"{"message":"Forbidden"}"#)),
    ("302 to a portal", status(302, "", HTTPHeader("Location", "https://portal.example/"))),
    ("a portal's page", status(200, "<html>Log in to our network</html>")), ("nothing", status(200)),
    ("null", status(200, "null")), ("another object", status(200, #"{"status":"ok"}"#)),
    ("half a document", status(200, #"{"issuer":"https://id.exam"#)), ("401", status(401)),
    ("404", status(404, #"{"error":"Not Found"}"#)), ("407", status(407)), ("304 unasked", status(304)),
    ("503", status(503, "", HTTPHeader("Retry-After", "600"))), ("unreachable", .unreachable),
    ("timeout", .timeout),
  ]

  private func begins(_ engine: Engine, at endpoint: String = "https://id.example/authorize") throws -> Bool {
    try engine.signIn.begin(SignInOptions(), cancellation: nil).url.hasPrefix(endpoint)
  }

  @Test(
    "a renewal is one request, also in a process that finds no fresh documents", arguments: [false, true])
  func renewalAlone(isKept: Bool) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    for document in [FakeProvider.Endpoint.discovery, .keys] { expect(bench.provider.count(document), is: 1) }
    bench.clock.advance(seconds: isKept ? 4000 : 100_000)
    try expect(engine.token(), is: "access-3")
    expect(bench.provider.count(.token), is: 2)
    for document in [FakeProvider.Endpoint.discovery, .keys] { expect(bench.provider.count(document), is: 1) }
    try expect(bench.record.confirmed.map { $0.unprovenIDToken == nil }, is: true)
  }

  @Test("a sign-in goes on with the endpoints that are known", arguments: troubles.indices)
  func discoveryInTrouble(index: Int) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    outlive(bench)
    bench.provider.next(.discovery, Self.troubles[index].reply)
    #expect(try begins(engine), "\(Self.troubles[index].name)")
    expect(bench.provider.count(.discovery), is: 2)
    #expect(try begins(engine))
    expect(bench.provider.count(.discovery), is: 2, "a pause follows")
  }

  @Test("the time that discovery asks for bars discovery alone", arguments: [("3600", 3600), ("soon", 60)])
  func discoveryPause(wish: String, seconds: Int64) throws {
    let bench = try Bench()
    bench.provider.change { $0.lifetime = .integer(30) }
    let engine = try bench.signedIn()
    outlive(bench)
    bench.provider.next(.discovery, Self.status(429, "", HTTPHeader("Retry-After", wish)))
    #expect(try begins(engine))
    bench.clock.advance(seconds: seconds - 1)
    #expect(try begins(engine))
    try expect(engine.token(), is: "access-3")
    expect(bench.provider.count(.discovery), is: 2)
    bench.clock.advance(seconds: 31)
    #expect(try begins(engine))
    expect(bench.provider.count(.discovery), is: 3)
  }

  @Test("a provider that is not known yet is asked again after a minute at most, whatever it asks for")
  func unknown() throws {
    let bench = try Bench()
    let engine = bench.engine()
    bench.provider.next(.discovery, Self.status(429, "", HTTPHeader("Retry-After", "3600")))
    func error() -> EnrollError? {
      do throws(EnrollError) {
        _ = try engine.signIn.begin(SignInOptions(), cancellation: nil)
        return nil
      } catch { return error }
    }
    expect(error()?.retryAfterSeconds, is: 60)
    bench.clock.advance(seconds: 20)
    expect(error()?.retryAfterSeconds, is: 40)
    expect(bench.provider.count(.discovery), is: 1)
    bench.clock.advance(seconds: 40)
    expect(error(), is: nil)
    // If the failure has no Retry-After, the next call sends a request without a pause.
    let other = try Bench()
    other.provider.next(.discovery, .unreachable)
    expect(code { _ = try other.signedIn() }, is: .network)
    _ = try other.signedIn()
  }

  /// Well-formed documents of another issuer, or of a provider that cannot be used.
  private static let foreign: [(@Sendable (inout JSONObject) -> Void, EnrollError.Code)] = [
    ({ $0["issuer"] = .string("https://other.example") }, .issuerMismatch),
    ({ $0["code_challenge_methods_supported"] = .array([.string("plain")]) }, .unsupported),
  ]

  @Test(
    "a document of another issuer, or without S256, replaces nothing that is known (R18)",
    arguments: foreign.indices)
  func foreignDocument(index: Int) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    outlive(bench)
    bench.provider.change { $0.metadata = Self.foreign[index].0 }
    try expect(engine.token(), is: "access-3")
    for _ in 1...20 { _ = try engine.signIn.begin(SignInOptions(), cancellation: nil) }
    expect(bench.provider.count(.discovery), is: 2, "a pause follows")
    outlive(bench)
    bench.provider.next(.discovery, Self.status(503))
    try expect(engine.token(), is: "access-4")
  }

  @Test("where nothing is known, such a document is an error (R18)", arguments: foreign.indices)
  func foreignDocumentFirst(index: Int) throws {
    let bench = try Bench()
    bench.provider.change { $0.metadata = Self.foreign[index].0 }
    expect(code { _ = try bench.signedIn() }, is: Self.foreign[index].1)
    bench.provider.change { $0.metadata = { _ in } }
    _ = try bench.signedIn()
  }

  @Test("a valid document replaces what was known, and 304 confirms it")
  func replaced() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    outlive(bench)
    let elsewhere = "https://id.example/elsewhere"
    bench.provider.change { $0.metadata = { $0["authorization_endpoint"] = .string(elsewhere) } }
    #expect(try begins(engine, at: elsewhere))
  }

  @Test("keys that are known prove id_tokens while newer ones are not to be had", arguments: troubles.indices)
  func keysInTrouble(index: Int) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    outlive(bench)
    let reply = Self.troubles[index].reply
    bench.provider.next(.keys, reply, reply, reply)
    for _ in 1...2 {
      let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
      try expect(engine.failure(of: url), is: nil, "\(Self.troubles[index].name)")
      expect(bench.provider.count(.keys), is: 2, "a pause follows")
    }
  }

  @Test(
    "a signature that fails with keys from the cache is judged again with newer ones (R23)",
    arguments: ["key-1", nil])
  func changedKey(keyID: String?) throws {
    let bench = try Bench()
    bench.provider.change { $0.keyID = keyID }
    let engine = try bench.signedIn()
    bench.clock.advance(seconds: 3550)
    try bench.provider.changeKey()
    try expect(engine.token(), is: "access-3")
    expect(bench.provider.count(.keys), is: 2)
    try expect(bench.record.confirmed.map { $0.unprovenIDToken == nil }, is: true)
    try expect(engine.registration.adoptStoredState(), is: .known(.active(.renewed)))

    // A sign-in also fetches the changed keys.
    let other = try Bench()
    other.provider.change { $0.keyID = keyID }
    let first = try other.signedIn()
    other.clock.advance(seconds: 61)
    try other.provider.changeKey()
    let url = other.provider.signIn(at: try first.signIn.begin(SignInOptions(), cancellation: nil).url)
    try expect(first.failure(of: url), is: nil)
    expect(other.provider.count(.keys), is: 2)
  }

  @Test(
    "keys that do not prove an answer are fetched again six times a minute at most, and the limit is told (R23)"
  )
  func refetches() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    let old = bench.provider.keySet
    try bench.provider.changeKey()
    // The published key set does not get the new key, as if somebody other than the issuer had signed the id_tokens.
    for _ in 1...8 { bench.provider.next(.keys, Self.status(200, old)) }
    var isTold = false
    for count in [2, 3, 4, 5, 6, 7, 7] {
      let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
      guard case .failed(let error) = try engine.signIn.resume(url, cancellation: nil).ending else {
        throw Unexpected(what: "signed in")
      }
      expect(error.code, is: .idTokenInvalid)
      expect(bench.provider.count(.keys), is: count)
      isTold = error.message.contains("again in 12 s")
      bench.clock.advance(seconds: 8)
    }
    #expect(isTold)
    bench.clock.advance(seconds: 5)
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    try expect(engine.failure(of: url), is: .idTokenInvalid)
    expect(bench.provider.count(.keys), is: 8)
  }

  @Test("each of two key changes within a minute is noticed by the sign-in after it (R23)")
  func twoChanges() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    for _ in 1...3 {
      try bench.provider.changeKey()
      let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
      try expect(engine.failure(of: url), is: nil)
    }
  }

  @Test("while newer keys are not to be had, a signature that fails is no word against the token (R23)")
  func noNewerKeys() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    try bench.provider.changeKey()
    bench.provider.next(.keys, Self.status(503), Self.status(503))
    for _ in 1...2 {
      let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
      try expect(engine.failure(of: url), is: .keysUnavailable)
    }
    expect(bench.provider.count(.keys), is: 3)
  }

  @Test("keys that came with the very question are not fetched again for it")
  func fetchedJustNow() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    outlive(bench)
    let old = bench.provider.keySet
    try bench.provider.changeKey()
    bench.provider.next(.keys, Self.status(200, old))
    _ = try? engine.token()
    expect(bench.provider.count(.keys), is: 2)
  }
}
