// Renewals without a caller (reliability.md, Renewal in the background): before a token is due (flows.md §8); once more
// after a renewal with an unknown outcome, while the provider may still accept the token; and again until renewed
// tokens can be stored.

public import EnrollRules

/// The next step of a renewal in the background.
public enum RenewalPlan: Equatable, Sendable {
  /// No renewal is needed unless the tokens or the state change.
  case nothing
  /// It is too early, or a failure requires a pause. Plan again at the time `until`.
  case wait(until: Instant)
  /// Call ``RenewalStep/renew(epochs:forced:for:)``; an audience is given only if the renewed tokens for that audience
  /// could not be stored.
  case renew(epoch: UInt64, for: TokenAudience? = nil)
}

extension RenewalStep {
  /// - Parameters:
  ///   - ahead: whether to renew before the token is due.
  ///   - jitter: one random byte, which stays the same while these tokens are used. The byte spreads over time the
  ///     renewals of different devices, and of processes that share the tokens.
  /// - Throws: the errors of the store.
  public func planRenewal(ahead: Bool, jitter: UInt8) throws(EnrollError) -> RenewalPlan {
    if let (epoch, audience) = unsavedRenewal() { return .renew(epoch: epoch, for: audience) }
    // Tokens that wait for the user's confirmation are not renewed.
    guard let record = try store.read(account), let epoch = record.epoch(for: nil), record.confirmed != nil,
      case .live(_, let tokens) = try context.session(),
      tokens.refreshToken != nil, record.accessRefused == nil
    else { return .nothing }
    let moment = clock.moment()
    let isOpen =
      record.renewalIntent != nil && renewals.backoff(with: record)?.followUp.isPending(at: moment) ?? false
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

  /// The renewed tokens that could not be stored: they are stored as soon as the disk accepts them (R30), even if the
  /// store cannot be read.
  /// - Returns: nil if there are no such tokens, or if other tokens replaced them.
  private func unsavedRenewal() -> (epoch: UInt64, audience: TokenAudience?)? {
    guard let waiting = unsaved.renewed else { return nil }
    guard let readable = try? store.read(account) else { return (waiting.epoch, waiting.audience) }
    if readable.tokenEpoch == waiting.epoch {
      return (readable.epoch(for: waiting.audience) ?? waiting.epoch, waiting.audience)
    }
    unsaved.forget()
    return nil
  }
}
