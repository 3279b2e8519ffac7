// A server's clock, as its answers tell it (R25). One answer may be wrong: a cache gives an old date, a node of
// a cluster has a clock of its own. So a jump counts when a second answer tells the same.

/// A server's clock, as the difference from a clock of ours that nobody sets meanwhile.
public struct ServerClock: Equatable, Sendable {
  /// Answers of one server differ by less than this, in seconds: their way takes time, and clocks drift.
  public static let toleranceSeconds: Int64 = 300

  /// Server's clock minus ours, in seconds; nil as long as no answer told it.
  public private(set) var offsetSeconds: Int64?
  /// The difference in the last answer, when it was too far from ``offsetSeconds`` to be believed; else nil.
  public private(set) var doubtedOffsetSeconds: Int64?

  public init(offsetSeconds: Int64? = nil, doubtedOffsetSeconds: Int64? = nil) {
    self.offsetSeconds = offsetSeconds
    self.doubtedOffsetSeconds = doubtedOffsetSeconds
  }

  /// An answer told this difference. The first one is believed; one that is further than ``toleranceSeconds`` from what
  /// is known is believed when the next one agrees with it.
  public mutating func hear(offsetSeconds told: Int64) {
    let isJump = offsetSeconds.map { Self.isFar(told, from: $0) } ?? false
    let isAlone = doubtedOffsetSeconds.map { Self.isFar(told, from: $0) } ?? true
    if isJump && isAlone {
      doubtedOffsetSeconds = told
    } else {
      offsetSeconds = told
      doubtedOffsetSeconds = nil
    }
  }

  private static func isFar(_ left: Int64, from right: Int64) -> Bool {
    // Saturating, as times from outside can be absurd.
    let distance = UnixTime(seconds: left).since(UnixTime(seconds: right))
    return distance > toleranceSeconds || distance < -toleranceSeconds
  }
}
