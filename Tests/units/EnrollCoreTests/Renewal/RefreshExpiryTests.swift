// Tests with refresh tokens that expire before their access tokens (as in an idle session of Keycloak), and with
// sessions without a refresh token.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@Suite("The end of the refresh token")
struct RefreshExpiryTests {
  private let bench: Bench
  private let engine: Engine

  init() throws {
    bench = try Bench()
    bench.provider.change {
      $0.lifetime = .integer(36_000)
      $0.tokens = { $0["refresh_expires_in"] = .integer(1800) }
    }
    engine = try bench.signedIn()
  }

  @Test("a renewal is due before the refresh token ends, and replaces it")
  func due() throws {
    bench.clock.advance(seconds: 1700)
    try expect(engine.token(), is: "access-2")
    bench.clock.advance(seconds: 50)
    try expect(engine.token(), is: "access-3")
    bench.clock.advance(seconds: 1700)
    try expect(engine.token(), is: "access-3")
    expect(bench.provider.count(.token), is: 2)
    guard case .fresh(_, let end) = try engine.tokens.decideAccess(minimumLifetimeSeconds: 0) else {
      throw Unexpected(what: "not fresh")
    }
    expect(end.lifetimeSeconds, is: 1800, "memory serves the token no longer than that")
  }

  @Test("a process that starts then renews at once")
  func standing() throws {
    bench.clock.advance(seconds: 1750)
    try expect(bench.engine().registration.adoptStoredState(), is: .needsRenewal)
  }

  @Test("in the background it is renewed before that")
  func background() throws {
    guard case .wait(let until) = try engine.renewal.planRenewal(ahead: true, jitter: 0) else {
      throw Unexpected(what: "no wait")
    }
    let seconds = until.since(bench.clock.instant()) / 1_000_000_000
    #expect((1500..<1740).contains(seconds))
    bench.clock.advance(seconds: 1740)
    guard case .renew = try engine.renewal.planRenewal(ahead: true, jitter: 0) else {
      throw Unexpected(what: "waits")
    }
  }

  @Test("an end that no renewal moves causes a few renewals, not one for each call")
  func absolute() throws {
    let end = bench.clock.wallTime() + 1800
    let clock = bench.clock
    bench.provider.change {
      $0.tokens = { $0["refresh_expires_in"] = .integer(max(1, end.since(clock.wallTime()))) }
    }
    for _ in 1...1900 {
      bench.clock.advance(seconds: 1)
      _ = try engine.token()
    }
    #expect((2...10).contains(bench.provider.count(.token)), "\(bench.provider.count(.token))")
  }

  @Test("a refresh token whose end has passed changes nothing: the access token is used until its own end")
  func passed() throws {
    bench.provider.next(.token, .unreachable, .unreachable)
    bench.clock.advance(seconds: 1750)
    guard case .stale = try engine.access() else { throw Unexpected(what: "not stale") }
    bench.provider.recover(.token)
    bench.clock.advance(seconds: 60)
    try expect(engine.token(), is: "access-2")
    try expect(bench.record.sessionEnded, is: nil)
  }

  static let answers: [(JSON?, JSON?, Int64?)] = [
    (.integer(0), nil, nil), (nil, nil, nil), (.integer(-5), nil, nil), (.string("600"), nil, 600),
    (nil, .integer(15_897_600), 15_897_600), (.bool(true), nil, nil),
  ]

  @Test("0 is no end (Keycloak's offline tokens), and both names are read", arguments: answers)
  func members(keycloak: JSON?, github: JSON?, seconds: Int64?) throws {
    var members = JSONObject([("access_token", .string("a")), ("token_type", .string("Bearer"))])
    members["refresh_expires_in"] = keycloak
    members["refresh_token_expires_in"] = github
    let http = HTTPResponse(status: 200, body: JSON.object(members).serialized())
    try expect(TokenResponse(processing: http).refreshLifetimeSeconds, is: seconds)
  }

  @Test("the account says whether it renews, and until when; a renewal that says nothing leaves it open")
  func told() throws {
    let account = try engine.registration.readAccount()
    #expect(account.renews == true && account.renewableUntil == bench.clock.wallTime() + 1800)
    let document = AccountDocument(account: .default, lineage: "l", record: try bench.record)
    try expect(AccountDocument(decoding: document.encoded()), is: document)
    bench.provider.change { $0.tokens = { _ in } }
    bench.clock.advance(seconds: 1750)
    _ = try engine.token()
    try expect(engine.registration.readAccount().renewableUntil, is: nil)
    try expect(engine.registration.readAccount().renews, is: true)
    bench.provider.endSessions()
    bench.clock.advance(seconds: 36_000)
    _ = try engine.access()
    try expect(engine.registration.readAccount().renews, is: false)
  }

  @Test("without a refresh token a living token is stale when it is to be renewed, and the check says so")
  func noRefreshToken() throws {
    let bench = try Bench()
    try expect(bench.engine().registration.readAccount().renews, is: nil)
    func renewal(_ engine: Engine) throws -> ProviderFinding? {
      try engine.providerCheck.checkProvider(cancellation: nil).findings.first { $0.subject == .renewal }
    }
    #expect(try renewal(bench.engine())?.text.contains("only a sign-in") == true)
    bench.provider.change { $0.givesRefreshToken = false }
    let engine = try bench.signedIn()
    guard case .answer(.stale(let token, let reason)) = try engine.tokens.decideRefresh() else {
      throw Unexpected(what: "not stale")
    }
    #expect(
      token.value == Secret("access-2") && reason.code == .unsupported && reason.helps == .registerAgain)
    try expect(engine.registration.readAccount().renews, is: false)
    try expect(renewal(engine)?.verdict, is: .limited)
    bench.clock.advance(seconds: 4000)
    guard case .answer(.reauthenticate) = try engine.tokens.decideRefresh() else {
      throw Unexpected(what: "lives")
    }
  }
}
