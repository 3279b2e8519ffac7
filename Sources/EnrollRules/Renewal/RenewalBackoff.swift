// Decides when a failed renewal may be tried again (R33): after a pause that has a limit and some jitter, never in a
// hot loop. This code has no side effects. The backoff is stored in the account's record, so that all processes respect
// it.

/// The state of the renewals that failed in a row. OAuth errors about the session do not count as failures here.
public struct RenewalBackoff: Equatable, Sendable {
  /// For this number of seconds after the first failure, a renewal with an unknown outcome is repeated even if no
  /// caller asks for a token. Providers accept a replaced refresh token for about this time.
  static let followUpSeconds: Int64 = 60

  /// The number of failures in a row, 30 at most.
  public var failures: Int
  /// No request for a renewal is sent before this pause ends.
  public var pause: Expiry
  /// The time in which a renewal with an unknown outcome is repeated: it ends a minute after the first failure.
  public var followUp: Expiry
  /// When the first of these failures happened, by the device's clock.
  public var offlineSince: UnixTime
  /// The error of the last failure, without its field and its remedy: a record does not store them.
  public private(set) var error: EnrollError

  public init(failures: Int, pause: Expiry, followUp: Expiry, offlineSince: UnixTime, error: EnrollError) {
    self.failures = failures
    self.pause = pause
    self.followUp = followUp
    self.offlineSince = offlineSince
    self.error = EnrollError(
      error.code, error.message, httpStatus: error.httpStatus, oauthError: error.oauthError,
      oauthErrorDescription: error.oauthErrorDescription, retryAfterSeconds: error.retryAfterSeconds)
  }

  /// The backoff after one more failure.
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

  /// Whether the last response's status means that its URL is no token endpoint (RFC 9110 §15.4, §15.5). The provider
  /// may have announced another endpoint since its metadata was fetched.
  private var hasMoved: Bool {
    error.httpStatus.map { (300..<400).contains($0) || [404, 405, 410, 421].contains($0) } ?? false
  }

  /// Whether the metadata is fetched again before the next attempt: at once if the endpoint seems to have moved,
  /// otherwise only if the failure repeats. A server at the old URL may send any response, or no response.
  package var metadataDoubt: DocumentDoubt { hasMoved ? .certain : failures > 1 ? .onceOld : .none }

  /// Whether EnrollKit chose the pause, not the provider: no server responded like a token endpoint, or a server has
  /// a problem and sent no Retry-After.
  private var isOutage: Bool {
    guard let status = error.httpStatus else {
      return [.network, .timeout, .tls, .responseInvalid].contains(error.code)
    }
    return status >= 500 && error.retryAfterSeconds == nil
  }

  /// Whether a failure concerns the provider or the network. If this process lacks a library or memory, other processes
  /// may have them.
  package static func isShared(_ error: EnrollError) -> Bool {
    error.httpStatus != nil || ![.unsupported, .busy, .outOfMemory, .internal].contains(error.code)
  }

  /// The pause that applies if a user wants to try now: only the first two seconds of ``pause``, or all of a shorter
  /// pause.
  private var briefPause: Expiry {
    let saved = max(pause.lifetimeSeconds - 2, 0)
    return Expiry(
      expiresAt: pause.expiresAt + -saved, deadline: pause.deadline.advanced(bySeconds: -saved),
      bootID: pause.bootID, lifetimeSeconds: pause.lifetimeSeconds - saved)
  }

  /// Seconds until another attempt is allowed, rounded up; nil if an attempt is allowed now.
  /// - Parameter forced: whether a user wants to try again; the user may know that an outage is over.
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
  /// Makes a pause. Its length in seconds is rounded up; its deadline is exact.
  package init(lifetimeNanoseconds: Int64, from moment: Moment) {
    self.init(lifetimeSeconds: (lifetimeNanoseconds + 999_999_999) / 1_000_000_000, from: moment)
    deadline = moment.instant.advanced(byNanoseconds: lifetimeNanoseconds)
  }

  /// Whether the pause still lasts. The comparison is exact to the nanosecond if the monotonic clock decides. If a
  /// clock was set back, so that more time is left than the whole lifetime, the pause is over.
  package func isPending(at moment: Moment) -> Bool {
    !isOver(at: moment) && secondsLeft(at: moment) <= lifetimeSeconds
  }
}
