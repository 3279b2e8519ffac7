// After the provider refused a refresh token, the session ends, or continues after a pause (R34; RenewalJudgement decides).

import EnrollRules

extension RenewalStep {
  /// Applies the decision of ``RenewalJudgement`` about a refusal.
  /// - Parameter endpoint: the token endpoint that refused.
  func refused(
    by given: EnrollError, _ verdict: RenewalVerdict, _ renewal: Renewal, at endpoint: String, sent: Moment
  ) throws(EnrollError) -> RenewalResult {
    let epoch = renewal.epoch
    var error = context.withRegistration(given)
    let reason = error.oauthError ?? "the provider refused with status \(error.httpStatus ?? 0)"
    var refusal = RenewalRefusal(
      pause: Expiry(lifetimeSeconds: Self.refusalPauseSeconds, from: sent),
      httpStatus: error.httpStatus ?? 0, oauthError: error.oauthError,
      oauthErrorDescription: error.oauthErrorDescription, began: sent.wall)
    if let audience = renewal.audience {
      // If the provider refuses the resource, the resource is not requested again in this session: at some providers
      // the refresh token is spent after such a refusal.
      if error.isAboutTarget {
        refusal.pause = Expiry(lifetimeSeconds: RenewalRefusal.restOfSessionSeconds, from: sent)
      }
      guard try keep(refusal, of: audience, epoch: epoch) else {
        return try renewedTokens.replaced(for: audience)
      }
      return .rejected(error.concerning(audience))
    }
    let isAboutAudience = error.isAboutScopes || error.isAboutTarget
    if isAboutAudience, renewal.session.tokens.lastAudience(at: epoch) != nil {
      try renewedTokens.remember(narrowing: [], epoch: epoch)
    }
    let earlier = try store.read(account)?.refusal.flatMap { $0.isSame(as: refusal) ? $0 : nil }
    let isRepeated = earlier?.pause.band(at: sent) == .expired
    if verdict == .ends || verdict == .endsIfRepeated && isRepeated {
      let reason = verdict == .ends ? reason : "refused twice: \(reason)"
      let present: ProviderMetadata?
      do throws(EnrollError) {
        present = try believedMetadata(since: earlier?.began)
      } catch {
        try context.requireNotClosing()
        return .unavailable(
          error.saying("the provider refused the refresh token (\(reason)), but: \(error.message)"))
      }
      if let present {
        guard renewal.isAtNewEndpoint || ASCII.equals(present.tokenEndpoint, endpoint) else {
          return try askAtNewEndpoint(renewal, metadata: present)
        }
        let bound = verdict == .ends ? tokensOfBoundSession(renewal, sent: sent) : nil
        if bound != nil { try renewedTokens.remember(narrowing: [], epoch: epoch) }
        let result = try renewedTokens.endSession(reason, error.oauthErrorDescription, epoch: epoch)
        if let bound, case .reauthenticate = result { revocations.revokeUnkept([bound]) }
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

  /// Fetches the provider's current metadata, because only the provider at the issuer may end a session. While a host
  /// name leads to the wrong server, that server refuses every token, and its metadata shows another issuer.
  /// - Parameter refused: when the provider began to refuse in this way; nil if this is the first such refusal.
  /// - Returns: nil if a cache answered with a document that is older than `refused`.
  private func believedMetadata(since refused: UnixTime?) throws(EnrollError) -> ProviderMetadata? {
    let (metadata, age) = try provider.requireIssuer(
      serverTime: context.knownServerTime(), cancellation: closing)
    guard age == 0 || refused.map({ clock.wallTime().since($0) > age }) ?? false else { return nil }
    return metadata
  }

  /// Sends the renewal once more, to the token endpoint that the provider's current metadata names. Call this only if a
  /// different endpoint refused the renewal.
  private func askAtNewEndpoint(
    _ renewal: Renewal, metadata: ProviderMetadata
  ) throws(EnrollError) -> RenewalResult {
    guard let refreshToken = renewal.session.tokens.refreshToken,
      try isCurrent(refreshToken, of: renewal)
    else { return try renewedTokens.replaced(for: renewal.audience) }
    var renewal = renewal
    renewal.isAtNewEndpoint = true
    return try send(refreshToken, of: renewal, metadata: metadata)
  }
}
