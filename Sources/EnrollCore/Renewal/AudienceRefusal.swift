// The refusal of a token for one audience. It says nothing about the session: the session's own access token and the tokens for
// other audiences stay as they are, and only this audience waits before it is asked for again.

import EnrollCrypto

extension Engine {
  /// Bars this audience, in every process.
  func keep(_ refusal: RenewalRefusal, of audience: TokenAudience, epoch: UInt64) throws(EnrollError) {
    try store.update(account) { record throws(EnrollError) in
      guard record.tokenEpoch == epoch, let tokens = record.confirmed else { return }
      record.renewalIntent = nil
      record.backoff = nil
      let token = tokens.audiences[audience]?.token
      record.confirmed?.audiences.put(AudienceEntry(audience, token: token, refusal: refusal))
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
