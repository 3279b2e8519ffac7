// Lists the access tokens of an account. The list contains each token's audience and expiry, never the token itself.

public import EnrollRules

extension AccessStep {
  /// The stored access tokens: first the session's own, then the tokens for audiences. Empty if no user is signed in.
  /// - Throws: the errors of the store.
  public func keptTokens() throws(EnrollError) -> [KeptToken] {
    guard let record = try store.read(account), record.sessionEnded == nil, let tokens = record.confirmed
    else { return [] }
    let moment = clock.moment()
    var kept = [
      KeptToken(
        scopes: tokens.scopes, tokenType: tokens.tokenType, expiresAt: tokens.expiry.date(at: moment))
    ]
    for entry in tokens.audiences.entries {
      guard let token = entry.token else { continue }
      kept.append(
        KeptToken(
          audience: entry.audience, scopes: token.scopes, tokenType: token.tokenType,
          expiresAt: token.expiry.date(at: moment), deviation: token.deviation))
    }
    return kept
  }
}
