// Rate limits: first by the gateway's own memory, then by the counters that all replicas share. A person who signs in now and then costs
// no call of the database: a client's requests are shared only when it has used a quarter of its bucket here. Passwords and
// e-mails of one person are shared always.
//
// A database that cannot be reached neither opens nor closes the gates: each gateway then goes on by its own buckets of the same
// size, and asks the database again after five seconds. So `n` replicas together let through at most `n` times the rule.

public import EnrollCore
import EnrollCrypto

/// Takes from buckets; any thread may ask. It may wait for the database.
public final class Limits: Sendable {
  private struct State {
    var buckets: LocalBuckets
    /// The store failed; until then it is not asked.
    var pausedUntil = Instant(nanoseconds: .min)
  }

  private let rules: LimitRules
  private let store: any LimitStore
  private let clock: any Clock
  private let log: any LogHandler
  private let state: Guarded<State>
  private let observe: @Sendable (Observation) -> Void

  /// What the metrics count.
  public enum Observation: Sendable, Equatable {
    case refused(LimitKind, LimitScope)
    /// The store did not answer, and this gateway counts alone for a while.
    case alone
  }

  /// Seconds for which a store that failed is not asked.
  static let pauseSeconds: Int64 = 5
  /// Of the bucket of a client; what is used beyond is shared.
  static let quietUse = 0.25

  public init(
    _ rules: LimitRules, store: any LimitStore, clock: any Clock, log: any LogHandler,
    makeLock: () -> any Lock, keysInMemory: Int = 50_000,
    observe: @escaping @Sendable (Observation) -> Void = { _ in }
  ) {
    self.rules = rules
    self.store = store
    self.clock = clock
    self.log = log
    self.observe = observe
    state = Guarded(State(buckets: LocalBuckets(limit: keysInMemory)), by: makeLock())
  }

  /// Takes one, if there is one.
  public func take(_ kind: LimitKind, key: LimitKey) -> LimitVerdict {
    guard let rule = rules[kind, key.scope] else { return .granted }
    // Without SHA-256 there is no sign-in either.
    guard let name = Self.name(kind, key) else { return .refused(retryAfterSeconds: rule.seconds) }
    let (bucket, now) = (LocalBuckets.Key(hash: name), clock.instant())
    let (answer, isPaused) = state.withLock { state in
      (state.buckets.take(bucket, by: rule, at: now), now < state.pausedUntil)
    }
    switch answer {
    case .refused(let seconds): return refused(kind, key, seconds)
    case .granted(let use):
      guard !isPaused, key.scope == .person || use > Self.quietUse else { return .granted }
      guard case .refused(let seconds) = shared(name, by: rule) else { return .granted }
      state.withLock { $0.buckets.drain(bucket, by: rule, forSeconds: seconds, at: now) }
      return refused(kind, key, seconds)
    }
  }

  private func shared(_ name: [UInt8], by rule: LimitRule) -> LimitVerdict {
    do throws(StoreFailure) { return try store.take(name, by: rule, at: clock.wallTime()) } catch {
      let until = clock.instant().advanced(bySeconds: Self.pauseSeconds)
      let isFirst = state.withLock { state in
        let wasPaused = clock.instant() < state.pausedUntil
        state.pausedUntil = until
        return !wasPaused
      }
      if isFirst { log.write(.warning, "limits: this gateway counts alone for a while: \(error.message)") }
      observe(.alone)
      return .granted
    }
  }

  private func refused(_ kind: LimitKind, _ key: LimitKey, _ seconds: Int64) -> LimitVerdict {
    observe(.refused(kind, key.scope))
    return .refused(retryAfterSeconds: max(1, seconds))
  }

  /// nil where SHA-256 cannot be had.
  private static func name(_ kind: LimitKind, _ key: LimitKey) -> [UInt8]? {
    let text =
      switch key {
      case .client(let address): ClientNetwork.text(of: address)
      case .person(let name): name.lowercased()
      }
    return try? Digest.sha256.hash(Array("\(kind.rawValue) \(key.scope.rawValue) \(text)".utf8))
  }
}
