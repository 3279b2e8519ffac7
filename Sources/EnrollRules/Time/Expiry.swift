// Says when a token expires, by two clocks: the date, and the monotonic clock of the boot in which the token was
// received. A token is in one of three bands, which flows.md §8 calls fresh, due and expired. All functions are pure:
// time is an argument.

/// One reading of the device's clocks.
public struct Moment: Equatable, Sendable {
  /// The date by the device's clock.
  public var wall: UnixTime
  /// The monotonic clock, which cannot be set.
  public var instant: Instant
  /// The id of the boot to which ``instant`` belongs.
  public var bootID: String

  public init(wall: UnixTime, instant: Instant, bootID: String) {
    self.wall = wall
    self.instant = instant
    self.bootID = bootID
  }
}

/// A token's expiry. Within the boot in which the token was received, the monotonic deadline decides, so that setting
/// the device's date neither ends nor prolongs a session. After a reboot the date decides. The date also decides if the
/// monotonic clock says that more time is left than the whole lifetime: a time namespace, a restored checkpoint or a
/// virtual machine's snapshot changes that clock without changing the boot's id.
public struct Expiry: Equatable, Sendable {
  /// The date at which the token expires, computed with the device's clock as it was when the token was received.
  public var expiresAt: UnixTime
  /// When the token expires, by the monotonic clock of the boot ``bootID``.
  public var deadline: Instant
  /// The boot in which the token was received.
  public var bootID: String
  /// The token's whole lifetime in seconds, as the server stated it.
  public var lifetimeSeconds: Int64

  public init(expiresAt: UnixTime, deadline: Instant, bootID: String, lifetimeSeconds: Int64) {
    self.expiresAt = expiresAt
    self.deadline = deadline
    self.bootID = bootID
    self.lifetimeSeconds = lifetimeSeconds
  }

  /// Makes the expiry of a token whose lifetime begins at `moment`.
  public init(lifetimeSeconds: Int64, from moment: Moment) {
    expiresAt = moment.wall + lifetimeSeconds
    deadline = moment.instant.advanced(bySeconds: lifetimeSeconds)
    bootID = moment.bootID
    self.lifetimeSeconds = lifetimeSeconds
  }

  /// The number of seconds until the token expires, rounded down; negative after that.
  public func secondsLeft(at moment: Moment) -> Int64 {
    guard isTold(by: moment) else { return expiresAt.since(moment.wall) }
    let left = deadline.since(moment.instant)
    return left >= 0 ? left / 1_000_000_000 : (left + 1) / 1_000_000_000 - 1
  }

  /// The largest difference, in seconds, between two computations of one date: the date is read in whole seconds, and
  /// not in the same instant as the monotonic clock.
  private static let roundingSeconds: Int64 = 2

  /// The date at which the token expires, by the device's clock as it is at `moment`. It differs from ``expiresAt`` if
  /// the date was set after the token was received.
  package func date(at moment: Moment) -> UnixTime {
    // An absurd lifetime has no end by the monotonic clock.
    guard deadline < .distantFuture else { return expiresAt }
    let date = moment.wall + secondsLeft(at: moment)
    let change = date.since(expiresAt)
    return change > Self.roundingSeconds || change < -Self.roundingSeconds ? date : expiresAt
  }

  /// Whether the lifetime has ended. The comparison is exact to the nanosecond if the monotonic clock decides.
  package func isOver(at moment: Moment) -> Bool {
    isTold(by: moment) ? moment.instant >= deadline : moment.wall.since(expiresAt) >= 0
  }

  /// How near a token is to its expiry (flows.md §8).
  public enum Band: String, Sendable {
    /// The token is used as it is.
    case fresh
    /// The token works, and is renewed before it is used.
    case due
    /// The token does not work any more.
    case expired
  }

  /// The band of the token at `moment`. Whatever the parameters are, no token is due in its first second (R32).
  /// Otherwise every call would renew a token whose lifetime is short, or shorter than the time for which the caller
  /// needs the token.
  /// - Parameters:
  ///   - graceSeconds: how long before its end a token is due for renewal; at most half the lifetime counts,
  ///     and 0 for a lifetime of one or two seconds.
  ///   - minimumLifetimeSeconds: how long the caller needs the token; at most nine tenths of the lifetime count, and
  ///     never its first second.
  public func band(at moment: Moment, graceSeconds: Int64 = 0, minimumLifetimeSeconds: Int64 = 0) -> Band {
    if isOver(at: moment) { return .expired }
    if isUnclear(at: moment) { return .due }
    let margin = margin(graceSeconds, minimumLifetimeSeconds)
    let isFresh =
      isTold(by: moment)
      ? Freshness.isLonger(deadline.since(moment.instant), than: margin) : secondsLeft(at: moment) > margin
    return isFresh ? .fresh : .due
  }

  /// Whether more time seems to be left than the whole lifetime, because a clock went back. In the token's boot the
  /// monotonic clock counts; after a reboot, the date.
  private func isUnclear(at moment: Moment) -> Bool {
    if moment.bootID == bootID { return !isTold(by: moment) }
    return expiresAt.since(moment.wall) > lifetimeSeconds
  }

  /// Whether the monotonic clock decides. It decides in the boot in which the token was received, unless this clock now
  /// shows a time before the token was received.
  private func isTold(by moment: Moment) -> Bool {
    moment.bootID == bootID && moment.instant.advanced(bySeconds: lifetimeSeconds) >= deadline
  }

  /// How long the token stays `fresh`, by the monotonic clock only. With the result, a later check need not read the
  /// date.
  public func freshness(at moment: Moment, graceSeconds: Int64) -> Freshness {
    Freshness(
      deadline: isTold(by: moment)
        ? deadline
        : moment.instant.advanced(bySeconds: isUnclear(at: moment) ? 0 : expiresAt.since(moment.wall)),
      lifetimeSeconds: lifetimeSeconds, graceMargin: graceMargin(graceSeconds), largestMargin: largestMargin)
  }

  /// For how many more seconds a fresh token must be valid.
  private func margin(_ graceSeconds: Int64, _ minimumLifetimeSeconds: Int64) -> Int64 {
    max(graceMargin(graceSeconds), min(minimumLifetimeSeconds, largestMargin))
  }

  func graceMargin(_ graceSeconds: Int64) -> Int64 {
    lifetimeSeconds > 2 ? min(graceSeconds, lifetimeSeconds / 2) : 0
  }

  private var largestMargin: Int64 { max(lifetimeSeconds, 1) - max(lifetimeSeconds / 10, 1) }
}

/// The time at which a token stops being fresh, as a few numbers that are quick to compare, because every request of
/// the host checks this time.
public struct Freshness: Equatable, Sendable {
  var deadline: Instant
  var lifetimeSeconds: Int64
  /// How many seconds before the deadline the token becomes due for every caller.
  var graceMargin: Int64
  /// The largest number of seconds before the deadline at which a caller's minimum lifetime can make the token due.
  var largestMargin: Int64

  /// Whether the time is longer than this many seconds. The comparison is exact to the nanosecond, so that a token is
  /// fresh for its whole first second.
  static func isLonger(_ nanoseconds: Int64, than seconds: Int64) -> Bool {
    let whole = nanoseconds / 1_000_000_000
    return whole > seconds || (whole == seconds && nanoseconds % 1_000_000_000 > 0)
  }

  /// Whether ``Expiry/band(at:graceSeconds:minimumLifetimeSeconds:)`` is `fresh`.
  public func holds(at instant: Instant, minimumLifetimeSeconds: Int64) -> Bool {
    let left = deadline.since(instant)
    return Self.isLonger(left, than: max(graceMargin, min(minimumLifetimeSeconds, largestMargin)))
      && left / 1_000_000_000 <= lifetimeSeconds
  }
}

extension Expiry {
  /// The number of seconds until a renewal in the background; 0 or less means now. Such a renewal takes place before
  /// the token is due: earlier by up to a tenth of the lifetime, and by five minutes at most.
  package func secondsUntilAhead(at moment: Moment, graceSeconds: Int64, jitter: UInt8) -> Int64 {
    guard band(at: moment, graceSeconds: graceSeconds) == .fresh else { return 0 }
    let spread = min(lifetimeSeconds / 10, 300)
    return secondsLeft(at: moment) - graceMargin(graceSeconds) - spread * (Int64(jitter) + 1) / 256 - 1
  }
}

extension Expiry {
  /// The deadline by the clock of this boot; nil if it is not certain. It is certain if the token was received in this
  /// boot, and if by both clocks some time is left, but not more than the whole lifetime. A changed date may break this
  /// rule.
  func certainEnd(at moment: Moment) -> Instant? {
    guard moment.bootID == bootID else { return nil }
    let life = lifetimeSeconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (left, leftByDate) = (deadline.since(moment.instant), expiresAt.since(moment.wall))
    guard !life.overflow, left > 0, left <= life.partialValue, leftByDate > 0, leftByDate <= lifetimeSeconds
    else { return nil }
    return deadline
  }
}
