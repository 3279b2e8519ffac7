// When a renewal may be tried again: bounded, jittered, never a hot loop (R33). Pure; the engine keeps one per process.

/// What this process remembers of failed renewals.
struct RenewalPatience: Equatable, Sendable {
  /// Consecutive failures.
  private(set) var failures = 0
  /// The last failure; nil after a success.
  private(set) var lastError: EnrollError?
  private(set) var notBefore = Instant(nanoseconds: .min)
  /// When the first of these failures happened, by the date and by the clock that nobody sets.
  private(set) var offlineSince: UnixTime?
  private(set) var failingSince: Instant?

  /// Seconds until another try is allowed, at least 1 while it is not; nil when one is allowed now.
  func secondsToWait(at moment: Moment) -> Int64? {
    let left = notBefore.since(moment.instant)
    return left > 0 ? max(1, left / 1_000_000_000) : nil
  }

  /// - Parameter jitter: one random byte.
  mutating func failed(_ error: EnrollError, at moment: Moment, jitter: UInt8) {
    failures = min(failures + 1, 30)
    lastError = error
    offlineSince = offlineSince ?? moment.wall
    failingSince = failingSince ?? moment.instant
    let delay = RetryPolicy.delayNanoseconds(
      attempt: failures, retryAfterSeconds: error.retryAfterSeconds, jitter: jitter)
    notBefore = moment.instant.advanced(byNanoseconds: delay)
  }

  mutating func succeeded() { self = RenewalPatience() }
}
