// A server's clock, as its responses show it (R25). One response may be wrong: a cache returns an old date, or a node
// of a cluster has a wrong clock. So a jump counts only after a second response confirms it.

/// A server's clock, stored as its difference from a clock of this machine.
public struct ServerClock: Equatable, Sendable {
  /// The tolerated difference between the dates of one server's responses, in seconds: responses take time, and clocks
  /// drift.
  public static let toleranceSeconds: Int64 = 300

  /// The server's clock minus this machine's clock, in seconds; nil until a response had a date.
  public private(set) var offsetSeconds: Int64?
  /// The clock offset that the last response showed, if it was too far from ``offsetSeconds`` to be accepted; else nil.
  public private(set) var doubtedOffsetSeconds: Int64?

  public init(offsetSeconds: Int64? = nil, doubtedOffsetSeconds: Int64? = nil) {
    self.offsetSeconds = offsetSeconds
    self.doubtedOffsetSeconds = doubtedOffsetSeconds
  }

  /// Takes into account the clock offset that a response shows. The first offset is accepted. An offset that differs
  /// from the known offset by more than ``toleranceSeconds`` is accepted only after the next response confirms it.
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
    // The subtraction saturates, because a server may send an absurd time.
    let distance = UnixTime(seconds: left).since(UnixTime(seconds: right))
    return distance > toleranceSeconds || distance < -toleranceSeconds
  }
}
