// How long to wait before the next attempt. The wait doubles with each failure, and has a limit and some jitter (R33).
// Requests that are never repeated, such as a request with a code (R15), do not use this policy.

public enum RetryPolicy {
  /// The first delay, before jitter.
  public static let firstNanoseconds: Int64 = 500_000_000
  /// The longest delay without a Retry-After, before jitter.
  public static let maximumNanoseconds: Int64 = 60_000_000_000

  /// The delay after a failed attempt.
  /// - Parameters:
  ///   - attempt: the number of attempts that failed in a row, from 1.
  ///   - retryAfterSeconds: the server's Retry-After (``RetryAfter``), which is a lower bound.
  ///   - jitter: one random byte.
  /// - Returns: between half and all of the doubled delay; or, if the server's delay is longer, that delay and up to
  ///   a tenth more.
  public static func delayNanoseconds(attempt: Int, retryAfterSeconds: Int64?, jitter: UInt8) -> Int64 {
    let doublings = min(max(attempt, 1) - 1, 16)
    let backoff = min(firstNanoseconds << Int64(doublings), maximumNanoseconds)
    let own = backoff / 2 + backoff / 2 / 255 * Int64(jitter)
    guard let asked = retryAfterSeconds, asked > 0 else { return own }
    let wish = min(asked, RetryAfter.maximumSeconds) * 1_000_000_000
    return max(own, wish + wish / 10 / 255 * Int64(jitter))
  }
}
