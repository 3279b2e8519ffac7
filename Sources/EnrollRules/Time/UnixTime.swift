// The two kinds of time that the rules use: whole seconds since 1970, as in protocols, and a monotonic instant within
// one boot. Arithmetic saturates instead of overflowing, because a server can send an absurd lifetime (R32).

/// Seconds since 1970-01-01T00:00:00Z.
public struct UnixTime: Equatable, Hashable, Comparable, Sendable {
  /// Seconds since 1970-01-01T00:00:00Z; negative for earlier times.
  public var seconds: Int64

  /// A time in seconds after 1970-01-01T00:00:00Z.
  public init(seconds: Int64) { self.seconds = seconds }

  public static func < (left: UnixTime, right: UnixTime) -> Bool { left.seconds < right.seconds }

  /// A later time; it saturates instead of overflowing.
  public static func + (time: UnixTime, seconds: Int64) -> UnixTime {
    let (sum, overflow) = time.seconds.addingReportingOverflow(seconds)
    return UnixTime(seconds: overflow ? (seconds > 0 ? .max : .min) : sum)
  }

  /// An earlier time; it saturates instead of overflowing.
  public static func - (time: UnixTime, seconds: Int64) -> UnixTime {
    seconds == .min ? time + .max : time + -seconds
  }

  /// Seconds from `other` to `self`.
  public func since(_ other: UnixTime) -> Int64 {
    let (difference, overflow) = seconds.subtractingReportingOverflow(other.seconds)
    return overflow ? (seconds > other.seconds ? .max : .min) : difference
  }
}

/// A time in nanoseconds since boot, by a clock that nobody can set and that continues while the machine is suspended.
public struct Instant: Equatable, Hashable, Comparable, Sendable {
  /// Nanoseconds since boot.
  public var nanoseconds: Int64

  /// A time of the monotonic clock; it can only be compared with times of the same boot.
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

  /// An instant that is later than every other instant, for a wait without a deadline.
  public static let distantFuture = Instant(nanoseconds: .max)

  /// A later instant; it saturates instead of overflowing.
  public func advanced(bySeconds seconds: Int64) -> Instant {
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return advanced(byNanoseconds: overflow ? (seconds > 0 ? .max : .min) : scaled)
  }

  /// A later instant; it saturates instead of overflowing.
  public func advanced(byNanoseconds amount: Int64) -> Instant {
    let (sum, overflow) = nanoseconds.addingReportingOverflow(amount)
    return Instant(nanoseconds: overflow ? (amount > 0 ? .max : .min) : sum)
  }

  /// Nanoseconds from `other` to `self`, negative if `other` is later.
  public func since(_ other: Instant) -> Int64 {
    let (difference, overflow) = nanoseconds.subtractingReportingOverflow(other.nanoseconds)
    return overflow ? (nanoseconds > other.nanoseconds ? .max : .min) : difference
  }
}
