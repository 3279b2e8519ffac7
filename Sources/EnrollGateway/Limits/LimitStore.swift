// The counters that all replicas share. Each counter is a single time: when its bucket will be full again. So one
// statement can take a request from the bucket, and a counter whose time has passed can be deleted (the generic cell
// rate algorithm, ITU-T I.371 Annex A).

public import EnrollRules

/// Whether a request is granted, or how long to wait.
public enum LimitVerdict: Sendable, Equatable {
  case granted
  /// The request is refused. A new request after this many seconds (at least 1) is granted, unless other requests come
  /// before it.
  case refused(retryAfterSeconds: Int64)
}

/// Counters in the database.
public protocol LimitStore: AnyObject, Sendable {
  /// Takes one request from a bucket, atomically.
  /// - Parameter key: SHA-256 of the kind and the key of the limit, 32 bytes.
  func take(_ key: [UInt8], by rule: LimitRule, at now: UnixTime) throws(StoreFailure) -> LimitVerdict

  /// Deletes the counters of buckets that are full again.
  /// - Returns: how many were deleted.
  func pruneLimits(at now: UnixTime) throws(StoreFailure) -> Int
}
