// A refresh token that the provider refused: the session ends, or goes on and waits (RenewalJudgement decides which).

import EnrollCrypto

extension Engine {
  /// Carries out the verdict on a refusal.
  /// - Parameter endpoint: the token endpoint that refused.
  func refused(
    by given: EnrollError, _ verdict: RenewalVerdict, _ renewal: Renewal, at endpoint: String, sent: Moment
  ) throws(EnrollError) -> RenewalResult {
    let epoch = renewal.epoch
    var error = withRegistration(given)
    let reason = error.oauthError ?? "the provider refused with status \(error.httpStatus ?? 0)"
    var refusal = RenewalRefusal(
      pause: Expiry(lifetimeSeconds: Self.refusalPauseSeconds, from: sent),
      httpStatus: error.httpStatus ?? 0, oauthError: error.oauthError, began: sent.wall)
    if let audience = renewal.audience {
      guard try keep(refusal, of: audience, epoch: epoch) else { return try replaced(for: audience) }
      return .rejected(error.concerning(audience))
    }
    let isAboutAudience = error.isAboutScopes || error.isAboutTarget
    if isAboutAudience, renewal.session.tokens.lastAudience(at: epoch) != nil {
      try remember(narrowing: [], epoch: epoch)
    }
    let earlier = try store.read(account)?.refusal.flatMap { $0.isSame(as: refusal) ? $0 : nil }
    let isRepeated = earlier?.pause.band(at: sent) == .expired
    if verdict == .ends || verdict == .endsIfRepeated && isRepeated {
      let reason = verdict == .ends ? reason : "refused twice: \(reason)"
      let present: ProviderMetadata?
      do throws(EnrollError) {
        present = try believedMetadata(since: earlier?.began)
      } catch {
        try requireNotClosing()
        return .unavailable(
          error.saying("the provider refused the refresh token (\(reason)), but: \(error.message)"))
      }
      if let present {
        guard renewal.isAtNewEndpoint || ASCII.equals(present.tokenEndpoint, endpoint) else {
          return try askAtNewEndpoint(renewal, metadata: present)
        }
        let bound = verdict == .ends ? tokensOfBoundSession(renewal, sent: sent) : nil
        if bound != nil { try remember(narrowing: [], epoch: epoch) }
        let result = try endSession(reason, epoch: epoch)
        if let bound, case .reauthenticate = result { revokeUnkept([bound]) }
        return result
      }
      error = error.saying(
        "\(error.message); the session goes on, because the provider's metadata comes out of a cache from before the refusal"
      )
    }
    let record = try store.update(account) { record throws(EnrollError) in
      guard record.tokenEpoch == epoch else { return }
      record.renewalIntent = nil
      record.backoff = nil
      if let before = record.refusal, before.isSame(as: refusal) {
        guard before.pause.band(at: sent) != .fresh else { return }
        refusal.began = before.began ?? refusal.began
        refusal.isRepeated = before.pause.band(at: sent) == .expired
      }
      record.refusal = refusal
    }
    return .rejected(error.advised(by: refusal, record, at: clock.moment()))
  }

  /// The provider's metadata as it is now: a session ends only by the word of the provider that it is at. Behind a wrong host name for
  /// a while, another one refuses every token, and would be refused at a sign-in.
  /// - Parameter refused: when the provider began to refuse so; nil: now.
  /// - Returns: nil where a cache answered for the provider with a document from before that.
  private func believedMetadata(since refused: UnixTime?) throws(EnrollError) -> ProviderMetadata? {
    let (metadata, age) = try provider.requireIssuer(serverTime: knownServerTime(), cancellation: closing)
    guard age == 0 || refused.map({ clock.wallTime().since($0) > age }) ?? false else { return nil }
    return metadata
  }

  /// The endpoint that refused is not the provider's any more: the present one is asked, once.
  private func askAtNewEndpoint(
    _ renewal: Renewal, metadata: ProviderMetadata
  ) throws(EnrollError) -> RenewalResult {
    guard let refreshToken = renewal.session.tokens.refreshToken,
      try isCurrent(refreshToken, of: renewal)
    else { return try replaced(for: renewal.audience) }
    var renewal = renewal
    renewal.isAtNewEndpoint = true
    return try send(refreshToken, of: renewal, metadata: metadata)
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
  /// Whether a resource is refused (RFC 8707 §2).
  var isAboutTarget: Bool { oauthError.map { ASCII.equals($0, "invalid_target") } ?? false }

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
