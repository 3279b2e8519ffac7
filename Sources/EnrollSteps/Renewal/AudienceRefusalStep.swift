// The provider's refusal to issue a token for one audience (R44). The refusal says nothing about the session: the
// session's own access token and the tokens for other audiences stay, and only this audience is not requested for a
// while. If the provider says that the refresh token is invalid, one renewal without the audience decides about the
// session: some providers call a refresh token invalid if it is bound to another resource.

import EnrollCrypto
import EnrollRules

extension RenewalStep {
  /// Stores the refusal, so that no process requests a token for this audience for a while.
  /// - Returns: false if other tokens have replaced the refused tokens: the refusal does not apply to the new tokens.
  func keep(
    _ refusal: RenewalRefusal, of audience: TokenAudience, epoch: UInt64
  ) throws(EnrollError) -> Bool {
    var isCurrent = false
    try change(audience) { record, entry in
      guard record.tokenEpoch == epoch else { return false }
      isCurrent = true
      record.renewalIntent = nil
      record.backoff = nil
      entry.refusal = refusal
      entry.backoff = nil
      return true
    }
    return isCurrent
  }

  /// The result of a renewal for an audience. The refusal may concern the session if the provider calls the refresh
  /// token invalid, or if it refuses a scope or the resource of the session after a renewal for another audience. In
  /// these two cases the session's own token is renewed first.
  func decided(
    _ result: RenewalResult, isNew: Bool, for audience: TokenAudience?
  ) throws(EnrollError) -> RenewalResult {
    guard isNew, let audience, case .rejected(let error) = result,
      let record = try store.read(account), let tokens = record.confirmed, let epoch = record.epoch(for: nil)
    else { return result }
    let isInvalid = RefusalContent(code: error.oauthError, isEmpty: false) == .invalidGrant
    let isOfAudience = tokens.lastAudience(at: record.tokenEpoch) != nil
    let asksForOwn =
      !audience.scopes.isEmpty && audience.scopes.allSatisfy { Scopes.contains($0, in: tokens.scopes) }
    let asksForOwnResource = audience.resource == configuration.resource
    let isOfSession = asksForOwn && error.isAboutScopes || asksForOwnResource && error.isAboutTarget
    guard isInvalid || isOfAudience && isOfSession else { return result }
    let ofSession = try renew(epochs: [epoch], forced: true)
    guard ofSession == .renewed else { return ofSession }
    // The refresh token is valid, but not for this audience: it is bound to the previous audience.
    if isInvalid, isOfAudience, let renewed = try store.read(account) {
      try renewedTokens.remember(narrowing: [], epoch: renewed.tokenEpoch)
    }
    return result
  }

  /// Delays renewals for this audience, in every process (R33).
  func backOff(
    _ audience: TokenAudience, _ failure: EnrollError, _ moment: Moment, _ jitter: UInt8,
    holding refreshToken: Secret
  ) throws(EnrollError) {
    try change(audience) { record, entry in
      guard record.confirmed?.refreshToken == refreshToken else { return false }
      entry.backoff = RenewalBackoff(after: entry.backoff, failure, at: moment, jitter: jitter)
      return true
    }
  }

  /// Changes the stored entry of an audience.
  /// - Parameter edit: returns false to change nothing.
  private func change(
    _ audience: TokenAudience, _ edit: (inout AccountRecord, inout AudienceEntry) -> Bool
  ) throws(EnrollError) {
    try store.update(account) { record throws(EnrollError) in
      guard let tokens = record.confirmed else { return }
      var entry = tokens.audiences[audience] ?? AudienceEntry(audience)
      if edit(&record, &entry) { record.confirmed?.audiences.put(entry) }
    }
  }
}
