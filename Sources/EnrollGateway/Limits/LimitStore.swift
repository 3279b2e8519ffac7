// The counters that all replicas share. A counter is one moment: the time at which its bucket will be full again. So one statement
// takes from it, and a counter whose moment is over can be forgotten (the generic cell rate algorithm, ITU-T I.371 Annex A).

public import EnrollCore

/// What one took, or how long to wait.
public enum LimitVerdict: Sendable, Equatable {
  case granted
  /// After so many seconds, at least 1, the same is granted unless others take it.
  case refused(retryAfterSeconds: Int64)
}

/// Counters in the database.
public protocol LimitStore: AnyObject, Sendable {
  /// Takes one from a bucket, atomically.
  /// - Parameter key: SHA-256 of what is counted, 32 bytes.
  func take(_ key: [UInt8], by rule: LimitRule, at now: UnixTime) throws(StoreFailure) -> LimitVerdict

  /// Forgets buckets that are full again.
  /// - Returns: how many.
  func pruneLimits(at now: UnixTime) throws(StoreFailure) -> Int
}
