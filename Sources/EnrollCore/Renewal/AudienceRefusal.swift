// The refusal of a token for one audience. It says nothing about the session: the session's own access token and the tokens for
// other audiences stay as they are, and only this audience waits before it is asked for again. Where the provider says that the
// refresh token is invalid, one renewal without the audience decides about the session: some providers say so of a refresh token
// that is bound to another resource.

import EnrollCrypto

extension Engine {
  /// Bars this audience, in every process.
  /// - Returns: false where other tokens have taken the place of those that were refused: then nothing is known of them.
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

  /// The result for an audience, once the session has been asked about where the refusal of the audience leaves a doubt about it:
  /// the provider calls the refresh token invalid; or a scope of the session's, after another audience may have taken it.
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
    let asksForOwnResource = audience.resource == configuration.resource?.text
    let isOfSession = asksForOwn && error.isAboutScopes || asksForOwnResource && error.isAboutTarget
    guard isInvalid || isOfAudience && isOfSession else { return result }
    let ofSession = try renew(epochs: [epoch], forced: true)
    guard ofSession == .renewed else { return ofSession }
    // A refresh token that lives and is invalid for this audience is bound to the one before.
    if isInvalid, isOfAudience, let renewed = try store.read(account) {
      try remember(narrowing: [], epoch: renewed.tokenEpoch)
    }
    return result
  }

  /// Delays this audience, in every process (R33).
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

  /// Keeps what is known of an audience now.
  /// - Parameter edit: false where nothing is to change.
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

extension AccountRecord {
  /// The backoff of an audience that the provider answers otherwise than by a token or a refusal; nil for the session's own,
  /// whose backoff is the account's.
  func backoff(for audience: TokenAudience?) -> RenewalBackoff? {
    audience.flatMap { confirmed?.audiences[$0]?.backoff }
  }

  /// Whether a renewal failed since `before` in a way that concerns this access token, too.
  func tellsFailure(after before: AccountRecord, for audience: TokenAudience?) -> Bool {
    backoff != before.backoff || refusal != before.refusal
      || refusal(for: audience) != before.refusal(for: audience)
      || backoff(for: audience) != before.backoff(for: audience)
  }
}

extension EnrollError {
  /// The same, with the audience that was refused.
  func concerning(_ audience: TokenAudience) -> EnrollError {
    EnrollError(
      code, "no token for \(audience.shown): \(message)", field: audience.field(of: self),
      httpStatus: httpStatus, oauthError: oauthError, retryAfterSeconds: retryAfterSeconds)
  }
}
