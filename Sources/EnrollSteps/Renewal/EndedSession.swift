// The end of a session that the provider no longer renews.

import EnrollRules

extension RenewedTokensStep {
  /// Ends a session; no other function does this. The record is kept for diagnosis. If the session's tokens have been
  /// replaced since `epoch`, the new tokens stay, and the session does not end (R34).
  /// - Parameter tokens: the tokens to store in the record; nil to keep the record's own tokens.
  func endSession(
    _ reason: String, _ description: String? = nil, epoch: UInt64, restoring tokens: TokenSet? = nil
  ) throws(EnrollError) -> RenewalResult {
    let record = try store.update(account) { record throws(EnrollError) in
      guard record.tokenEpoch == epoch else { return }
      if let tokens { record.confirmed = tokens }
      record.sessionEnded = reason
      record.sessionEndedDescription = description
      record.renewalIntent = nil
      record.confirmed?.audiences = AudienceTokens()
      record.advanceEpoch()
    }
    if record.confirmed != nil, record.sessionEnded == nil { return .renewed }
    return .reauthenticate(record.sessionEnded ?? reason, record.sessionEndedDescription)
  }
}
