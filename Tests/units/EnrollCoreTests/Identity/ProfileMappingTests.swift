import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@Suite("Providers without OpenID Connect describe the user in their own words")
struct ProfileMappingTests {
  /// The mapping for GitHub: its user id is a number, and a second request gets the e-mail addresses.
  private let github: [(String, JSON?)] = [
    ("scopes", .string("read:user user:email")),
    (
      "profile",
      .object([
        ("endpoint", .string("https://api.example/user")), ("subject", .string("id")),
        ("name", .array([.string("name"), .string("login")])), ("email", .string("email")),
        ("picture", .string("images.0.url")), ("emailsEndpoint", .string("https://api.example/emails")),
      ])
    ),
  ]

  private func profile(
    _ configuration: [(String, JSON?)], user: TransportAt.Answer?, emails: TransportAt.Answer? = nil,
    accessToken: String? = nil
  ) throws -> (JSONObject, Bench, TransportAt) {
    let bench = try Bench(configuration)
    if let accessToken {
      bench.provider.change { $0.tokens = { $0["access_token"] = .string(accessToken) } }
    }
    var answers: [String: TransportAt.Answer] = [:]
    answers["https://api.example/user"] = user
    answers["https://api.example/emails"] = emails
    let transport = TransportAt(answers, else: bench.provider)
    let engine = bench.engine(transport: transport)
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    try expect(engine.failure(of: bench.provider.signIn(at: begun.url)), is: nil)
    return (try engine.identity.profile(), bench, transport)
  }

  @Test("a number becomes the subject, the first path with a value counts, and the marked address is taken")
  func mapped() throws {
    let (claims, bench, transport) = try profile(
      github,
      user: TransportAt.json(
        #"{"id":583231,"login":"octocat","name":"","email":null,"images":[{"url":"https://a.example/p"}],"sub":"x"}"#
      ),
      emails: TransportAt.json(
        #"[{"email":"b@example.com","primary":false,"verified":true},{"email":"a@example.com","primary":true,"verified":true}]"#
      ))
    #expect(claims["sub"] == .string("583231") && claims["name"] == .string("octocat"))
    #expect(claims["email"] == .string("a@example.com") && claims["email_verified"] == .bool(true))
    #expect(claims["picture"] == .string("https://a.example/p") && claims["login"] == .string("octocat"))
    #expect(bench.provider.count(.keys) == 0 && bench.seen.warned.isEmpty)
    let asked = transport.requests.filter { $0.url.hasPrefix("https://api.example") }
    expect(asked.count, is: 2)
    #expect(
      asked.allSatisfy { $0.headers.contains { $0.name == "Authorization" && $0.value.hasPrefix("Bearer ") } }
    )
  }

  @Test("no second request where the profile has an address")
  func oneRequest() throws {
    let (claims, _, transport) = try profile(
      github, user: TransportAt.json(#"{"id":"7","email":"a@example.com"}"#))
    #expect(claims["email"] == .string("a@example.com") && claims["email_verified"] == nil)
    #expect(transport.requests.allSatisfy { $0.url != "https://api.example/emails" })
  }

  @Test("a description that repeats the token as the subject leaves the sign-in without a profile")
  func repeatedToken() throws {
    let (claims, bench, _) = try profile(
      github,
      user: { request in
        let token = request.headers.first { $0.name == "Authorization" }?.value.dropFirst(7) ?? ""
        return TransportAt.json(#"{"id":"\#(token)","name":"A"}"#)(request)
      }, accessToken: "at-0123456789abcdef0123456789")
    #expect(claims.isEmpty)
    #expect(
      bench.seen.warned.contains { $0.message.contains("repeats a secret") && !$0.message.contains("at-0") })
  }

  @Test("a wrapped profile")
  func wrapped() throws {
    let changes: [(String, JSON?)] = [
      ("scopes", .string("users.read")),
      (
        "profile",
        .object([
          ("endpoint", .string("https://api.example/user")), ("subject", .string("data.id")),
          ("name", .string("data.name")),
        ])
      ),
    ]
    let (claims, _, _) = try profile(
      changes, user: TransportAt.json(#"{"data":{"id":"2244994945","name":"X"}}"#))
    #expect(claims["sub"] == .string("2244994945") && claims["name"] == .string("X"))
  }

  @Test(
    "a profile without a subject leaves the sign-in as it is, with a warning",
    arguments: [
      #"{"id":null}"#, #"{"id":""}"#, #"{"id":1.5}"#, #"{"id":true}"#, #"{"id":{"a":1}}"#, #"{"id":["a"]}"#,
      #"{"sub":"a"}"#, "[]", "no",
    ])
  func withoutSubject(body: String) throws {
    let (claims, bench, _) = try profile(github, user: TransportAt.json(body))
    #expect(claims.isEmpty)
    #expect(bench.seen.warned.contains { $0.message.contains("goes on without a profile") })
    try expect(bench.record.confirmed, isNot: nil)
  }

  @Test(
    "addresses that cannot be read leave the profile without one",
    arguments: [
      ("{}", 200), ("no", 200), (#"[{"email":1,"primary":true}]"#, 200), ("[]", 200), ("[]", 404),
      (#"[{"email":"a@example.com","primary":false,"verified":false}]"#, 200),
    ])
  func withoutAddress(body: String, status: Int) throws {
    let (claims, _, _) = try profile(
      github, user: TransportAt.json(#"{"id":7}"#), emails: TransportAt.json(body, status: status))
    #expect(claims["sub"] == .string("7") && claims["email"] == nil && claims["email_verified"] == nil)
  }

  @Test("a subject other than the id_token's is somebody else's")
  func anotherSubject() throws {
    let changes: [(String, JSON?)] = [
      ("scopes", .string("openid email")),
      ("profile", .object([("endpoint", .string("https://api.example/user")), ("subject", .string("id"))])),
    ]
    let (claims, bench, _) = try profile(
      changes, user: TransportAt.json(#"{"id":"mallory","name":"M","email":"m@example.com"}"#))
    #expect(claims["email"] == nil && claims["sub"] == .string("alice"))
    #expect(bench.seen.warned.contains { $0.code == .profileMismatch })
  }

  @Test("a renewed id_token that tells less does not take the name and the address away")
  func renewal() throws {
    let bench = try Bench([("scopes", .string("openid profile email offline_access"))])
    bench.provider.change { $0.claims = { $0["name"] = nil } }
    bench.provider.change { $0.userinfo = { $0["name"] = .string("Alice") } }
    let engine = try bench.signedIn()
    try expect(engine.identity.profile()["name"], is: .string("Alice"))
    bench.clock.advance(seconds: 4000)
    _ = try engine.token()
    try expect(engine.identity.profile()["name"], is: .string("Alice"))
    try expect(engine.identity.profile()["email"], is: .string("alice@example.com"))
    expect(bench.provider.count(.userinfo), is: 1)
  }

  @Test(
    "a mapping that leads nowhere is refused when it is configured",
    arguments: [
      ("subject", .string("")), ("subject", .array([])), ("name", .string("a..b")),
      ("email", .string("a.b.c.d.e.f.g.h.i")), ("endpoint", .string("http://api.example/user")),
      ("picture", .array(Array(repeating: .string("a"), count: 9))), ("emailsEndpoint", .string("api")),
      ("subjct", .string("id")),
    ] as [(String, JSON)])
  func malformed(key: String, value: JSON) {
    let error = refusal { try Bench([("profile", .object([(key, value)]))]) }
    #expect(error?.code == .configuration && error?.field == "profile.\(key)")
  }

  // MARK: Answers of such providers

  @Test("tokens as a form are read, a member that comes twice is not, and scopes may have commas")
  func forms() throws {
    let form = "application/x-www-form-urlencoded; charset=utf-8"
    for (type, body, scopes) in [
      (form, "access_token=abc&scope=repo%2Cgist&token_type=bearer", ["repo", "gist"]),
      (form, "access_token=abc&access_token=def&token_type=bearer", nil),
      ("text/plain", "token_type=bearer&access_token=abc&scope=repo%2Cgist", ["repo", "gist"]),
      ("", "access_token=abc&scope=repo%2Cgist&token_type=bearer", ["repo", "gist"]),
      (
        "text/plain", #"{"access_token":"abc","token_type":"bearer","x":"&access_token=","scope":"repo"}"#,
        ["repo"]
      ),
      ("text/html", "access_token=abc&scope=repo%2Cgist&token_type=bearer", ["repo", "gist"]),
      ("text/html", "<p>&access_token=abc&scope=repo%2Cgist&token_type=bearer", nil),
    ] as [(String, String, [String]?)] {
      let bench = try Bench([("scopes", .string("repo gist"))])
      let transport = TransportAt(
        [
          "https://id.example/token": { _ in
            HTTPResponse(
              status: 200,
              headers: (type.isEmpty ? [] : [HTTPHeader("Content-Type", type)])
                + [HTTPHeader("Content-Length", "\(body.utf8.count)")],
              body: Array(body.utf8))
          }
        ], else: bench.provider)
      let engine = bench.engine(transport: transport)
      let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
      let failure = try engine.failure(of: bench.provider.signIn(at: begun.url))
      expect((failure == nil), is: scopes != nil)
      try expect(bench.record.confirmed?.scopes, is: scopes)
      if scopes != nil { try expect(bench.record.confirmed?.accessToken, is: Secret("abc")) }
    }
  }

  @Test(
    "a renewal's new refresh token is not lost by what else is wrong in a form",
    arguments: [
      ("access_token=abc&token_type=bearer&refresh_token=new&scope=a&scope=b", false),
      ("access_token=abc&token_type=bearer&refresh_token=new&note=100%", false),
      ("refresh_token=new&token_type=bearer&x=1&x=2", false),
      ("refresh_token=new&access_token=ab", true),
    ])
  func rotatedInForm(body: String, isCut: Bool) throws {
    let bench = try Bench([("scopes", .string("repo"))])
    let engine = try bench.signedIn()
    let transport = TransportAt(
      [
        "https://id.example/token": { _ in
          var response = HTTPResponse(
            status: 200,
            headers: [
              HTTPHeader("Content-Type", "application/x-www-form-urlencoded"),
              HTTPHeader("Transfer-Encoding", "chunked"),
            ], body: Array(body.utf8))
          if isCut { response.cut = EnrollError(.network, "cut") }
          return response
        }
      ], else: bench.provider)
    _ = try bench.engine(transport: transport).renewal.renew(epochs: [bench.record.tokenEpoch], forced: true)
    try expect(bench.record.confirmed?.refreshToken, is: Secret("new"))
    _ = engine
  }

  @Test(
    "the life of tokens without expires_in is configured",
    arguments: [
      (nil, 300), (.integer(3600), 3600), (.string("never"), 100 * 365 * 86_400),
    ] as [(JSON?, Int64)])
  func withoutExpiry(configured: JSON?, seconds: Int64) throws {
    let bench = try Bench([("withoutExpiry", configured)])
    bench.provider.change { $0.lifetime = nil }
    let engine = try bench.signedIn()
    try expect(bench.record.confirmed?.expiry.lifetimeSeconds, is: seconds)
    _ = try engine.renewal.renew(epochs: [bench.record.tokenEpoch], forced: true)
    try expect(bench.record.confirmed?.expiry.lifetimeSeconds, is: seconds)
    // If the response has expires_in, EnrollKit uses it and ignores the configured lifetime.
    bench.provider.change { $0.lifetime = .integer(60) }
    _ = try engine.renewal.renew(epochs: [bench.record.tokenEpoch], forced: true)
    try expect(bench.record.confirmed?.expiry.lifetimeSeconds, is: 60)
    bench.provider.change { $0.lifetime = .integer(-1) }
    _ = try engine.renewal.renew(epochs: [bench.record.tokenEpoch], forced: true)
    try expect(bench.record.confirmed?.expiry.lifetimeSeconds, is: 300)
    for bad in [JSON.integer(0), .integer(31_536_001), .string("ever"), .bool(true)] {
      expect(refusal { try Bench([("withoutExpiry", bad)]) }?.field, is: "withoutExpiry")
    }
  }

  @Test(
    "whom the sign-in could not name is known from the first answer on, and nobody else is believed (R28)",
    arguments: [true, false])
  func learntLater(isConfirmed: Bool) throws {
    let bench = try Bench(github + [("confirmation", .bool(!isConfirmed))])
    let endpoint = "https://api.example/user"
    let down = TransportAt([endpoint: TransportAt.json("{}", status: 500)], else: bench.provider)
    let engine = bench.engine(transport: down)
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    try expect(engine.failure(of: bench.provider.signIn(at: begun.url)), is: nil)
    #expect(try engine.identity.profile().members.isEmpty)
    let up = TransportAt(
      [endpoint: TransportAt.json(#"{"id":9,"login":"nine","email":"n@example.com"}"#)], else: bench.provider)
    try expect(bench.engine(transport: up).identity.userinfo(cancellation: nil)["sub"], is: .string("9"))
    try expect(engine.identity.profile()["sub"], is: .string("9"))
    let other = TransportAt([endpoint: TransportAt.json(#"{"id":10,"login":"ten"}"#)], else: bench.provider)
    expect(
      refusal { try bench.engine(transport: other).identity.userinfo(cancellation: nil) }?.code,
      is: .profileMismatch)
    try expect(engine.identity.profile()["sub"], is: .string("9"))
  }
}
