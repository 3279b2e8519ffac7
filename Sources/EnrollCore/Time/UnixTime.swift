// Time as protocols speak of it: whole seconds since 1970, and a monotonic instant within one boot.
// Arithmetic saturates: a lifetime from outside can be absurd (R32).

/// Seconds since 1970-01-01T00:00:00Z.
public struct UnixTime: Equatable, Hashable, Comparable, Sendable {
  /// Seconds since 1970-01-01T00:00:00Z, negative before.
  public var seconds: Int64

  /// A time so many seconds after 1970-01-01T00:00:00Z.
  public init(seconds: Int64) { self.seconds = seconds }

  public static func < (left: UnixTime, right: UnixTime) -> Bool { left.seconds < right.seconds }

  /// So many seconds later; stays at the end of the range instead of overflowing.
  public static func + (time: UnixTime, seconds: Int64) -> UnixTime {
    let (sum, overflow) = time.seconds.addingReportingOverflow(seconds)
    return UnixTime(seconds: overflow ? (seconds > 0 ? .max : .min) : sum)
  }

  /// So many seconds earlier; stays at the end of the range instead of overflowing.
  public static func - (time: UnixTime, seconds: Int64) -> UnixTime {
    seconds == .min ? time + .max : time + -seconds
  }

  /// Seconds from `other` to `self`.
  public func since(_ other: UnixTime) -> Int64 {
    let (difference, overflow) = seconds.subtractingReportingOverflow(other.seconds)
    return overflow ? (seconds > other.seconds ? .max : .min) : difference
  }
}

/// A point on the clock that runs from boot, through suspend, and is never set: nanoseconds since boot.
public struct Instant: Equatable, Hashable, Comparable, Sendable {
  /// Nanoseconds since boot.
  public var nanoseconds: Int64

  /// A point of the monotonic clock; only its distance from another one of the same boot means anything.
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

  /// Later than every other: a wait without an end.
  public static let distantFuture = Instant(nanoseconds: .max)

  /// So many seconds later; stays at the end of the range instead of overflowing.
  public func advanced(bySeconds seconds: Int64) -> Instant {
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return advanced(byNanoseconds: overflow ? (seconds > 0 ? .max : .min) : scaled)
  }

  /// So many nanoseconds later; stays at the end of the range instead of overflowing.
  public func advanced(byNanoseconds amount: Int64) -> Instant {
    let (sum, overflow) = nanoseconds.addingReportingOverflow(amount)
    return Instant(nanoseconds: overflow ? (amount > 0 ? .max : .min) : sum)
  }

  /// Nanoseconds from `other` to `self`, negative when `other` is later.
  public func since(_ other: Instant) -> Int64 {
    let (difference, overflow) = nanoseconds.subtractingReportingOverflow(other.nanoseconds)
    return overflow ? (nanoseconds > other.nanoseconds ? .max : .min) : difference
  }
}
