// Tests of tokens for audiences: which tokens are requested, and whether the provider granted the request.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@Suite("Which audiences are asked for, and what comes")
struct GrantedAudienceTests {
  private static let api = TokenAudience(resource: "https://api.example/", scopes: [])
  private static let files = TokenAudience(resource: "https://files.example/", scopes: [])
  private static let narrow = TokenAudience(resource: nil, scopes: ["openid"])

  private func resources(_ url: String, _ name: String = "resource") throws -> [String] {
    let query = url.split(separator: "?").last.map(String.init) ?? ""
    return try FormEncoding.decode(Array(query.utf8)).filter { $0.0 == name }.map(\.1)
  }

  private func bench(_ changes: [(String, JSON?)]) throws -> Bench {
    let bench = try Bench([("pushedRequests", .string("never"))] + changes)
    bench.provider.change { $0.resources = ["https://api.example/", "https://files.example/"] }
    return bench
  }

  // MARK: Asking

  @Test(
    "every resource goes with the request that begins a sign-in, and the session's own alone with the code")
  func several() throws {
    let bench = try bench([
      ("resource", .string("https://api.example/")),
      ("resources", .array([.string("https://files.example/"), .string("https://api.example/")])),
    ])
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    try expect(resources(begun.url), is: ["https://api.example/", "https://files.example/"])
    _ = try engine.signIn.resume(bench.provider.signIn(at: begun.url), cancellation: nil)
    let exchange = String(decoding: try #require(bench.provider.requests(.token).first).body, as: UTF8.self)
    try expect(resources("?" + exchange), is: ["https://api.example/"])
    try expect(engine.access(for: Self.files).token().deviation, is: nil)
    expect(bench.provider.count(.token), is: 2)
  }

  @Test(
    "a resource that the sign-in did not ask for is refused without a request, and the key is named (RFC 8707 §2.2)"
  )
  func outside() throws {
    let bench = try bench([("resources", .array([.string("https://api.example/")]))])
    let engine = try bench.signedIn()
    guard case .rejected(let error) = try engine.access(for: Self.files) else {
      throw Unexpected(what: "asked")
    }
    #expect(error.field == "resource" && error.message.contains("name it in resources"))
    guard case .answer(.rejected) = try engine.tokens.decideRefresh(for: Self.files) else {
      throw Unexpected(what: "asked")
    }
    expect(bench.provider.count(.token), is: 1)
    try expect(engine.access(for: Self.api).token().value.reveal().hasPrefix("access-"), is: true)
    // A request for fewer scopes names no other resource, so it is allowed.
    _ = try engine.access(for: Self.narrow).token()
  }

  @Test("audience names them at Hydra and Authelia, and the code and the own renewal name none")
  func audienceParameter() throws {
    let bench = try bench([
      ("resource", .string("https://api.example/")), ("resourceParameter", .string("audience")),
      ("resources", .array([.string("https://files.example/")])),
    ])
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    try expect(resources(begun.url, "audience"), is: ["https://api.example/ https://files.example/"])
    try expect(resources(begun.url), is: [])
    _ = try engine.signIn.resume(bench.provider.signIn(at: begun.url), cancellation: nil)
    _ = try engine.renewal.renew(epochs: [bench.record.tokenEpoch], forced: true)
    for request in bench.provider.requests(.token) {
      let body = String(decoding: request.body, as: UTF8.self)
      #expect(!body.contains("audience=") && !body.contains("resource="))
    }
    for name in ["hydra", "authelia"] {
      #expect(try #require(ProviderPreset.named(name)).text.contains(#""resourceParameter": "audience""#))
    }
  }

  @Test("a resource that the provider refuses is asked for once in a session")
  func once() throws {
    let bench = try bench([])
    let engine = try bench.signedIn()
    let other = TokenAudience(resource: "https://other.example/", scopes: [])
    guard case .rejected(let first) = try engine.access(for: other) else { throw Unexpected(what: "a token") }
    #expect(first.message.contains("name the resource in resources"))
    let count = bench.provider.count(.token)
    bench.clock.advance(seconds: 3000)
    guard case .rejected(let error) = try bench.engine().access(for: other) else {
      throw Unexpected(what: "a token")
    }
    #expect(error.retryAfterSeconds == nil && error.message.contains("name the resource in resources"))
    expect(bench.provider.count(.token), is: count)
    let again = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    _ = try engine.signIn.resume(bench.provider.signIn(at: again.url), cancellation: nil)
    bench.provider.change { $0.resources.append("https://other.example/") }
    _ = try engine.access(for: other).token()
  }

  @Test(
    "a sign-in that the provider refuses because of its resource names the keys that help",
    arguments: [true, false])
  func refusedSignIn(atExchange: Bool) throws {
    let bench = try bench([("resource", .string("https://api.example/"))])
    let engine = bench.engine()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    if atExchange { bench.provider.next(.token, .status(400, body: #"{"error":"invalid_target"}"#)) }
    let back =
      atExchange
      ? bench.provider.signIn(at: begun.url) : bench.provider.refuse(begun.url, error: "invalid_target")
    guard case .failed(let error) = try engine.signIn.resume(back, cancellation: nil).ending else {
      throw Unexpected(what: "tokens")
    }
    #expect(error.field == "resource" && error.message.contains("resourceParameter"))
  }

  // MARK: Granted scopes and audience

  private func jwt(_ claims: JSONObject) -> String {
    func part(_ json: JSON) -> String { Base64URL.encode(json.serialized()) }
    return "\(part(.object([("alg", .string("none"))]))).\(part(.object(claims))).c2ln"
  }

  @Test(
    "more scopes than were asked for, or another audience, are told with the token",
    arguments: [
      ("openid profile", nil, nil, "more scopes than were requested: profile"),
      ("openid", nil, nil, nil), (nil, nil, nil, nil),
      // In these cases the token itself says more than the response does (Keycloak).
      ("openid profile", "openid", nil, nil), ("openid", "openid email", nil, "requested: email"),
      (nil, nil, "https://api.example", nil),
      (nil, nil, "account", "another audience than was requested: account"),
    ] as [(String?, String?, String?, String?)])
  func deviation(told: String?, inToken: String?, aud: String?, words: String?) throws {
    let bench = try bench([])
    let engine = try bench.signedIn()
    let token = jwt(JSONObject([("scope", inToken.map { .string($0) }), ("aud", aud.map { .string($0) })]))
    bench.provider.change {
      $0.tokens = {
        $0["scope"] = told.map { .string($0) }
        if inToken != nil || aud != nil { $0["access_token"] = .string(token) }
      }
    }
    let audience = aud == nil ? Self.narrow : Self.api
    let found = try engine.access(for: audience).token().deviation
    if let words { #expect(found?.contains(words) ?? false) } else { expect(found, is: nil) }
    try expect(engine.tokens.keptTokens().last?.deviation, is: found)
    // The deviation must be stored with the token.
    try expect(bench.engine().access(for: audience).token().deviation, is: found)
  }
}
