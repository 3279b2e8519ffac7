// Renewals without a caller (reliability.md, Renewal in the background): ahead of need (flows.md §8); once more after one
// whose outcome is not known, while the provider may still take the token again; and until the disk takes what one brought.

extension Engine {
  /// The next step of a renewal in the background.
  public enum RenewalPlan: Equatable, Sendable {
    /// There is nothing that could be renewed, until something changes.
    case nothing
    /// Too early, or barred by a failure: look again then.
    case wait(until: Instant)
    /// Run ``renew(epochs:forced:for:)``; only what could not be stored may be for an audience.
    case renew(epoch: UInt64, for: TokenAudience? = nil)
  }

  /// - Parameters:
  ///   - ahead: also before there is need.
  ///   - jitter: one random byte, the same for the life of these tokens: processes that share them do not all come at
  ///     once, and neither do devices.
  /// - Throws: store errors.
  public func planRenewal(ahead: Bool, jitter: UInt8) throws(EnrollError) -> RenewalPlan {
    if let (epoch, audience) = unsavedRenewal() { return .renew(epoch: epoch, for: audience) }
    // Tokens that wait for confirmation are nobody's to renew.
    guard let record = try store.read(account), let epoch = record.epoch(for: nil), record.confirmed != nil,
      case .live(_, let tokens) = try session(),
      tokens.refreshToken != nil, record.accessRefused == nil
    else { return .nothing }
    let moment = clock.moment()
    let isOpen = record.renewalIntent != nil && backoff(record)?.followUp.isPending(at: moment) ?? false
    guard ahead || isOpen else { return .nothing }
    if let barred = barred(record) {
      return .wait(until: moment.instant.advanced(bySeconds: barred.error?.retryAfterSeconds ?? 1))
    }
    if isOpen { return .renew(epoch: epoch) }
    let early = tokens.renewalEnd(of: tokens.expiry, at: moment).secondsUntilAhead(
      at: moment, graceSeconds: configuration.graceSeconds, jitter: jitter)
    return early > 0
      ? .wait(until: moment.instant.advanced(bySeconds: early)) : .renew(epoch: epoch)
  }

  /// Stores renewed tokens that could not be stored, as soon as the disk takes them (R30), even if the store could not be
  /// read.
  /// - Returns: nil if there are no such tokens, or if others replaced them.
  private func unsavedRenewal() -> (epoch: UInt64, audience: TokenAudience?)? {
    guard let unsaved = memory.withLock({ $0.unsaved }) else { return nil }
    guard let readable = try? store.read(account) else { return (unsaved.epoch, unsaved.audience) }
    if readable.tokenEpoch == unsaved.epoch {
      return (readable.epoch(for: unsaved.audience) ?? unsaved.epoch, unsaved.audience)
    }
    forgetUnsaved()
    return nil
  }
}

extension Expiry {
  /// Seconds until a renewal ahead of need: the token is not due yet then, and has up to a tenth of its life, five
  /// minutes at most, until it is. 0 or less: now.
  func secondsUntilAhead(at moment: Moment, graceSeconds: Int64, jitter: UInt8) -> Int64 {
    guard band(at: moment, graceSeconds: graceSeconds) == .fresh else { return 0 }
    let spread = min(lifetimeSeconds / 10, 300)
    return secondsLeft(at: moment) - graceMargin(graceSeconds) - spread * (Int64(jitter) + 1) / 256 - 1
  }
}

extension RenewalResult {
  fileprivate var error: EnrollError? {
    switch self {
    case .unavailable(let error), .rejected(let error): error
    case .renewed, .reauthenticate: nil
    }
  }
}
