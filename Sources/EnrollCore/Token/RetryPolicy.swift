// How long to wait before the next try: doubling, bounded, jittered (R33). Requests that are never repeated, such as
// one with a code (R15), do not use it.

public enum RetryPolicy {
  /// The first wait, before jitter.
  public static let firstNanoseconds: Int64 = 500_000_000
  /// No wait of our own choosing is longer, before jitter.
  public static let maximumNanoseconds: Int64 = 60_000_000_000

  /// The wait after a failed try.
  /// - Parameters:
  ///   - attempt: how many tries failed in a row, from 1.
  ///   - retryAfterSeconds: what the server asks for (``RetryAfter``), which is a lower bound.
  ///   - jitter: one random byte.
  /// - Returns: half to all of the doubled wait, or the server's wish and up to a tenth more.
  public static func delayNanoseconds(attempt: Int, retryAfterSeconds: Int64?, jitter: UInt8) -> Int64 {
    let doublings = min(max(attempt, 1) - 1, 16)
    let backoff = min(firstNanoseconds << Int64(doublings), maximumNanoseconds)
    let own = backoff / 2 + backoff / 2 / 255 * Int64(jitter)
    guard let asked = retryAfterSeconds, asked > 0 else { return own }
    let wish = min(asked, RetryAfter.maximumSeconds) * 1_000_000_000
    return max(own, wish + wish / 10 / 255 * Int64(jitter))
  }
}
