// Rate limits, counted first in the gateway's own memory, then in the counters that all replicas share. A user who signs in
// from time to time causes no database call: a client is counted in the database only after it has used a quarter of its bucket
// in this gateway. Passwords and e-mails of one person are always counted in the database.
//
// If the database fails, requests are neither all granted nor all refused: each gateway then uses only its own buckets of the
// same size, and asks the database again after five seconds. So `n` replicas together grant at most `n` times the limit.

import EnrollRules
public import EnrollSteps
import EnrollCrypto

/// Counts requests against the limits. Any thread may use it, and a call may wait for the database.
public final class Limits: Sendable {
  private struct State {
    var buckets: LocalBuckets
    /// Until this time the store is not called, because it failed.
    var pausedUntil = Instant(nanoseconds: .min)
  }

  private let rules: LimitRules
  private let store: any LimitStore
  private let clock: any Clock
  private let log: any LogHandler
  private let state: Guarded<State>
  private let observe: @Sendable (Observation) -> Void

  /// An event for the metrics.
  public enum Observation: Sendable, Equatable {
    case refused(LimitKind, LimitScope)
    /// The store failed. This gateway counts only in its own memory for a while.
    case alone
  }

  /// For this many seconds after a failure, the store is not called.
  static let pauseSeconds: Int64 = 5
  /// The part of a client's bucket up to which requests are counted only in memory.
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

  /// Takes one request from the bucket, if there is one left.
  public func take(_ kind: LimitKind, key: LimitKey) -> LimitVerdict {
    guard let rule = rules[kind, key.scope] else { return .granted }
    // Without a name, the request is refused. This prevents no sign-in: without SHA-256, no sign-in works anyway.
    guard let name = Self.name(kind, key) else { return .refused(retryAfterSeconds: rule.seconds) }
    let bucket = LocalBuckets.Key(hash: name)
    // Read the clock while the lock is held, so that a bucket gets its requests in the order of their times. A request
    // with an earlier time than the request before it would be refused, although the bucket has room for it.
    let (answer, isPaused) = state.withLock { state in
      let now = clock.instant()
      return (state.buckets.take(bucket, by: rule, at: now), now < state.pausedUntil)
    }
    switch answer {
    case .refused(let seconds): return refused(kind, key, seconds)
    case .granted(let use):
      guard !isPaused, key.scope == .person || use > Self.quietUse else { return .granted }
      guard case .refused(let seconds) = shared(name, by: rule) else { return .granted }
      state.withLock { $0.buckets.drain(bucket, by: rule, forSeconds: seconds, at: clock.instant()) }
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

  /// The hash that names a bucket; nil if SHA-256 fails.
  private static func name(_ kind: LimitKind, _ key: LimitKey) -> [UInt8]? {
    let text =
      switch key {
      case .client(let address): ClientNetwork.text(of: address)
      case .person(let name): name.lowercased()
      }
    return try? Digest.sha256.hash(Array("\(kind.rawValue) \(key.scope.rawValue) \(text)".utf8))
  }
}
