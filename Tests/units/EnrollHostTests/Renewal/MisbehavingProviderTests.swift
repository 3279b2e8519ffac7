import EnrollRules
import EnrollCrypto
import EnrollHost
import EnrollTesting
import Expectations
import Testing

@Suite("A provider that misbehaves during a renewal (R30, R33, R34)")
struct MisbehavingProviderTests {
  /// The maximum number of requests of one renewal: the renewal sends two requests, and libcurl itself repeats one of
  /// them if a kept connection turns out to be dead.
  private static let mostPerRenewal = 3
  /// The maximum number of requests in 55 seconds of failures: the waits are ½, 1, 2 … 32 s, each at least halved by
  /// the jitter.
  private static let mostInAMinute = 8 * mostPerRenewal
  /// A timeout that is longer than the longest pause that a Retry-After can cause.
  private static let anyTimeout: Int64 = 4000
  /// A time that is longer than any token lives, whatever its `expires_in` says (R32).
  private static let anyLife: Int64 = 366 * 86_400

  @Test("there are more than forty ways, each of its own name")
  func count() {
    expect(Set(ProviderFault.all.map(\.name)).count, is: ProviderFault.all.count)
    #expect(ProviderFault.all.count >= 40)
    print(
      "misbehaving provider: \(ProviderFault.all.count) faults, each with a live token and an expired one")
  }

  @Test(
    "a live token is served, an expired one says why; few requests go out; nobody is signed out; then all is well",
    arguments: ProviderFault.all, [true, false])
  func fault(_ fault: ProviderFault, isLive: Bool) throws {
    let provider = try MisbehavingProvider()
    let stage = try RenewalStage(tokenEndpoint: provider.tokenEndpoint)
    let client = try stage.client(milliseconds: fault.isSlow ? 100 : 30_000)
    provider.misbehave(fault)
    stage.clock.advance(seconds: isLive ? 3550 : 3700)
    for call in 1...25 {
      do { try check(try client.now(), fault, isLive) } catch let unmet as Unmet {
        // The numbers show whether this server or another server at its port answered, and when.
        let epoch = try stage.record.tokenEpoch
        throw Unmet(what: "\(unmet.what), call \(call), visits \(provider.visits), epoch \(epoch)")
      }
    }
    #expect(provider.visits >= 1)
    #expect(provider.visits <= Self.mostPerRenewal, "25 callers, and no time has passed")
    if fault.outcome != .taken { try outlast(fault, stage, provider, client) }

    provider.misbehave(nil)
    stage.clock.advance(seconds: fault.outcome == .taken ? Self.anyLife : Self.anyTimeout)
    let before = provider.visits
    let heir = fault.isSlow ? try stage.client() : client
    guard case .valid(let token) = try heir.now() else { throw Unmet(what: "not valid after the fault") }
    expect(token.value, isNot: Secret("access-1"))
    expect(provider.visits, is: before + 1)
    try expect(stage.record.sessionEnded, is: nil)
    #expect(!provider.isOver, "an old refresh token was sent")
  }

  /// Lets nearly a minute pass, in which callers ask every second.
  private func outlast(
    _ fault: ProviderFault, _ stage: RenewalStage, _ provider: MisbehavingProvider, _ client: Client
  ) throws {
    for _ in 1...(fault.isSlow ? 5 : 55) {
      stage.clock.advance(seconds: 1)
      switch try client.now() {
      case .stale, .expired, .rejected: break
      case let other: throw Unmet(what: "\(other)")
      }
    }
    #expect(provider.visits <= Self.mostInAMinute)
    // The session outlives a long failure. A second refusal by the token endpoint itself, a minute later, may
    // end it, so faults with the outcome `refused` are left out.
    for _ in 1...2 where fault.outcome == .trouble {
      stage.clock.advance(seconds: 120)
      guard case .expired = try client.now() else { throw Unmet(what: "not expired") }
    }
  }

  private func check(_ outcome: AccessOutcome, _ fault: ProviderFault, _ isLive: Bool) throws {
    switch (fault.outcome, outcome) {
    case (.taken, .valid(let token)): expect(token.value, isNot: Secret("access-1"))
    case (.trouble, .stale(let token, _)) where isLive, (.refused, .stale(let token, _)) where isLive:
      expect(token.value, is: Secret("access-1"))
    case (.trouble, .expired) where !isLive, (.refused, .rejected) where !isLive: break
    default: throw Unmet(what: "\(outcome)")
    }
  }

  @Test("nobody listens at the token endpoint", arguments: [true, false])
  func refusedConnection(isLive: Bool) throws {
    let provider = try MisbehavingProvider(listens: false)
    let stage = try RenewalStage(tokenEndpoint: provider.tokenEndpoint)
    let client = try stage.client()
    stage.clock.advance(seconds: isLive ? 3550 : 3700)
    let fault = ProviderFault(name: "refused", outcome: .trouble) { _ in }
    for _ in 1...25 { try check(try client.now(), fault, isLive) }
    try provider.listen()
    stage.clock.advance(seconds: Self.anyTimeout)
    guard case .valid = try client.now() else { throw Unmet(what: "not valid") }
    expect(provider.visits, is: 1)
  }

  @Test("invalid_grant for the current token is the one answer that ends a session (R34)")
  func ended() throws {
    let provider = try MisbehavingProvider()
    let stage = try RenewalStage(tokenEndpoint: provider.tokenEndpoint)
    provider.misbehave(
      ProviderFault(name: "invalid_grant", outcome: .refused) {
        $0.connection.readRequest()
        $0.answer("{\"error\":\"invalid_grant\"}", status: "400 Bad Request")
      })
    stage.clock.advance(seconds: 3550)
    let client = try stage.client()
    for _ in 1...25 { try expect(client.now(), is: .reauthenticate(reason: "invalid_grant")) }
    expect(provider.visits, is: 1)
    try expect(stage.record.confirmed?.refreshToken, is: Secret("refresh-1"))
  }

  /// The value of a Retry-After header, and the number of seconds that must pass; nil if the value is ignored.
  static let wishes: [(String, Int64?)] = [
    ("120", 120), ("3600", 3600), ("86400", 3600), ("1000000000", 3600), ("9223372036854775807", 3600),
    ("99999999999999999999999", 3600), ("1e9", nil), ("-5", nil), ("0", nil), ("soon", nil), ("", nil),
    ("1.5", nil),
    ("Wed, 21 Oct 2015 07:30:00 GMT\r\nDate: Wed, 21 Oct 2015 07:28:00 GMT", 120),
    ("Wed, 21 Oct 2099 07:28:00 GMT\r\nDate: Wed, 21 Oct 2015 07:28:00 GMT", 3600),
    ("Wed, 21 Oct 2015 07:28:00 GMT\r\nDate: Thu, 22 Oct 2015 07:28:00 GMT", nil),
    ("Wed, 99 Oct 2015 07:28:00 GMT\r\nDate: Thu, 22 Oct 2015 07:28:00 GMT", nil),
  ]

  @Test("Retry-After is honoured, up to an hour (R33)", arguments: wishes, ["429 Slow Down", "503 Busy"])
  func timeout(_ wish: (header: String, seconds: Int64?), status: String) throws {
    let provider = try MisbehavingProvider()
    let stage = try RenewalStage(tokenEndpoint: provider.tokenEndpoint)
    provider.misbehave(
      ProviderFault(name: "busy", outcome: .trouble) {
        $0.connection.readRequest()
        $0.answer("", status: status, headers: "Retry-After: \(wish.header)\r\n")
      })
    stage.clock.advance(seconds: 3700)
    let client = try stage.client()
    guard case .expired(_, let wait, _) = try client.now() else { throw Unmet(what: "not expired") }
    let first = provider.visits
    guard let seconds = wish.seconds else {
      // The renewal is repeated after the usual pauses, as after any failure. After a status that asks for
      // fewer requests there is no second request.
      expect(first, is: status.hasPrefix("429") ? 1 : 2)
      #expect((wait ?? 0) <= 2)
      stage.clock.advance(seconds: 2)
      _ = try client.now()
      #expect(provider.visits > first)
      return
    }
    expect(first, is: 1)
    #expect((seconds...(seconds + seconds / 10)).contains(wait ?? 0))
    stage.clock.advance(seconds: seconds - 1)
    _ = try client.now()
    expect(provider.visits, is: first)
    stage.clock.advance(seconds: seconds / 10 + 2)
    _ = try client.now()
    expect(provider.visits, is: first + 1)
  }
}
