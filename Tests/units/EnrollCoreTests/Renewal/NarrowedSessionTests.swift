// A provider that narrows the session if a token for one audience is requested (zitadel/oidc,
// node-oauth2-server).

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@Suite("A provider that narrows the session (R44)")
struct NarrowedSessionTests {
  private static let read = TokenAudience(resource: nil, scopes: ["read"])
  private static let write = TokenAudience(resource: nil, scopes: ["write"])
  private static let api = TokenAudience(resource: "https://api.example/", scopes: [])
  private static let files = TokenAudience(resource: "https://files.example/", scopes: [])

  private let bench: Bench
  private let engine: Engine

  init() throws {
    bench = try Bench(scopes: ["openid", "offline_access", "read", "write"])
    bench.provider.change {
      $0.resources = ["https://api.example/", "https://files.example/"]
      $0.narrowsSessions = true
    }
    engine = try bench.signedIn()
  }

  private func reason(_ outcome: AccessOutcome) throws -> EnrollError {
    guard case .rejected(let reason) = outcome else { throw Unexpected(what: "\(outcome)") }
    return reason
  }

  private var told: [String] { bench.seen.reported.map(\.message) }

  @Test(
    "what the next renewal lacks is noticed, told once, and the provider is asked for no audience any more")
  func scopes() throws {
    _ = try engine.token(for: Self.read)
    bench.clock.advance(seconds: 3600)
    _ = try engine.token()
    #expect(told.count == 1 && told[0].contains("openid offline_access write"))
    expect(bench.seen.reported.last?.helps, is: .registerAgain)
    let asked = bench.provider.count(.token)
    for audience in [Self.read, Self.write, Self.api] {
      let error = try reason(engine.access(for: audience))
      #expect(error.code == .unsupported && error.message.contains("narrows"))
      #expect(try reason(bench.engine().access(for: audience)).code == .unsupported)
    }
    expect(bench.provider.count(.token), is: asked)
    bench.clock.advance(seconds: 3600)
    _ = try engine.token()
    expect(told.count, is: 1)
  }

  @Test(
    "an audience that is refused after another one brings the session's own renewal, which shows what is lost"
  )
  func doubted() throws {
    _ = try engine.token(for: Self.read)
    try expect(reason(engine.access(for: Self.write)).oauthError, is: "invalid_scope")
    #expect(told.count == 1 && told[0].contains("write"))
    guard case .valid = try engine.access() else { throw Unexpected(what: "the session is over") }
  }

  @Test("a refresh token that is invalid for a second resource, and lives, is bound to the first")
  func bound() throws {
    _ = try engine.token(for: Self.api)
    try expect(reason(engine.access(for: Self.files)).oauthError, is: "invalid_grant")
    #expect(told.count == 1 && told[0].contains("bound"))
    try expect(bench.record.sessionEnded, is: nil)
  }

  /// A token whose claims name its audience; its signature is not checked.
  private func token(for audience: JSON) -> JSON {
    let payload = Base64URL.encode(JSON.object([("aud", audience)]).serialized())
    return .string("e30.\(payload).AA")
  }

  @Test(
    "an access token for the resource of the audience before, where it had another, shows that the session is bound"
  )
  func boundSilently() throws {
    let bench = try Bench(scopes: ["openid", "offline_access"])
    func give(_ audience: JSON) {
      let token = token(for: audience)
      bench.provider.change { $0.tokens = { $0["access_token"] = token } }
    }
    bench.provider.change { $0.resources = ["https://api.example/"] }
    give(.string("own"))
    let engine = try bench.signedIn()
    for (audience, isBound) in [
      (JSON.array([.string("own")]), false), (.array([.string("other"), .string("own")]), false),
      (.array([.string("https://api.example/")]), true),
    ] {
      give(.array([.string("https://api.example/")]))
      _ = try engine.token(for: Self.api)
      give(audience)
      bench.clock.advance(seconds: 3600)
      _ = try engine.token()
      try expect(bench.record.narrowsSessions, is: isBound)
    }
    expect(bench.seen.reported.count, is: 1)
    expect(bench.seen.reported.last?.message.contains("bound"), is: true)
  }

  @Test(
    "with a configured resource, the session's own renewal is refused where the session is bound to another one: by its resource, or as an invalid token that the other resource takes",
    arguments: ["invalid_grant", "invalid_target"])
  func boundBesideConfigured(refusal: String) throws {
    let bench = try Bench(resource: "https://files.example/", resources: ["https://api.example/"])
    bench.provider.change {
      $0.resources = ["https://api.example/", "https://files.example/"]
      $0.narrowsSessions = true
    }
    let engine = try bench.signedIn()
    _ = try engine.token(for: Self.api)
    try expect(bench.record.narrowsSessions, is: false)
    bench.clock.advance(seconds: 3600)
    if refusal == "invalid_target" {
      bench.provider.next(.token, .status(400, body: #"{"error":"invalid_target"}"#))
      try expect(reason(engine.access()).oauthError, is: refusal)
    } else {
      try expect(engine.access(), is: .reauthenticate(reason: refusal))
    }
    try expect(bench.record.narrowsSessions, is: true)
    #expect(bench.seen.reported.contains { $0.message.contains("bound") })
    let again = try bench.signedIn()
    try expect(reason(again.access(for: Self.api)).code, is: .unsupported)
  }

  @Test("a session that the provider ends after a token for an audience shows no narrowing")
  func ended() throws {
    let bench = try Bench(resource: "https://files.example/", resources: ["https://api.example/"])
    bench.provider.change { $0.resources = ["https://api.example/", "https://files.example/"] }
    let engine = try bench.signedIn()
    _ = try engine.token(for: Self.api)
    bench.provider.endSessions()
    bench.clock.advance(seconds: 3600)
    try expect(engine.access(), is: .reauthenticate(reason: "invalid_grant"))
    try expect(bench.record.narrowsSessions, is: false)
  }

  @Test(
    "the next session at this provider is not narrowed: it is remembered until the account is deregistered")
  func remembered() throws {
    _ = try engine.token(for: Self.read)
    bench.clock.advance(seconds: 3600)
    _ = try engine.token()
    _ = try engine.logout.beginLogout(localOnly: true, cancellation: nil)
    let again = try bench.signedIn()
    try expect(reason(again.access(for: Self.write)).code, is: .unsupported)
    bench.clock.advance(seconds: 3600)
    _ = try again.token()
    try expect(#require(try bench.record.confirmed).scopes.contains("write"), is: true)
    _ = try again.logout.deregister(cancellation: nil)
    try expect(bench.record.narrowsSessions, is: false)
  }

  @Test("scopes that a provider takes away otherwise are no narrowing")
  func withdrawn() throws {
    bench.provider.change { $0.narrowsSessions = false }
    _ = try engine.token(for: Self.read)
    bench.provider.change { $0.tokens = { $0["scope"] = .string("openid read") } }
    bench.clock.advance(seconds: 3600)
    _ = try engine.token()
    #expect(try told.isEmpty && !bench.record.narrowsSessions)
    bench.provider.change { $0.tokens = { $0["scope"] = .string("openid") } }
    bench.clock.advance(seconds: 3600)
    _ = try engine.token()
    #expect(try told.isEmpty && !bench.record.narrowsSessions)
  }
}
