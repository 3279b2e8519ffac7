// Limits how often keys are fetched again because they did not verify a signature (R23). The limit is higher for
// responses to EnrollKit's own requests, which spend a code or a refresh token, than for texts that anybody can send
// at no cost.

/// The times at which keys were fetched again in the last minute.
package struct KeyRefetches: Sendable {
  static let perMinute = 6
  static let perMinuteForText = 1

  /// Refetches for the provider's responses.
  private var own: [Instant] = []
  /// The times of refetches for signed texts that anybody may send. These refetches have a separate limit, so that
  /// forged texts do not delay a sign-in after the provider has changed its keys.
  private var forText: [Instant] = []

  package init() {}

  /// Records a refetch, if one is allowed.
  /// - Returns: nil if the refetch is allowed; otherwise the number of seconds until the next refetch is allowed.
  package mutating func begin(at now: Instant, forText isForText: Bool) -> Int64? {
    var last = (isForText ? forText : own).filter { now <= $0.advanced(bySeconds: 60) }
    if last.count >= (isForText ? Self.perMinuteForText : Self.perMinute) {
      return max(1, (60_000_000_000 - now.since(last[0])) / 1_000_000_000)
    }
    last.append(now)
    if isForText { forText = last } else { own = last }
    return nil
  }
}
