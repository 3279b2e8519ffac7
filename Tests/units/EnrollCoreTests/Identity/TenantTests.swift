import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollStore
import EnrollTesting
import Expectations
import Testing

@Suite("Issuers of many tenants (R18, R24, R27)")
struct TenantTests {
  static let template = "https://login.example/{tenantid}/v2.0"
  static let place = "https://login.example/common/v2.0/.well-known/openid-configuration"
  static let first = "72f988bf-86f1-41af-91ab-2d7cd011db47"
  static let second = "9188040d-6c67-4c5b-b112-36a304b66dad"

  static func issuer(_ tenant: String) -> String { "https://login.example/\(tenant)/v2.0" }

  /// A sign-in of a user of `tenant`.
  private struct Scene {
    let bench: Bench
    let engine: Engine

    init(_ changes: [(String, JSON?)] = [], issuer: String? = nil, tenant: JSON? = .string(first)) throws {
      bench = try Bench(
        [("issuer", .string(TenantTests.template)), ("discoveryUri", .string(TenantTests.place))] + changes)
      let provider = bench.provider
      provider.change { $0.metadata = { $0["issuer"] = .string(TenantTests.template) } }
      engine = bench.engine(
        transport: TransportAt(
          [
            TenantTests.place: TransportAt.moved(
              to: "https://id.example/.well-known/openid-configuration", of: provider)
          ], else: provider))
      tokens(issuer: issuer ?? TenantTests.issuer(first), tenant: tenant)
    }

    func tokens(issuer: String, tenant: JSON?) {
      bench.provider.change {
        $0.claims = {
          $0["iss"] = .string(issuer)
          $0["tid"] = tenant
        }
      }
    }

    /// Signs in, and returns the failure; nil if the sign-in succeeds.
    func failure(iss: String = TenantTests.issuer(first)) throws -> EnrollError? {
      let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
      let redirect = bench.provider.signIn(at: begun.url)
      let named = try #require(redirect.firstRange(of: "&iss="))
      let url = redirect[..<named.upperBound] + PercentEncoding.encode(iss)
      do throws(EnrollError) {
        guard case .failed(let error) = try engine.signIn.resume(String(url), cancellation: nil).ending else {
          return nil
        }
        return error
      } catch {
        return error
      }
    }
  }

  @Test("a token names the issuer of its own tenant")
  func good() throws {
    let scene = try Scene()
    try expect(scene.failure(), is: nil)
    try expect(scene.bench.record.confirmed?.identity?.issuer, is: Issuer(Self.issuer(Self.first)))
  }

  @Test(
    "another tenant's issuer, and what is no tenant, are refused",
    arguments: [
      (issuer(second), .string(first)), (issuer(first), .string(second)),
      (issuer("common"), .string("common")),
      (template, .string("{tenantid}")), (issuer(first), nil), (issuer(first), .integer(1)),
      ("https://evil.example/\(first)/v2.0", .string(first)), (issuer(first) + "/", .string(first)),
      (issuer(first + "/x"), .string(first + "/x")), ("https://login.example//v2.0", .string("")),
    ] as [(String, JSON?)])
  func foreign(issuer: String, tenant: JSON?) throws {
    let scene = try Scene(issuer: issuer, tenant: tenant)
    let error = try #require(try scene.failure())
    #expect(error.code == .idTokenInvalid && error.message.hasPrefix("id_token refused: "))
    try expect(scene.bench.record.confirmed, is: nil)
  }

  @Test("only users of the listed tenants sign in")
  func tenants() throws {
    let allowed = try Scene([("tenants", .array([.string(Self.first.uppercased())]))])
    try expect(allowed.failure(), is: nil)
    let other = try Scene([("tenants", .array([.string(Self.second)]))])
    try expect(other.failure()?.message.contains("not in tenants"), is: true)
  }

  @Test("a session of a tenant that is not listed any more gets no tokens")
  func narrowed() throws {
    let scene = try Scene()
    try expect(scene.failure(), is: nil)
    for (tenants, isServed) in [([Self.first], true), ([Self.second], false)] {
      let narrow = try Configuration(
        issuer: Self.template, clientID: "native", redirectURI: "com.example.app:/callback"
      ) {
        $0.discoveryURI = Self.place
        $0.tenants = tenants
        $0.requiresConfirmation = false
      }
      let engine = Engine(
        configuration: narrow, account: .default, platform: Platform(), transport: scene.bench.provider,
        store: scene.bench.store, clock: scene.bench.clock, random: SystemRandomSource(),
        observer: Recorder(), exclusion: { Mutex() })
      switch try engine.access() {
      case .valid: #expect(isServed)
      case .reauthenticate(let reason, _): #expect(!isServed && reason.contains("tenants"))
      case let other: throw Unexpected(what: "\(other)")
      }
    }
  }

  @Test(
    "a key that carries an issuer signs for that one alone",
    arguments: [
      (template, true), (issuer(first), true), (issuer(second), false), ("https://evil.example", false),
    ])
  func keys(issuer: String, isGood: Bool) throws {
    let scene = try Scene()
    scene.bench.provider.change {
      $0.keySet = { set in
        set["keys"] = .array(
          (set["keys"]?.array ?? []).map { key in
            var key = key.object ?? JSONObject()
            key["issuer"] = .string(issuer)
            return .object(key)
          })
      }
    }
    let error = try scene.failure()
    expect((error == nil), is: isGood)
    if !isGood { expect(error?.code, is: .idTokenInvalid) }
  }

  @Test("iss in the redirect is a tenant's issuer")
  func redirect() throws {
    try expect(Scene().failure(iss: "https://evil.example")?.code, is: .issuerMismatch)
    try expect(Scene().failure(iss: Self.issuer("common"))?.code, is: .issuerMismatch)
    try expect(Scene().failure(iss: Self.template)?.code, is: .issuerMismatch)
    let other = try Scene()
    try expect(other.failure(iss: Self.issuer(Self.second))?.code, is: .issuerMismatch)
    try expect(other.bench.record.confirmed, is: nil)
  }

  @Test("a renewal for another tenant ends the session")
  func renewal() throws {
    let scene = try Scene()
    try expect(scene.failure(), is: nil)
    scene.bench.clock.advance(seconds: 4000)
    try expect(scene.engine.token(), is: "access-3")
    scene.tokens(issuer: Self.issuer(Self.second), tenant: .string(Self.second))
    scene.bench.clock.advance(seconds: 4000)
    guard case .reauthenticate(let reason, _) = try scene.engine.access() else {
      throw Unexpected(what: "a token of another tenant")
    }
    #expect(reason.contains("iss"))
  }

  @Test("the document must name the template itself")
  func document() throws {
    let scene = try Scene()
    let named = Self.issuer(Self.first)
    scene.bench.provider.change { $0.metadata = { $0["issuer"] = .string(named) } }
    expect(refusal { try scene.failure() }?.code, is: .issuerMismatch)
  }

  @Test(
    "what is no template, or contradicts one, is refused when it is configured",
    arguments: [
      ([("issuer", .string("https://{tenantid}.example/v2.0"))], "issuer"),
      ([("issuer", .string("https://login.example/x{tenantid}/v2.0"))], "issuer"),
      ([("issuer", .string("https://login.example/{tenantid}x"))], "issuer"),
      ([("issuer", .string("https://login.example/{tenantid}/{tenantid}"))], "issuer"),
      ([("issuer", .string("https://login.example/{tenant}/v2.0"))], "issuer"),
      ([("issuer", .string(template)), ("discoveryUri", nil)], "discoveryUri"),
      ([("tenants", .array([.string("contoso.com")]))], "tenants"), ([("tenants", .array([]))], "tenants"),
      ([("issuer", .string("https://id.example")), ("tenants", .array([.string(first)]))], "tenants"),
      ([("passwordless", .string("auth0"))], "issuer"), ([("logoutDialect", .string("auth0"))], "issuer"),
    ] as [([(String, JSON?)], String)])
  func malformed(changes: [(String, JSON?)], field: String) {
    let base: [(String, JSON?)] = [
      ("issuer", .string(Self.template)), ("discoveryUri", .string(Self.place)),
    ]
    expect(refusal { try Bench(base + changes) }?.field, is: field)
  }
}

@Suite("Google names itself in two ways (R24, R27)")
struct TwoSpellingsTests {
  @Test(
    "both spellings are the same issuer, and no other issuer has two",
    arguments: [
      ("https://accounts.google.com", "accounts.google.com", true),
      ("accounts.google.com", "https://accounts.google.com", true),
      ("https://accounts.google.com", "https://accounts.google.com/", false),
      ("https://accounts.google.com/", "accounts.google.com", false),
      ("https://accounts.google.com", "http://accounts.google.com", false),
      ("https://id.example", "id.example", false), ("https://id.example", "accounts.google.com", false),
    ])
  func spellings(issuer: String, named: String, isGood: Bool) {
    expect(Issuer(issuer).finding(Issuer(named), tenant: nil, allowing: []) == nil, is: isGood)
  }

  @Test("a session goes on whichever spelling its id_tokens have")
  func session() throws {
    let clock = FakeClock()
    let provider = try FakeProvider(issuer: "https://accounts.google.com", clock: clock)
    let engine = Engine(
      configuration: try Configuration(
        issuer: provider.issuer, clientID: "native", redirectURI: "com.example.app:/callback"
      ) {
        $0.requiresConfirmation = false
      },
      account: .default, platform: Platform(), transport: provider, store: MemoryTokenStore(clock: clock),
      clock: clock, random: SystemRandomSource(), observer: Recorder(), exclusion: { Mutex() })
    func speak(_ issuer: String) { provider.change { $0.claims = { $0["iss"] = .string(issuer) } } }
    for (first, second) in [
      (provider.issuer, "accounts.google.com"), ("accounts.google.com", provider.issuer),
    ] {
      speak(first)
      let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
      try expect(engine.failure(of: provider.signIn(at: begun.url)), is: nil)
      let before = try engine.token()
      speak(second)
      clock.advance(seconds: 4000)
      try expect(engine.token(), isNot: before)
    }
  }
}
