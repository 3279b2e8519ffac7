// What a host can see of a stored access token.

/// A stored access token, without its secret.
public struct KeptToken: Equatable, Sendable {
  /// The token's audience; nil if this is the session's own token.
  public var audience: TokenAudience?
  /// The granted scopes.
  public var scopes: [String]
  /// The token's type as the server spelt it.
  public var tokenType: String
  /// When the token expires, by the device's clock; this may be in the past.
  public var expiresAt: UnixTime
  /// How the token differs from the request, as text; nil if no difference is known.
  public var deviation: String?

  package init(
    audience: TokenAudience? = nil, scopes: [String], tokenType: String, expiresAt: UnixTime,
    deviation: String? = nil
  ) {
    self.audience = audience
    self.scopes = scopes
    self.tokenType = tokenType
    self.expiresAt = expiresAt
    self.deviation = deviation
  }
}
