// When a token stops working, by two clocks: the date, and the monotonic clock of the boot in which it arrived.
// flows.md §8 calls the bands fresh, due and expired. Pure: time comes in as an argument.

/// One reading of the clock, taken together so that the parts agree.
public struct Moment: Equatable, Sendable {
  /// The date by the device's clock.
  public var wall: UnixTime
  /// The monotonic clock, which nobody can set.
  public var instant: Instant
  /// Names the boot to which ``instant`` belongs.
  public var bootID: String

  public init(wall: UnixTime, instant: Instant, bootID: String) {
    self.wall = wall
    self.instant = instant
    self.bootID = bootID
  }
}

extension Clock {
  /// All of the clock's readings, taken one after the other.
  public func moment() -> Moment { Moment(wall: wallTime(), instant: instant(), bootID: bootID()) }
}

/// A token's end. Within the boot in which the token arrived the monotonic deadline decides, so that setting the
/// device's date neither ends nor prolongs a session; after a reboot the date decides. So it does where the clock of the
/// boot says that more is left than there ever was: a time namespace, a checkpoint that was restored, or a virtual machine's
/// snapshot changes that clock under the same name.
public struct Expiry: Equatable, Sendable {
  /// By the device's clock when the token arrived.
  public var expiresAt: UnixTime
  /// The same by the monotonic clock of ``bootID``.
  public var deadline: Instant
  /// The boot in which the token arrived.
  public var bootID: String
  /// The whole life that the server gave.
  public var lifetimeSeconds: Int64

  public init(expiresAt: UnixTime, deadline: Instant, bootID: String, lifetimeSeconds: Int64) {
    self.expiresAt = expiresAt
    self.deadline = deadline
    self.bootID = bootID
    self.lifetimeSeconds = lifetimeSeconds
  }

  /// The end of a life that begins at `moment`.
  public init(lifetimeSeconds: Int64, from moment: Moment) {
    expiresAt = moment.wall + lifetimeSeconds
    deadline = moment.instant.advanced(bySeconds: lifetimeSeconds)
    bootID = moment.bootID
    self.lifetimeSeconds = lifetimeSeconds
  }

  /// Seconds left, rounded down, negative once expired.
  public func secondsLeft(at moment: Moment) -> Int64 {
    guard isTold(by: moment) else { return expiresAt.since(moment.wall) }
    let left = deadline.since(moment.instant)
    return left >= 0 ? left / 1_000_000_000 : (left + 1) / 1_000_000_000 - 1
  }

  /// Whether its end has come, to the nanosecond where the clock of this boot tells.
  func isOver(at moment: Moment) -> Bool {
    isTold(by: moment) ? moment.instant >= deadline : moment.wall.since(expiresAt) >= 0
  }

  /// How a token stands to its end (flows.md §8).
  public enum Band: String, Sendable {
    /// It is handed out as it is.
    case fresh
    /// It works, and is renewed before it is handed out.
    case due
    /// It does not work any more.
    case expired
  }

  /// Neither number may ask for more than the token ever had: no token is due in its first second, so that however short
  /// it lives, and whatever is asked for, not every call renews it.
  /// - Parameters:
  ///   - graceSeconds: how long before its end a token is due for renewal; at most half its life counts, and none of a life
  ///     of one or two seconds.
  ///   - minimumLifetimeSeconds: what the caller still needs; at most nine tenths of its life count, and never
  ///     its first second.
  public func band(at moment: Moment, graceSeconds: Int64 = 0, minimumLifetimeSeconds: Int64 = 0) -> Band {
    if isOver(at: moment) { return .expired }
    if isUnclear(at: moment) { return .due }
    let margin = margin(graceSeconds, minimumLifetimeSeconds)
    let isFresh =
      isTold(by: moment)
      ? Freshness.isLonger(deadline.since(moment.instant), than: margin) : secondsLeft(at: moment) > margin
    return isFresh ? .fresh : .due
  }

  /// More is left than there ever was, by the clock of the boot, or by a date that was set back since then.
  private func isUnclear(at moment: Moment) -> Bool {
    if moment.bootID == bootID { return !isTold(by: moment) }
    return expiresAt.since(moment.wall) > lifetimeSeconds
  }

  /// Whether the clock of the boot tells: it is the one by which the token arrived, and went on since then.
  private func isTold(by moment: Moment) -> Bool {
    moment.bootID == bootID && moment.instant.advanced(bySeconds: lifetimeSeconds) >= deadline
  }

  /// The band `fresh`, told by the monotonic clock alone for as long as this process lives: no date is read any more.
  public func freshness(at moment: Moment, graceSeconds: Int64) -> Freshness {
    Freshness(
      deadline: isTold(by: moment)
        ? deadline
        : moment.instant.advanced(bySeconds: isUnclear(at: moment) ? 0 : expiresAt.since(moment.wall)),
      lifetimeSeconds: lifetimeSeconds, graceMargin: graceMargin(graceSeconds), largestMargin: largestMargin)
  }

  /// How much of its life a fresh token must have left.
  private func margin(_ graceSeconds: Int64, _ minimumLifetimeSeconds: Int64) -> Int64 {
    max(graceMargin(graceSeconds), min(minimumLifetimeSeconds, largestMargin))
  }

  func graceMargin(_ graceSeconds: Int64) -> Int64 {
    lifetimeSeconds > 2 ? min(graceSeconds, lifetimeSeconds / 2) : 0
  }

  private var largestMargin: Int64 { max(lifetimeSeconds, 1) - max(lifetimeSeconds / 10, 1) }
}

/// When a token stops being fresh, reduced to three numbers: what is asked before every request of the host.
public struct Freshness: Equatable, Sendable {
  var deadline: Instant
  var lifetimeSeconds: Int64
  /// Seconds before the deadline at which the token is due for everybody.
  var graceMargin: Int64
  /// Seconds before it that a caller's wish can bring that forward to.
  var largestMargin: Int64

  /// To the nanosecond, so that the first second of a life is a whole one.
  static func isLonger(_ nanoseconds: Int64, than seconds: Int64) -> Bool {
    let whole = nanoseconds / 1_000_000_000
    return whole > seconds || (whole == seconds && nanoseconds % 1_000_000_000 > 0)
  }

  /// Whether ``Expiry/band(at:graceSeconds:minimumLifetimeSeconds:)`` would say `fresh`.
  public func holds(at instant: Instant, minimumLifetimeSeconds: Int64) -> Bool {
    let left = deadline.since(instant)
    return Self.isLonger(left, than: max(graceMargin, min(minimumLifetimeSeconds, largestMargin)))
      && left / 1_000_000_000 <= lifetimeSeconds
  }
}
