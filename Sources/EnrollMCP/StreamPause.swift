// How long a bridge waits before it opens a stream again. A server names a time with `retry` (HTML Standard, "Server-sent
// events") or `Retry-After`. A server that is not there is asked less and less often.

/// The pauses between the attempts for one stream.
package struct StreamPause: Equatable, Sendable {
  /// The bridge's own shortest pause, in milliseconds.
  package static let least: Int64 = 1_000
  /// A server that asks for less gets the bridge's own pause, so that one that ends each stream at once gets no storm.
  package static let leastAsked: Int64 = 100
  package static let longest: Int64 = 60_000
  /// 2^6 seconds are more than the longest pause.
  private static let mostDoublings = 6

  /// The attempts one after the other that brought nothing.
  package private(set) var failures = 0

  package init() {}

  /// Counts an attempt.
  /// - Parameters:
  ///   - wasOfUse: whether it brought something, or lasted long.
  ///   - asked: the pause that the server asks for, in milliseconds. It takes the place of the bridge's own pause until a
  ///     second attempt in a row brings nothing; then the longer of the two counts.
  /// - Returns: the pause before the next attempt, in milliseconds.
  package mutating func next(wasOfUse: Bool, asked: Int64?) -> Int64 {
    failures = wasOfUse ? 0 : failures + 1
    guard let asked, asked >= Self.leastAsked, failures < 2 else {
      let own = Self.least << Int64(min(max(failures - 1, 0), Self.mostDoublings))
      return min(max(own, asked ?? 0), Self.longest)
    }
    return min(asked, Self.longest)
  }
}
