// Tests of the limits on the requests that one client and one user may make: on one gateway, on several gateways, and
// without the database.

import EnrollRules
import EnrollSteps
import EnrollJSON
import EnrollPosix
import EnrollTesting
import Expectations
import Testing

@testable import EnrollGateway
import EnrollHTTP

/// Counters in memory that several gateways share; a test can make them unavailable.
private final class SharedCounters: LimitStore {
  private let state = Guarded((isAway: false, calls: 0, taken: [[UInt8]: Int64]()), by: Mutex())

  func away(_ isAway: Bool) { state.withLock { $0.isAway = isAway } }
  var calls: Int { state.withLock { $0.calls } }

  func take(_ key: [UInt8], by rule: LimitRule, at now: UnixTime) throws(StoreFailure) -> LimitVerdict {
    let verdict: LimitVerdict? = state.withLock { state in
      state.calls += 1
      guard !state.isAway else { return nil }
      state.taken[key, default: 0] += 1
      return (state.taken[key] ?? 0) <= rule.requests ? .granted : .refused(retryAfterSeconds: 7)
    }
    guard let verdict else { throw .unavailable("away") }
    return verdict
  }

  func pruneLimits(at now: UnixTime) throws(StoreFailure) -> Int { 0 }
}

/// A lock that simulates contention on one thread. When it is first taken, it runs `waiting`, so that the requests in
/// `waiting` get the lock first.
private final class ContendedLock: EnrollSteps.Lock {
  private let waiting: @Sendable () -> Void
  private let isFirst = Guarded(true, by: Mutex())

  init(_ waiting: @escaping @Sendable () -> Void) { self.waiting = waiting }

  func lock() {
    let isFirst = isFirst.withLock { isFirst in
      defer { isFirst = false }
      return isFirst
    }
    if isFirst { waiting() }
  }
  func unlock() {}
}

@Suite("Limits")
struct LimitTests {
  private let clock = FakeClock()
  private let store = SharedCounters()
  private let lines = Lines()

  private func limits(_ requests: Int64, in seconds: Int64, keys: Int = 1_000) -> Limits {
    var rules = LimitRules()
    for scope in LimitScope.allCases {
      rules[.start, scope] = LimitRule(requests: requests, seconds: seconds)
    }
    return Limits(
      rules, store: store, clock: clock, log: lines, makeLock: { Mutex() }, keysInMemory: keys)
  }

  private func granted(_ limits: Limits, _ key: LimitKey, of count: Int) -> Int {
    (0..<count).filter { _ in limits.take(.start, key: key) == .granted }.count
  }

  @Test("a bucket gives what it holds, then one for each share of its time")
  func bucket() {
    let limits = limits(10, in: 60)
    expect(granted(limits, .client("192.0.2.1"), of: 1_000), is: 10)
    expect(limits.take(.start, key: .client("192.0.2.1")), is: .refused(retryAfterSeconds: 6))
    clock.advance(seconds: 6)
    expect(granted(limits, .client("192.0.2.1"), of: 1_000), is: 1)
  }

  @Test("a request that others overtake while it waits for its turn is counted at the time of its turn")
  func overtaken() {
    var rules = LimitRules()
    rules[.start, .client] = LimitRule(requests: 10, seconds: 60)
    let overtaking = Guarded<(() -> Void)?>(nil, by: Mutex())
    let limits = Limits(
      rules, store: store, clock: clock, log: lines,
      makeLock: { ContendedLock { overtaking.withLock { $0 }?() } })
    overtaking.withLock {
      $0 = {
        clock.advance(seconds: 1)
        expect(granted(limits, .client("192.0.2.1"), of: 9), is: 9)
      }
    }
    expect(limits.take(.start, key: .client("192.0.2.1")), is: .granted)
  }

  @Test("each client has its own bucket; an IPv6 network of 64 bits is one client")
  func networks() {
    let limits = limits(10, in: 60)
    expect(granted(limits, .client("192.0.2.1"), of: 20), is: 10)
    expect(granted(limits, .client("192.0.2.2"), of: 20), is: 10)
    expect(granted(limits, .client("2001:db8::1"), of: 20), is: 10)
    expect(granted(limits, .client("2001:db8::2:3:4:5"), of: 20), is: 0)
    expect(granted(limits, .client("2001:db8:0:1::1"), of: 20), is: 10)
  }

  @Test(
    "an address is counted by its network",
    arguments: [
      ("192.0.2.1", "192.0.2.1"), ("::1", "0:0:0:0::/64"), ("2001:db8::", "2001:db8:0:0::/64"),
      ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"), ("fe80::1:2:3", "fe80:0:0:0::/64"),
      ("64:ff9b::192.0.2.33", "64:ff9b:0:0::/64"), ("", ""),
    ])
  func text(address: String, network: String) { expect(ClientNetwork.text(of: address), is: network) }

  @Test("a client that asks now and then costs no call of the database")
  func quiet() {
    let limits = limits(100, in: 60)
    expect(granted(limits, .client("192.0.2.1"), of: 25), is: 25)
    expect(store.calls, is: 0)
    expect(granted(limits, .client("192.0.2.1"), of: 1), is: 1)
    expect(store.calls, is: 1)
  }

  @Test("what one gateway gave to a person, another does not give again; case does not matter")
  func shared() {
    let (one, other) = (limits(10, in: 3_600), limits(10, in: 3_600))
    expect(granted(one, .person("Alice@example.com"), of: 7), is: 7)
    expect(granted(other, .person("alice@example.com"), of: 7), is: 3)
    let calls = store.calls
    // The gateway knows by now that the bucket is empty, so it does not ask the store.
    expect(granted(other, .person("alice@example.com"), of: 100), is: 0)
    expect(store.calls, is: calls)
  }

  @Test("without the database each gateway counts alone: the gates neither open nor close")
  func alone() {
    let limits = limits(10, in: 60)
    store.away(true)
    expect(granted(limits, .person("alice"), of: 1_000), is: 10)
    expect(store.calls, is: 1, "a store that failed is not asked again at once")
    expect(lines.all.count, is: 1)
    store.away(false)
    clock.advance(seconds: 6)
    expect(granted(limits, .person("alice"), of: 1_000), is: 1)
    expect(store.calls, is: 2)
  }

  @Test("memory is bounded, and a key that is asked for is not forgotten")
  func memory() {
    let limits = limits(10, in: 60, keys: 100)
    expect(granted(limits, .client("192.0.2.1"), of: 20), is: 10)
    for other in 0..<5_000 {
      _ = limits.take(.start, key: .client("10.0.\(other / 256).\(other % 256)"))
      if other % 50 == 0 { expect(granted(limits, .client("192.0.2.1"), of: 1), is: 0) }
    }
  }

  @Test("ten thousand sign-ins from one address: 120 begin, the rest is told to wait")
  func tenThousand() throws {
    let world = try TestGateway()
    var counts: [Int: Int] = [:]
    for _ in 0..<10_000 {
      let request = WebRequest(.get, "/v1/auth/fake", client: "192.0.2.9")
      let answer = world.gateway.answer(request)
      counts[answer.status, default: 0] += 1
      if answer.status == 429 {
        let seconds = try #require(answer.header("Retry-After").flatMap { Int($0) })
        #expect((1...60).contains(seconds))
      }
    }
    expect(counts, is: [303: 120, 429: 9_880])
    let other = WebRequest(.get, "/v1/auth/fake", client: "192.0.2.10")
    expect(world.gateway.answer(other).status, is: 303)
  }

  @Test("a limit of the configuration that is no number in range is refused by its name")
  func settings() throws {
    let bad = JSON.object([
      ("start", .object([("requests", .integer(0)), ("seconds", .integer(60))]))
    ])
    let error = #expect(throws: EnrollError.self) { try TestGateway.settings([("limits", bad)]) }
    expect(error?.field, is: "limits.start.requests")
    let good = JSON.object([
      ("mailPerPerson", .object([("requests", .integer(2)), ("seconds", .integer(60))]))
    ])
    let settings = try TestGateway.settings([("limits", good)])
    expect(settings.limits[.mail, .person], is: LimitRule(requests: 2, seconds: 60))
    expect(settings.limits[.start, .client], is: LimitRule(requests: 120, seconds: 60))
  }
}
