// Access tokens for other audiences than the session's own, from the same refresh token.

import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollStore
import EnrollTesting
import Expectations
import Testing

@testable import EnrollRules
@testable import EnrollSteps

extension Engine {
  /// The outcome of `token.access` for an audience. If this needs a renewal, the function runs the renewal.
  func access(for audience: TokenAudience?, forced: Bool = false) throws -> AccessOutcome {
    switch try tokens.decideAccess(minimumLifetimeSeconds: 0, for: audience) {
    case .fresh(let token, _): return .valid(token)
    case .answer(let outcome): return outcome
    case .renew(let epoch):
      let result = try renewal.renew(epochs: [epoch], forced: forced, for: audience)
      return try tokens.outcome(after: result, minimumLifetimeSeconds: 0, for: audience)
    }
  }

  func token(for audience: TokenAudience?) throws -> String {
    try access(for: audience).token().value.reveal()
  }
}

@Suite("Tokens for several audiences (RFC 8707 §2.2, RFC 6749 §6)")
struct AudienceRenewalTests {
  private static let api = TokenAudience(resource: "https://api.example/", scopes: [])
  private static let files = TokenAudience(resource: "https://files.example/", scopes: ["read"])
  private static let narrow = TokenAudience(resource: nil, scopes: ["openid"])

  private let bench: Bench
  private let engine: Engine

  init() throws {
    bench = try Bench(scopes: ["openid", "offline_access", "read", "write"])
    bench.provider.change { $0.resources = ["https://api.example/", "https://files.example/"] }
    engine = try bench.signedIn()
    // In these tests, older access tokens stay valid. OlderTokensTests tests providers that end older tokens.
    try bench.store.update(.default) { record throws(EnrollError) in record.keepsAccessTokens = true }
  }

  private var tokens: TokenSet {
    get throws { try #require(try bench.record.confirmed) }
  }

  private func form(_ request: HTTPRequest?) -> String {
    String(decoding: request?.body ?? [], as: UTF8.self)
  }

  /// The session's own tokens, without tokens for other audiences and without the refresh token.
  private func own(_ tokens: TokenSet) -> TokenSet {
    var own = tokens
    (own.audiences, own.refreshToken) = (AudienceTokens(), nil)
    return own
  }

  @Test(
    "the renewal names resource and scopes; the session's own token, scopes and id_token stay as they are (R44)"
  )
  func beside() throws {
    let before = try tokens
    try expect(engine.token(for: Self.files), is: "access-3")
    expect(
      form(bench.provider.requests(.token).last),
      is:
        "grant_type=refresh_token&refresh_token=refresh-2&scope=read&resource=https%3A%2F%2Ffiles.example%2F&client_id=native"
    )
    expect(
      bench.provider.audience(of: "access-3"), is: .init(resource: "https://files.example/", scope: "read"))
    let after = try tokens
    expect(after.refreshToken, is: Secret("refresh-3"), "rotated as always")
    expect(own(after), is: own(before))
    try expect(engine.token(), is: "access-2")
    try expect(engine.token(for: Self.files), is: "access-3")
    expect(bench.provider.count(.token), is: 2)
    try expect(bench.record.renewalIntent, is: nil)
  }

  @Test("each token is renewed when it is due itself, and no other with it")
  func ownExpiry() throws {
    try expect(engine.token(for: Self.api), is: "access-3")
    bench.clock.advance(seconds: 1800)
    try expect(engine.token(for: Self.files), is: "access-4")
    bench.clock.advance(seconds: 1750)
    try expect(engine.token(for: Self.files), is: "access-4")
    try expect(engine.token(for: Self.api), is: "access-5")
    try expect(engine.token(), is: "access-6")
    try expect(engine.token(for: Self.api), is: "access-5")
    expect(bench.provider.count(.token), is: 5)
  }

  @Test("fewer scopes than were asked for are kept and told; without a word they are those asked for")
  func narrower() throws {
    let wide = TokenAudience(resource: nil, scopes: ["read", "write"])
    try expect(engine.access(for: wide).token().scopes, is: ["read", "write"])
    bench.provider.change { $0.tokens = { $0["scope"] = .string("read") } }
    bench.clock.advance(seconds: 3600)
    try expect(engine.access(for: wide).token().scopes, is: ["read"])
    try expect(tokens.scopes, is: ["openid", "offline_access", "read", "write"])
    try expect(engine.tokens.keptTokens().map(\.scopes), is: [tokens.scopes, ["read"]])
    bench.provider.change { $0.tokens = { $0["scope"] = nil } }
    try expect(engine.access(for: Self.api).token().scopes, is: tokens.scopes)
  }

  static let refusals: [(TokenAudience, String, String)] = [
    (TokenAudience(resource: "https://other.example/v1?key=7", scopes: []), "invalid_target", "resource"),
    (TokenAudience(resource: nil, scopes: ["admin"]), "invalid_scope", "scope"),
    (TokenAudience(resource: "https://api.example/", scopes: ["admin"]), "invalid_scope", "scope"),
  ]

  @Test(
    "an audience that the provider refuses is refused alone, and not asked for again for a minute, or, for its resource, in the session",
    arguments: refusals)
  func refused(_ audience: TokenAudience, _ code: String, _ field: String) throws {
    let before = try tokens
    for _ in 1...3 {
      guard case .rejected(let reason) = try engine.access(for: audience) else {
        throw Unexpected(what: "not refused")
      }
      #expect(reason.oauthError == code && reason.field == field)
      #expect(reason.message.contains(audience.resource == nil ? "admin" : ".example/"))
      #expect(!reason.message.contains("=7"))
    }
    expect(bench.provider.count(.token), is: 2)
    #expect(try own(tokens) == own(before) && tokens.refreshToken == before.refreshToken)
    #expect(try bench.record.refusal == nil && bench.record.sessionEnded == nil)
    try expect(bench.record.renewalIntent, is: nil)
    expect(engine.state, is: .active(.confirmed))
    try expect(engine.token(for: Self.narrow), is: "access-3", "others are not refused with it")
    bench.clock.advance(seconds: 61)
    guard case .rejected = try engine.access(for: audience) else { throw Unexpected(what: "not refused") }
    expect(bench.provider.count(.token), is: code == "invalid_target" ? 3 : 4)
  }

  @Test(
    "an audience that the provider answers with trouble waits alone, in every process",
    arguments: [
      FakeProvider.Reply.status(500), .status(404), .status(400, body: "<html>"),
      .status(429, headers: [HTTPHeader("Retry-After", "3600")]),
    ])
  func trouble(reply: FakeProvider.Reply) throws {
    bench.provider.next(.token, reply, reply)
    guard case .expired = try engine.access(for: Self.api) else { throw Unexpected(what: "a token") }
    let asked = bench.provider.count(.token)
    guard case .expired = try bench.engine().access(for: Self.api) else { throw Unexpected(what: "a token") }
    expect(bench.provider.count(.token), is: asked, "the next one waits")
    try expect(bench.record.backoff, is: nil)
    bench.provider.recover(.token)
    #expect(try engine.token(for: Self.files).hasPrefix("access-"))
    bench.clock.advance(seconds: 3600)
    #expect(try engine.token().hasPrefix("access-"), "the session's own is renewed")
    bench.clock.advance(seconds: 3600)
    #expect(try engine.token(for: Self.api).hasPrefix("access-"))
    try expect(bench.record.backoff(for: Self.api), is: nil)
  }

  @Test("a disk that refuses the pause of an audience leaves it to this process")
  func pauseInMemory() throws {
    let store = FailingTokenStore(bench.store)
    let own = bench.engine(store: store)
    bench.provider.next(.token, .status(500), .status(500))
    store.refuse(.before, times: 2, after: 1)
    guard case .expired = try own.access(for: Self.api) else { throw Unexpected(what: "a token") }
    let asked = bench.provider.count(.token)
    for _ in 1...3 {
      guard case .expired = try own.access(for: Self.api) else { throw Unexpected(what: "a token") }
    }
    expect(bench.provider.count(.token), is: asked)
  }

  @Test(
    "an audience gives way to the seventeenth, and nothing is revoked: its token is the living session's (R35)"
  )
  func givesWay() throws {
    let audiences = (0...AudienceTokens.limit).map {
      TokenAudience(resource: "https://api\($0).example/", scopes: [])
    }
    bench.provider.change { $0.resources = audiences.compactMap(\.resource) }
    for audience in audiences {
      bench.clock.advance(seconds: 1)
      _ = try engine.token(for: audience)
    }
    // The list of audiences is limited. Entries for refused or failing audiences do not displace tokens.
    for (name, reply) in [
      ("no", FakeProvider.Reply.status(400, body: #"{"error":"invalid_target"}"#)), ("ill", .status(500)),
    ] {
      bench.provider.next(.token, reply, reply)
      _ = try engine.access(for: TokenAudience(resource: "https://\(name).example/", scopes: []))
      bench.provider.recover(.token)
    }
    #expect(bench.provider.revoked.isEmpty)
    try expect(tokens.audiences.entries.count, is: AudienceTokens.limit + 2)
    try expect(tokens.audiences[audiences[0]], is: nil)
  }

  @Test("each of many audiences in trouble waits, and says how long (R33)")
  func manyWait() throws {
    let audiences = (1...40).map { TokenAudience(resource: "https://\($0).example/", scopes: []) }
    for audience in audiences {
      bench.provider.next(.token, .status(429, headers: [HTTPHeader("Retry-After", "600")]))
      guard case .expired = try engine.access(for: audience) else { throw Unexpected(what: "a token") }
    }
    let asked = bench.provider.count(.token)
    for audience in audiences {
      guard case .expired(let since, let wait?, _) = try engine.access(for: audience) else {
        throw Unexpected(what: "no time to wait")
      }
      #expect(wait >= 600 && since != nil)
    }
    expect(bench.provider.count(.token), is: asked)
    try expect(engine.tokens.keptTokens().count, is: 1)
  }

  @Test(
    "an audience that is renewed while another sign-in takes the session's place gets the new session's token"
  )
  func replaced() throws {
    let bench = bench
    bench.provider.next(.token, .during { _ = try? bench.signedIn() })
    let token = try engine.token(for: Self.api)
    try expect(tokens.audiences[Self.api]?.token?.accessToken.reveal(), is: token)
    #expect(try bench.record.backoff == nil && tokens.audiences[Self.api]?.backoff == nil)
    #expect(bench.seen.reported.isEmpty)
  }

  @Test(
    "a sign-in that completes while an audience's renewal asks for the metadata inherits no backoff",
    arguments: [true, false])
  func replacedDuringDiscovery(isReachable: Bool) throws {
    let bench = bench
    let interrupted = SignsInDuringDiscovery(bench.provider, isReachable: isReachable) {
      _ = try? bench.signedIn()
    }
    // This process has not read the metadata yet.
    _ = try bench.engine(transport: interrupted).access(for: Self.api)
    try expect(bench.record.backoff, is: nil)
    try expect(bench.record.confirmed?.audiences[Self.api]?.backoff, is: nil)
    guard case .valid = try bench.engine().access() else { throw Unexpected(what: "no valid token") }
  }

  /// A provider whose discovery document arrives after another process has signed a user in, or never
  /// arrives.
  private final class SignsInDuringDiscovery: Transport {
    private let provider: FakeProvider
    private let isReachable: Bool
    private let signsIn: Guarded<(@Sendable () -> Void)?>

    init(_ provider: FakeProvider, isReachable: Bool, _ signsIn: @escaping @Sendable () -> Void) {
      self.provider = provider
      self.isReachable = isReachable
      self.signsIn = Guarded(signsIn, by: Mutex())
    }

    func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse {
      let signsIn = self.signsIn.withLock { signsIn -> (@Sendable () -> Void)? in
        guard request.url.hasSuffix(ProviderMetadata.wellKnownPath) else { return nil }
        defer { signsIn = nil }
        return signsIn
      }
      if let signsIn {
        signsIn()
        guard isReachable else { throw EnrollError(.network, "unreachable") }
      }
      return try provider.send(request, cancellation: cancellation)
    }
  }

  /// A transport that throws `.busy`, as a host's own transport may do.
  private final class BusyTransport: Transport {
    let count = Guarded(0, by: Mutex())

    func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse {
      count.withLock { $0 += 1 }
      throw EnrollError(.busy, "no line is free")
    }
  }

  @Test("a transport that is busy ends the renewal, and delays the next one (R33)")
  func busyTransport() throws {
    let transport = BusyTransport()
    let busy = bench.engine(transport: transport)
    _ = try? busy.access(for: Self.api)
    let asked = transport.count.withLock { $0 }
    #expect((1...2 * RenewalStep.triesPerRenewal).contains(asked))
    _ = try? busy.access(for: Self.api)
    expect(transport.count.withLock { $0 }, is: asked)
    // Other processes need not wait, because the failure was not written to the record.
    try expect(bench.record.backoff, is: nil)
  }

  @Test("a refusal that would end the session if repeated never ends it when it is about an audience")
  func neverEnds() throws {
    for _ in 1...3 {
      bench.provider.next(.token, .status(400, body: #"{"error":"consent_required"}"#))
      guard case .rejected = try engine.access(for: Self.api) else { throw Unexpected(what: "not refused") }
      bench.clock.advance(seconds: 61)
    }
    try expect(bench.record.sessionEnded, is: nil)
    try expect(engine.token(for: Self.api), is: "access-3")
  }

  @Test("a refused renewal leaves the token that still works")
  func stale() throws {
    try expect(engine.token(for: Self.api), is: "access-3")
    bench.clock.advance(seconds: 3550)
    bench.provider.change { $0.resources = [] }
    guard case .stale(let token, let reason) = try engine.access(for: Self.api) else {
      throw Unexpected(what: "not stale")
    }
    #expect(token.value == Secret("access-3") && reason.oauthError == "invalid_target")
  }

  @Test("invalid_grant ends the session, and the tokens for audiences with it (R34)")
  func ends() throws {
    try expect(engine.token(for: Self.api), is: "access-3")
    bench.provider.endSessions()
    guard case .reauthenticate = try engine.access(for: Self.narrow) else { throw Unexpected(what: "lives") }
    try expect(bench.record.sessionEnded, is: "invalid_grant")
    #expect(try tokens.audiences.isEmpty)
    guard case .reauthenticate = try engine.access(for: Self.api) else { throw Unexpected(what: "lives") }
    #expect(try engine.tokens.keptTokens().isEmpty)
  }

  @Test(
    "invalid_grant for an audience alone is the audience's: one renewal without it decides about the session (R44)"
  )
  func doubted() throws {
    bench.provider.next(.token, .status(400, body: #"{"error":"invalid_grant"}"#))
    guard case .rejected(let reason) = try engine.access(for: Self.api) else {
      throw Unexpected(what: "not refused")
    }
    #expect(reason.oauthError == "invalid_grant" && reason.field == "resource")
    #expect(!form(bench.provider.requests(.token).last).contains("resource"))
    try expect(bench.record.sessionEnded, is: nil)
    expect(engine.state, is: .active(.renewed))
    try expect(engine.token(), is: "access-3")
    expect(bench.provider.count(.token), is: 3)
    guard case .rejected = try engine.access(for: Self.api) else { throw Unexpected(what: "asked again") }
    expect(bench.provider.count(.token), is: 3)
    try expect(engine.token(for: Self.files), is: "access-4")
  }

  @Test("a provider in trouble after such a refusal leaves the session as it is")
  func doubtedInTrouble() throws {
    bench.provider.next(.token, .status(400, body: #"{"error":"invalid_grant"}"#), .status(503), .status(503))
    guard case .expired = try engine.access(for: Self.api) else { throw Unexpected(what: "decided") }
    try expect(bench.record.sessionEnded, is: nil)
    try expect(engine.token(), is: "access-2")
  }

  @Test("a new refresh token is kept although its access token cannot be used (R30)")
  func rotatedOnly() throws {
    bench.provider.next(.token, .status(200, body: #"{"token_type":"Bearer","refresh_token":"rescued"}"#))
    guard case .expired = try engine.access(for: Self.api) else { throw Unexpected(what: "a token") }
    try expect(tokens.refreshToken, is: Secret("rescued"))
    try expect(engine.token(), is: "access-2")
  }

  @Test("an id_token that comes along is never taken for the session's, and one of another user is (R27)")
  func idToken() throws {
    let before = try own(tokens)
    bench.provider.change { $0.claims = { $0["name"] = .string("Another Name") } }
    try expect(engine.token(for: Self.api), is: "access-3")
    try expect(own(tokens), is: before)
    bench.provider.change { $0.claims = { $0["sub"] = .string("mallory") } }
    guard case .reauthenticate = try engine.access(for: Self.files) else { throw Unexpected(what: "lives") }
    try expect(bench.record.sessionEnded?.contains("sub"), is: true)
  }

  @Test("an access token beside an unproven id_token of another user is not used (R27)")
  func withheld() throws {
    bench.provider.change { $0.claims = { $0["sub"] = .string("mallory") } }
    bench.provider.next(.keys, .unreachable, .unreachable, .unreachable)
    try bench.provider.changeKey()
    bench.provider.change { $0.keyID = "key-9" }
    guard case .expired(_, _, let reason) = try engine.access(for: Self.api) else {
      throw Unexpected(what: "used")
    }
    expect(reason.code, is: .idTokenInvalid)
    #expect(try tokens.audiences[Self.api] == nil && tokens.refreshToken == Secret("refresh-3"))
    try expect(tokens.unprovenIDToken, is: nil)
  }

  @Test("a sign-out revokes them with the session's own tokens")
  func signOut() throws {
    _ = try engine.token(for: Self.api)
    _ = try engine.token(for: Self.files)
    _ = try engine.logout.beginLogout(localOnly: false, cancellation: nil)
    expect(Set(bench.provider.revoked), is: ["refresh-4", "access-2", "access-3", "access-4"])
    try expect(bench.record.confirmed, is: nil)
  }

  @Test("tokens for an audience that come after a sign-out are revoked, not stored (R35)")
  func late() throws {
    let other = bench.engine()
    bench.provider.next(
      .token, .during { _ = try? other.logout.beginLogout(localOnly: true, cancellation: nil) })
    guard case .reauthenticate = try engine.access(for: Self.api) else { throw Unexpected(what: "lives") }
    #expect(bench.provider.revoked.contains("access-3") && bench.provider.revoked.contains("refresh-3"))
  }

  @Test("of more than sixteen the one that ends first gives way")
  func limit() throws {
    bench.provider.change { $0.resources = (1...17).map { "https://\($0).example/" } }
    func audience(_ number: Int) -> TokenAudience {
      TokenAudience(resource: "https://\(number).example/", scopes: [])
    }
    for number in 1...16 {
      bench.provider.change { $0.lifetime = .integer(number == 7 ? 1000 : 3000) }
      _ = try engine.token(for: audience(number))
    }
    _ = try engine.token(for: audience(17))
    try expect(tokens.audiences.entries.count, is: 16)
    try expect(tokens.audiences[audience(7)], is: nil)
    try expect(engine.tokens.keptTokens().count, is: 17)
  }

  @Test("all tokens for audiences together stay far below the limit of a sealed file")
  func bytes() throws {
    let big = String(repeating: "a", count: 65_000)
    bench.provider.change {
      $0.resources = (1...6).map { "https://\($0).example/" }
      $0.tokens = { $0["access_token"] = .string(big) }
    }
    for number in 1...6 {
      _ = try engine.token(for: TokenAudience(resource: "https://\(number).example/", scopes: []))
    }
    try expect(tokens.audiences.entries.count, is: 4)
  }

  @Test("tokens that ended are forgotten with the next renewal")
  func ended() throws {
    bench.provider.change { $0.lifetime = .integer(100) }
    _ = try engine.token(for: Self.api)
    bench.clock.advance(seconds: 200)
    _ = try engine.token(for: Self.narrow)
    try expect(tokens.audiences.entries.map(\.audience), is: [Self.narrow])
  }

  @Test("whoever waited for a renewal of another audience has a renewal of its own")
  func ownRenewal() throws {
    let disk = FailingTokenStore(bench.store)
    let (waiting, other) = (bench.engine(store: disk), bench.engine())
    bench.clock.advance(seconds: 3550)
    disk.whileWaiting { _ = try? other.access(for: Self.api) }
    try expect(waiting.token(), is: "access-4")
    disk.whileWaiting { _ = try? other.access(for: Self.narrow) }
    try expect(waiting.token(for: Self.files), is: "access-6")
    expect(bench.provider.count(.token), is: 5)
  }

  @Test("whoever waited for the same audience takes what came, and asks for nothing")
  func shared() throws {
    let disk = FailingTokenStore(bench.store)
    let (waiting, other) = (bench.engine(store: disk), bench.engine())
    disk.whileWaiting { _ = try? other.access(for: Self.api) }
    try expect(waiting.token(for: Self.api), is: "access-3")
    disk.whileWaiting {
      _ = try? other.renewal.renew(
        epochs: [bench.record.epoch(for: Self.api) ?? 0], forced: true, for: Self.api)
    }
    bench.clock.advance(seconds: 3550)
    try expect(waiting.token(for: Self.api), is: "access-4")
    expect(bench.provider.count(.token), is: 3)
  }

  @Test(
    "what the disk refused is stored first, whichever audience is asked for next, and then this one is renewed"
  )
  func unsaved() throws {
    let disk = FailingTokenStore(bench.store)
    let engine = bench.engine(store: disk)
    bench.provider.next(.token, .during { disk.refuse(.before, times: 100) })
    expect(code { _ = try engine.access(for: Self.api) }, is: .storeIO)
    disk.refuse(.before, times: 0)
    let epoch = try bench.record.tokenEpoch
    try expect(engine.renewal.planRenewal(ahead: false, jitter: 0), is: .renew(epoch: epoch, for: Self.api))
    bench.clock.advance(seconds: 3000)
    try expect(engine.token(for: Self.files), is: "access-4")
    try expect(engine.token(for: Self.api), is: "access-3")
    expect(bench.provider.count(.token), is: 3)
  }

  @Test("an answer that was lost is asked for again, with the same refresh token")
  func lost() throws {
    bench.provider.change { $0.graceSeconds = 60 }
    bench.provider.next(.token, .answerLost)
    #expect(try engine.token(for: Self.api).hasPrefix("access-"))
    expect(bench.provider.count(.token), is: 3)
    try expect(bench.record.renewalIntent, is: nil)
    bench.provider.next(.token, .answerLost, .answerLost)
    guard case .expired = try engine.access(for: Self.files) else { throw Unexpected(what: "a token") }
    // The next request renews the session's own token, because every successful answer brings the new refresh token.
    bench.clock.advance(seconds: 5)
    try expect(
      engine.renewal.planRenewal(ahead: false, jitter: 0),
      is: .renew(epoch: try #require(try bench.record.epoch(for: nil))))
    let spent = try #require(try tokens.refreshToken)
    _ = try engine.renewal.renew(epochs: [try #require(try bench.record.epoch(for: nil))], forced: false)
    let again = form(bench.provider.requests(.token).last)
    #expect(again.contains("refresh_token=\(spent.reveal())&client_id"))
    try expect(bench.record.renewalIntent, is: nil)
    #expect(try engine.token(for: Self.files).hasPrefix("access-"))
  }

  @Test("a session that is bound to a key has bound tokens for audiences (RFC 9449 §5)")
  func bound() throws {
    let bench = try Bench(dpop: .always)
    bench.provider.change {
      $0.dpopAlgorithms = ["ES256"]
      $0.resources = ["https://api.example/"]
    }
    let engine = try bench.signedIn()
    let token = try engine.access(for: Self.api).token()
    expect(token.tokenType, is: "DPoP")
    expect(bench.provider.requests(.token).last?.headers.contains { $0.name == "DPoP" }, is: true)
    let proof = try engine.proofs.dpopProof(
      method: "GET", url: "https://api.example/", accessToken: token.value)
    #expect(!proof.isEmpty)
    bench.provider.change { $0.answersBearer = true }
    guard case .expired = try engine.access(for: Self.narrow) else {
      throw Unexpected(what: "a Bearer token")
    }
  }

  @Test("a session without a refresh token has none, and goes on")
  func noRefreshToken() throws {
    let bench = try Bench()
    bench.provider.change { $0.givesRefreshToken = false }
    let engine = try bench.signedIn()
    guard case .rejected(let reason) = try engine.access(for: Self.api) else {
      throw Unexpected(what: "not refused")
    }
    #expect(reason.code == .unsupported && reason.field == "resource")
    try expect(engine.token(), is: "access-2")
  }

  @Test("a registration check is not asked again because a token for an audience came")
  func check() throws {
    let bench = try Bench(checks: true)
    bench.provider.change { $0.resources = ["https://api.example/"] }
    let engine = try bench.signedIn()
    _ = try engine.check.checkSession(cancellation: nil)
    let asked = bench.provider.count(.registrationCheck)
    _ = try engine.token(for: Self.api)
    engine.registration.checkIfNeeded()
    expect(bench.provider.count(.registrationCheck), is: asked)
  }

  @Test("a session that was asked for no audience is stored as before")
  func stored() throws {
    func members(_ record: AccountRecord) -> String {
      AccountDocument(account: .default, lineage: "l", record: record).encoded().reveal()
    }
    let before = try members(bench.record)
    #expect(!before.contains("\"audiences\"") && !before.contains("accessEpoch"))
    _ = try engine.token(for: Self.files)
    let document = AccountDocument(account: .default, lineage: "l", record: try bench.record)
    try expect(AccountDocument(decoding: document.encoded()), is: document)
  }

  @Test("diagnostics name the audiences, and no token")
  func diagnosed() throws {
    _ = try engine.token(for: Self.files)
    let text = String(decoding: JSON.object(engine.diagnostics.diagnostics()).serialized(), as: UTF8.self)
    #expect(text.contains("https://files.example") && !text.contains("access-3"))
  }
}
