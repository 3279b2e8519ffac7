import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollTesting
import Expectations
import Testing

@Suite("The pause after a failed renewal (R33)")
struct RenewalBackoffTests {
  private let tooMany = FakeProvider.Reply.status(429)

  @Test("a 429 is one request, for twenty processes that ask one after the other")
  func shared() throws {
    let bench = try Bench()
    _ = try bench.signedIn()
    bench.clock.advance(seconds: 4000)
    bench.provider.next(.token, .status(429, headers: [HTTPHeader("Retry-After", "120")]))
    for _ in 1...20 {
      guard case .expired(let since, let wait, let error) = try bench.engine().access() else {
        throw Unexpected(what: "not expired")
      }
      #expect(since != nil && (wait ?? 0) >= 100 && error.httpStatus == 429)
    }
    expect(bench.provider.count(.token), is: 2)
    bench.clock.advance(seconds: 140)
    try expect(bench.engine().token(), is: "access-3")
    try expect(bench.record.backoff, is: nil)
  }

  /// A transport whose requests fail because its process lacks something, such as libcurl or memory.
  private final class PoorTransport: Transport {
    let code: EnrollError.Code

    init(_ code: EnrollError.Code) { self.code = code }

    func send(_: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse {
      throw EnrollError(code, "libcurl could not be opened")
    }
  }

  @Test(
    "what one process lacks is no pause for the others",
    arguments: [EnrollError.Code.unsupported, .outOfMemory, .internal])
  func ownFault(code: EnrollError.Code) throws {
    let bench = try Bench()
    _ = try bench.signedIn()
    bench.clock.advance(seconds: 4000)
    let poor = bench.engine(transport: PoorTransport(code))
    guard case .expired(_, let wait, let error) = try poor.access() else {
      throw Unexpected(what: "not expired")
    }
    expect(error.code, is: code)
    try expect(bench.record.backoff, is: nil)
    // Only this process must wait before its next attempt.
    #expect((wait ?? 0) > 0)
    try expect(bench.engine().token(), is: "access-3")
  }

  @Test("a 429 that names no time is not tried again at once, and the pause grows over processes")
  func grows() throws {
    let bench = try Bench()
    _ = try bench.signedIn()
    bench.clock.advance(seconds: 4000)
    for failures in 1...8 {
      bench.provider.next(.token, tooMany)
      _ = try bench.engine().access()
      let backoff = try #require(try bench.record.backoff)
      expect(backoff.failures, is: failures)
      expect(bench.provider.count(.token), is: 1 + failures)
      let wait = try #require(backoff.secondsToWait(at: bench.clock.moment()))
      // The delay doubles with each failure. The pause is between half of the delay and the whole delay,
      // rounded up to seconds.
      let longest = min(500 << (failures - 1), 60_000)
      let seconds = Int64((longest / 2 + 999) / 1000)...Int64((longest + 999) / 1000)
      #expect(seconds.contains(wait), "after \(failures) failures: \(wait) s, expected \(seconds)")
      bench.clock.advance(seconds: wait)
    }
  }

  @Test("processes that waited for one that failed take its failure for theirs, a forced renewal as well")
  func waited() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    let other = bench.engine()
    bench.clock.advance(seconds: 4000)
    let epoch = try bench.record.tokenEpoch
    let store = FailingTokenStore(bench.store)
    store.whileWaiting {
      bench.provider.next(.token, .status(503, headers: [HTTPHeader("Retry-After", "60")]))
      _ = try? other.renewal.renew(epochs: [epoch], forced: true)
    }
    guard
      case .unavailable(let error) = try bench.engine(store: store).renewal.renew(
        epochs: [epoch], forced: true)
    else {
      throw Unexpected(what: "asked")
    }
    expect(error.httpStatus, is: 503)
    expect(bench.provider.count(.token), is: 2)
    #expect(engine.tokens.hasSession)
  }

  @Test("what another process failed with during the wait holds as long as for everybody, silence too")
  func waitedInSilence() throws {
    let bench = try Bench()
    _ = try bench.signedIn()
    let other = bench.engine()
    let epoch = try bench.record.tokenEpoch
    @Sendable func fail() throws {
      bench.provider.next(.token, .unreachable, .unreachable)
      _ = try other.renewal.renew(epochs: [epoch], forced: true)
    }
    for _ in 1...8 {
      try fail()
      bench.clock.advance(seconds: 61)
    }
    let store = FailingTokenStore(bench.store)
    store.whileWaiting {
      try? fail()
      bench.clock.advance(seconds: 3)
    }
    let sent = bench.provider.count(.token)
    _ = try bench.engine(store: store).renewal.renew(epochs: [epoch], forced: true)
    expect(bench.provider.count(.token), is: sent + 2)
  }

  static let words: [(String, FakeProvider.Reply)] = [
    ("429 with a Retry-After", .status(429, headers: [HTTPHeader("Retry-After", "600")])),
    ("429", .status(429)),
    ("503 with a Retry-After", .status(503, headers: [HTTPHeader("Retry-After", "60")])),
    ("a refusal of the client", .status(400, body: #"{"error":"invalid_client"}"#)),
    ("a refusal of the grant", .status(400, body: #"{"error":"access_denied"}"#)),
  ]

  @Test(
    "a pause that the provider's word began holds for all, also for a renewal that somebody wants now",
    arguments: words)
  func forcedWaits(name: String, word: FakeProvider.Reply) throws {
    let bench = try Bench()
    _ = try bench.signedIn()
    bench.provider.next(.token, word)
    for _ in 1...50 {
      let engine = bench.engine()
      let result = try engine.renewal.renew(epochs: [bench.record.tokenEpoch], forced: true)
      guard case .stale(let token, _) = try engine.tokens.outcome(after: result, minimumLifetimeSeconds: 0)
      else { throw Unexpected(what: "not stale") }
      expect(token.value, is: Secret("access-2"))
      if bench.provider.count(.token) > 2 { break }
    }
    let again = try bench.engine().renewal.renew(epochs: [bench.record.tokenEpoch], forced: true)
    guard case .unavailable(let error) = again.asUnavailable else { throw Unexpected(what: "\(again)") }
    #expect((error.retryAfterSeconds ?? 0) > 0)
    expect(bench.provider.count(.token), is: 2)
  }

  @Test(
    "a pause that began with an outage holds a renewal that somebody wants now for a second or two",
    arguments: [FakeProvider.Reply.unreachable, .timeout, .garbled, .status(503)])
  func forcedGoesOn(silence: FakeProvider.Reply) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    // Each of these failed renewals makes the pause longer.
    for _ in 1...8 {
      bench.provider.next(.token, silence, silence)
      _ = try engine.renewal.renew(epochs: [bench.record.tokenEpoch], forced: true)
      bench.clock.advance(seconds: 61)
    }
    bench.provider.next(.token, silence, silence)
    _ = try engine.renewal.renew(epochs: [bench.record.tokenEpoch], forced: true)
    let sent = bench.provider.count(.token)
    for _ in 1...20 { _ = try engine.renewal.renew(epochs: [bench.record.tokenEpoch], forced: true) }
    expect(bench.provider.count(.token), is: sent, "within the same second")
    bench.clock.advance(seconds: 2)
    guard case .unavailable = try engine.renewal.renew(epochs: [bench.record.tokenEpoch], forced: false)
    else {
      throw Unexpected(what: "nobody waited")
    }
    expect(bench.provider.count(.token), is: sent)
    try expect(engine.renewal.renew(epochs: [bench.record.tokenEpoch], forced: true), is: .renewed)
  }

  @Test(
    "a date that is set, and another boot, neither prolong a pause nor make a hot loop",
    arguments: [-86_400, 86_400])
  func dateSet(by seconds: Int64) throws {
    let bench = try Bench()
    _ = try bench.signedIn()
    bench.clock.advance(seconds: 4000)
    bench.provider.next(.token, .status(503, headers: [HTTPHeader("Retry-After", "60")]))
    _ = try bench.engine().access()
    bench.clock.setWall(bench.clock.wallTime().seconds + seconds)
    _ = try bench.engine().access()
    expect(bench.provider.count(.token), is: 2)
    bench.clock.reboot(bootID: "boot-2")
    try expect(bench.engine().token(), is: "access-3")
  }

  @Test("a disk that does not take the pause leaves it to the process")
  func diskRefuses() throws {
    let bench = try Bench()
    _ = try bench.signedIn()
    let store = FailingTokenStore(bench.store)
    let engine = bench.engine(store: store)
    bench.clock.advance(seconds: 4000)
    bench.provider.next(.token, .status(503, headers: [HTTPHeader("Retry-After", "60")]))
    store.refuse(.before, times: 1, after: 1)
    for _ in 1...3 {
      guard case .expired(_, let wait, _) = try engine.access() else { throw Unexpected(what: "not expired") }
      #expect((wait ?? 0) >= 50)
    }
    expect(store.left, is: 0)
    try expect(bench.record.backoff, is: nil)
    expect(bench.provider.count(.token), is: 2)
  }
}

extension RenewalResult {
  /// This result with a refusal replaced by an outage, because a caller that must wait sees no difference.
  fileprivate var asUnavailable: RenewalResult {
    if case .rejected(let error) = self { .unavailable(error) } else { self }
  }
}
