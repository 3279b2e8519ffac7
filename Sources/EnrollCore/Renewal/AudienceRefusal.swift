// The refusal of a token for one audience. It says nothing about the session: the session's own access token and the tokens for
// other audiences stay as they are, and only this audience waits before it is asked for again.

import EnrollCrypto

extension Engine {
  /// Bars this audience, in every process.
  func keep(_ refusal: RenewalRefusal, of audience: TokenAudience, epoch: UInt64) throws(EnrollError) {
    try change(audience) { record, entry in
      guard record.tokenEpoch == epoch else { return false }
      record.renewalIntent = nil
      record.backoff = nil
      entry.refusal = refusal
      entry.backoff = nil
      return true
    }
  }

  /// Delays this audience, in every process (R33).
  func backOff(
    _ audience: TokenAudience, _ failure: EnrollError, _ moment: Moment, _ jitter: UInt8
  ) throws(EnrollError) {
    try change(audience) { _, entry in
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
