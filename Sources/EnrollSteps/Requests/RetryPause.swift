// The pause between two attempts of a request (R33). The pause ends early when the client is closed.

import EnrollRules

extension ClientRequests {
  /// How often a pause checks whether the client is being closed, in nanoseconds.
  static let pauseSlice: Int64 = 50_000_000

  /// Pauses before the next attempt.
  /// - Throws: `.cancelled` once the client is being closed.
  func pause(after trouble: EnrollError, attempt: Int) throws(EnrollError) {
    let jitter = (try? random.bytes(1).first) ?? 0
    let delay = RetryPolicy.delayNanoseconds(
      attempt: attempt, retryAfterSeconds: trouble.retryAfterSeconds, jitter: jitter)
    var left = min(delay, 2_000_000_000)
    while left > 0 {
      try context.requireNotClosing()
      clock.sleep(until: clock.instant().advanced(byNanoseconds: min(left, Self.pauseSlice)))
      left -= Self.pauseSlice
    }
    try context.requireNotClosing()
  }
}
