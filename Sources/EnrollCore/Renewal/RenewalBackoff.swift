// When a renewal that failed may be tried again: bounded, jittered, never a hot loop (R33). Pure; it is kept in the account's
// record, so that all processes keep to it.

/// Failures of renewal in a row, without an OAuth error about the session.
public struct RenewalBackoff: Equatable, Sendable {
  /// How long after the first failure a renewal whose outcome is unknown is tried again unasked. Providers' grace is about
  /// as long.
  static let followUpSeconds: Int64 = 60

  /// Consecutive failures, 30 at most.
  public var failures: Int
  /// No request is sent before its end.
  public var pause: Expiry
  /// Runs a minute from the first failure.
  public var followUp: Expiry
  /// When the first of these failures happened, by the device's clock.
  public var offlineSince: UnixTime
  /// The last failure.
  public var error: EnrollError

  public init(failures: Int, pause: Expiry, followUp: Expiry, offlineSince: UnixTime, error: EnrollError) {
    self.failures = failures
    self.pause = pause
    self.followUp = followUp
    self.offlineSince = offlineSince
    self.error = error
  }

  /// After one more failure.
  /// - Parameter jitter: one random byte.
  public init(after before: RenewalBackoff?, _ error: EnrollError, at moment: Moment, jitter: UInt8) {
    let failures = min((before?.failures ?? 0) + 1, 30)
    let delay = RetryPolicy.delayNanoseconds(
      attempt: failures, retryAfterSeconds: error.retryAfterSeconds, jitter: jitter)
    self.init(
      failures: failures, pause: Expiry(lifetimeNanoseconds: delay, from: moment),
      followUp: before?.followUp ?? Expiry(lifetimeSeconds: Self.followUpSeconds, from: moment),
      offlineSince: before?.offlineSince ?? moment.wall, error: error)
  }

  /// Whether the last answer was that of a server where no token endpoint is, or no longer (RFC 9110 §15.4, §15.5): the
  /// provider may have announced another one since its metadata was fetched.
  private var hasMoved: Bool {
    error.httpStatus.map { (300..<400).contains($0) || [404, 405, 410, 421].contains($0) } ?? false
  }

  /// Whether the metadata is asked for again before the next try: at once where the endpoint seems to have moved, else where the
  /// failure repeats itself. A server in the old place may answer anything, or nothing.
  var metadataDoubt: DocumentDoubt { hasMoved ? .certain : failures > 1 ? .onceOld : .none }

  /// Whether no word of the provider's asks for the pause: nobody answered as a token endpoint does, or a server is in
  /// trouble and does not say for how long.
  private var isOutage: Bool {
    guard let status = error.httpStatus else {
      return [.network, .timeout, .tls, .responseInvalid].contains(error.code)
    }
    return status >= 500 && error.retryAfterSeconds == nil
  }

  /// Whether a failure says something about the provider or the way to it. A library or memory that this process lacks,
  /// other processes may have.
  static func isShared(_ error: EnrollError) -> Bool {
    error.httpStatus != nil || ![.unsupported, .busy, .outOfMemory, .internal].contains(error.code)
  }

  /// The pause for somebody who wants to try now: of a long one the first second or two.
  private var briefPause: Expiry {
    let saved = max(pause.lifetimeSeconds - 2, 0)
    return Expiry(
      expiresAt: pause.expiresAt + -saved, deadline: pause.deadline.advanced(bySeconds: -saved),
      bootID: pause.bootID, lifetimeSeconds: pause.lifetimeSeconds - saved)
  }

  /// Seconds until another try is allowed, rounded up; nil when one is allowed now.
  /// - Parameter forced: a user wants to try again, who may know more than the pause does of an outage.
  public func secondsToWait(at moment: Moment, forced: Bool = false) -> Int64? {
    let pause = forced && isOutage ? briefPause : pause
    guard pause.isPending(at: moment) else { return nil }
    let whole = pause.secondsLeft(at: moment)
    let then = Moment(
      wall: moment.wall + whole, instant: moment.instant.advanced(bySeconds: whole), bootID: moment.bootID)
    return pause.isOver(at: then) ? whole : whole + 1
  }
}

extension Expiry {
  /// A pause; its seconds are rounded up.
  init(lifetimeNanoseconds: Int64, from moment: Moment) {
    self.init(lifetimeSeconds: (lifetimeNanoseconds + 999_999_999) / 1_000_000_000, from: moment)
    deadline = moment.instant.advanced(byNanoseconds: lifetimeNanoseconds)
  }

  /// Whether its end is still to come, to the nanosecond where the clock of this boot tells. A clock that was set back, so
  /// that more is left than there ever was, ends it.
  func isPending(at moment: Moment) -> Bool {
    !isOver(at: moment) && secondsLeft(at: moment) <= lifetimeSeconds
  }
}
