// Which access tokens an account has: for whom each of them is, and until when, never the token itself.

/// An access token that is kept, without its secret.
public struct KeptToken: Equatable, Sendable {
  /// For whom it is; nil: the session's own.
  public var audience: TokenAudience?
  /// The granted scopes.
  public var scopes: [String]
  /// As the server spelt it.
  public var tokenType: String
  /// By the device's clock; the token may have expired.
  public var expiresAt: UnixTime
}

extension Engine {
  /// The session's own access token first, then those for audiences; none if no user is signed in.
  /// - Throws: store errors.
  public func keptTokens() throws(EnrollError) -> [KeptToken] {
    guard let record = try store.read(account), record.sessionEnded == nil, let tokens = record.confirmed
    else { return [] }
    var kept = [
      KeptToken(
        scopes: tokens.scopes, tokenType: tokens.tokenType, expiresAt: tokens.expiry.expiresAt)
    ]
    for entry in tokens.audiences.entries {
      guard let token = entry.token else { continue }
      kept.append(
        KeptToken(
          audience: entry.audience, scopes: token.scopes, tokenType: token.tokenType,
          expiresAt: token.expiry.expiresAt))
    }
    return kept
  }
}
