// A refresh token that the provider refused: the session ends, or goes on and waits (RenewalJudgement decides which).

import EnrollCrypto

extension Engine {
  /// Carries out the verdict on a refusal.
  func refused(
    by given: EnrollError, _ verdict: RenewalVerdict, _ renewal: Renewal, sent: Moment
  ) throws(EnrollError) -> RenewalResult {
    let epoch = renewal.epoch
    let error = withRegistration(given)
    let reason = error.oauthError ?? "the provider refused with status \(error.httpStatus ?? 0)"
    if verdict == .ends, renewal.audience == nil { return try believed(reason, epoch: epoch) }
    var refusal = RenewalRefusal(
      pause: Expiry(lifetimeSeconds: Self.refusalPauseSeconds, from: sent),
      httpStatus: error.httpStatus ?? 0, oauthError: error.oauthError)
    if let audience = renewal.audience {
      guard try keep(refusal, of: audience, epoch: epoch) else { return try replaced(for: audience) }
      return .rejected(error.concerning(audience))
    }
    var hasEnded = false
    let record = try store.update(account) { record throws(EnrollError) in
      guard record.tokenEpoch == epoch else { return }
      record.renewalIntent = nil
      record.backoff = nil
      let isAgain = record.refusal.map { $0.isSame(as: refusal) } ?? false
      switch record.refusal?.pause.band(at: sent) {
      case .fresh where isAgain: return
      case .expired where isAgain && verdict == .endsIfRepeated: hasEnded = true
      case .expired where isAgain:
        refusal.isRepeated = true
        record.refusal = refusal
      default: record.refusal = refusal
      }
    }
    guard !hasEnded else { return try believed("refused twice: \(reason)", epoch: epoch) }
    return .rejected(error.advised(by: refusal, record, at: clock.moment()))
  }

  /// Ends the session, if the provider is the one that the session is at: behind a wrong host name for a while, it refuses every
  /// token, and would be refused at a sign-in.
  private func believed(_ reason: String, epoch: UInt64) throws(EnrollError) -> RenewalResult {
    do throws(EnrollError) {
      try provider.requireIssuer(cancellation: closing)
    } catch {
      try requireNotClosing()
      return .unavailable(
        error.saying("the provider refused the refresh token (\(reason)), but: \(error.message)"))
    }
    return try endSession(reason, epoch: epoch)
  }

  /// The one place that ends a session. The record is kept for diagnosis; tokens that took the place of these live on (R34).
  /// - Parameter tokens: those that the record is to have; nil: those that it has.
  func endSession(
    _ reason: String, epoch: UInt64, restoring tokens: TokenSet? = nil
  ) throws(EnrollError) -> RenewalResult {
    let record = try store.update(account) { record throws(EnrollError) in
      guard record.tokenEpoch == epoch else { return }
      if let tokens { record.confirmed = tokens }
      record.sessionEnded = reason
      record.renewalIntent = nil
      record.confirmed?.audiences = AudienceTokens()
      record.advanceEpoch()
    }
    if record.confirmed != nil, record.sessionEnded == nil { return .renewed }
    return .reauthenticate(record.sessionEnded ?? reason)
  }
}

extension EnrollError {
  /// Where the provider goes on refusing and the access token has ended, nothing but another sign-in gets a token, whatever the
  /// provider's word for it is: some call a session that is over an invalid request or an unknown client. The session is
  /// kept all the same: the provider may change its mind.
  func advised(by refusal: RenewalRefusal, _ record: AccountRecord, at moment: Moment)
    -> EnrollError
  {
    guard refusal.isRepeated, let tokens = record.confirmed, !tokens.isUsable(at: moment) else { return self }
    return saying(message + "; it has refused so for a minute or more. Sign in again").helped(
      by: .registerAgain)
  }
}

extension RenewalRefusal {
  func error(at moment: Moment) -> EnrollError {
    EnrollError(
      .rejected, "the provider refused to renew a moment ago", httpStatus: httpStatus, oauthError: oauthError,
      retryAfterSeconds: max(1, pause.secondsLeft(at: moment)))
  }

  fileprivate func isSame(as other: RenewalRefusal) -> Bool {
    httpStatus == other.httpStatus && oauthError == other.oauthError
  }
}
