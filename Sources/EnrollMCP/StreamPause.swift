// The backoff before a bridge opens a stream again. A server can set the pause with `retry` (HTML Standard,
// "Server-sent events") or `Retry-After`. Otherwise the pause grows with each attempt that fails.

/// The pauses between the attempts for one stream.
package struct StreamPause: Equatable, Sendable {
  /// The bridge's own shortest pause, in milliseconds.
  package static let least: Int64 = 1_000
  /// The shortest pause that a server can ask for, in milliseconds. If it asks for less, the bridge uses its own
  /// pause: otherwise a server that ends each stream at once would get a flood of requests.
  package static let leastAsked: Int64 = 100
  /// The bridge's own longest pause, in milliseconds.
  package static let longest: Int64 = 60_000
  /// The longest pause that a server can ask for, in milliseconds: an hour.
  package static let longestAsked: Int64 = 3_600_000
  /// The maximum number of times that the pause is doubled: 2^6 seconds are more than the longest pause.
  private static let mostDoublings = 6

  /// The number of consecutive attempts that brought no event.
  package private(set) var failures = 0

  package init() {}

  /// Counts an attempt.
  /// - Parameters:
  ///   - wasOfUse: whether the attempt brought an event, or its stream was open for long.
  ///   - asked: the pause that the server asks for, in milliseconds. It replaces the bridge's own pause. After two
  ///     consecutive attempts without an event, the longer of the two pauses counts.
  /// - Returns: the pause before the next attempt, in milliseconds.
  package mutating func next(wasOfUse: Bool, asked: Int64?) -> Int64 {
    failures = wasOfUse ? 0 : failures + 1
    guard let asked, asked >= Self.leastAsked, failures < 2 else {
      let own = Self.least << Int64(min(max(failures - 1, 0), Self.mostDoublings))
      return max(min(own, Self.longest), min(asked ?? 0, Self.longestAsked))
    }
    return min(asked, Self.longestAsked)
  }
}
