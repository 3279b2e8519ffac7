// How often keys that prove nothing are fetched again (R23). Each answer to a code or a refresh token cost a request of ours, and a
// code is spent by then; a stranger's text costs nothing.

/// When keys were refetched in the last minute.
struct KeyRefetches: Sendable {
  static let perMinute = 6
  static let perMinuteForText = 1

  /// For the provider's own answers.
  private var own: [Instant] = []
  /// For texts of strangers: no forged one delays a sign-in after the provider has changed its keys.
  private var forText: [Instant] = []

  /// Takes note of a refetch, if there may be one.
  /// - Returns: nil where there may; else in how many seconds there may be one again.
  mutating func begin(at now: Instant, forText isForText: Bool) -> Int64? {
    var last = (isForText ? forText : own).filter { now <= $0.advanced(bySeconds: 60) }
    if last.count >= (isForText ? Self.perMinuteForText : Self.perMinute) {
      return max(1, (60_000_000_000 - now.since(last[0])) / 1_000_000_000)
    }
    last.append(now)
    if isForText { forText = last } else { own = last }
    return nil
  }
}
