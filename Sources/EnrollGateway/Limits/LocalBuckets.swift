// The buckets of one gateway in memory. Their number is limited: when a generation has `limit` keys, a new generation
// begins, and the oldest of three generations is dropped. A key that is used moves to the new generation.

import EnrollRules

struct LocalBuckets {
  private var young: [Key: Bucket] = [:]
  private var old: [Key: Bucket] = [:]
  /// The most keys of one generation.
  let limit: Int

  private struct Bucket {
    /// When the bucket is full again, in nanoseconds of the monotonic clock.
    var full: Int64
  }

  /// The first half of a hash, in 16 bytes of memory; an array would need 64 bytes.
  struct Key: Hashable {
    private let high: UInt64
    private let low: UInt64

    init(hash: [UInt8]) {
      high = hash.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
      low = hash.dropFirst(8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
  }

  init(limit: Int = 50_000) { self.limit = limit }

  enum Answer: Equatable {
    /// The used part of the bucket, from 0 to 1.
    case granted(use: Double)
    case refused(retryAfterSeconds: Int64)
  }

  mutating func take(_ key: Key, by rule: LimitRule, at now: Instant) -> Answer {
    let window = rule.seconds * 1_000_000_000
    let each = window / max(1, rule.requests)
    let before = max(young[key]?.full ?? old[key]?.full ?? 0, now.nanoseconds)
    let full = before + each
    let wait = full - now.nanoseconds - window
    guard wait <= 0 else {
      keep(Bucket(full: before), key)
      return .refused(retryAfterSeconds: (wait + 999_999_999) / 1_000_000_000)
    }
    keep(Bucket(full: full), key)
    return .granted(use: Double(full - now.nanoseconds) / Double(window))
  }

  /// Empties a bucket, so that the bucket grants the next request after `seconds`. This is called if the counters that
  /// all gateways share have refused a request: other gateways have granted requests that this bucket did not count.
  mutating func drain(_ key: Key, by rule: LimitRule, forSeconds seconds: Int64, at now: Instant) {
    let window = rule.seconds * 1_000_000_000
    let wait = min(seconds, rule.seconds) * 1_000_000_000
    keep(Bucket(full: now.nanoseconds + window - window / max(1, rule.requests) + wait), key)
  }

  private mutating func keep(_ bucket: Bucket, _ key: Key) {
    if young.count >= limit, young[key] == nil {
      old = young
      young = [:]
    }
    young[key] = bucket
  }
}
