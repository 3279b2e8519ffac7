// How many requests may wait for one provider at once: one that hangs holds its own share of the threads, and no other's.

import EnrollCore

final class ProviderShare: Sendable {
  /// Of the threads that ask providers.
  static let limit = 64

  private let count: Guarded<Int>

  init(_ lock: any Lock) { count = Guarded(0, by: lock) }

  /// - Throws: `.busy` when the share is used up; errors of `body`.
  func taking<Result>(_ body: () throws(EnrollError) -> Result) throws(EnrollError) -> Result {
    let isFree = count.withLock { count in
      guard count < Self.limit else { return false }
      count += 1
      return true
    }
    guard isFree else {
      throw EnrollError(.busy, "\(Self.limit) requests wait for this provider", retryAfterSeconds: 5)
    }
    defer { count.withLock { $0 -= 1 } }
    return try body()
  }
}
