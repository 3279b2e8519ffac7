// The facts that a session keeps from a verified id_token.

/// The claims of the last verified id_token, with which the claims of the next id_token are compared (OpenID Connect
/// Core §12.2).
public struct IdentityFacts: Equatable, Sendable {
  /// `iss`.
  public var issuer: Issuer
  /// `sub`: the user's id at this issuer.
  public var subject: String
  /// `aud`: one or several values.
  public var audience: [String]
  /// `azp`.
  public var authorizedParty: String?
  /// `auth_time`: when the user signed in.
  public var authTime: UnixTime?

  public init(
    issuer: Issuer, subject: String, audience: [String], authorizedParty: String? = nil,
    authTime: UnixTime? = nil
  ) {
    self.issuer = issuer
    self.subject = subject
    self.audience = audience
    self.authorizedParty = authorizedParty
    self.authTime = authTime
  }
}
