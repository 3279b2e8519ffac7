// R27: on refresh the token continues the session (OpenID Connect Core §12.2): same issuer, same user. Other members of `aud`
// come and go; that this client is among them is R24's. `auth_time` moves forward when the user signs in again at the
// provider (Keycloak, Cognito, a step-up), never back and never past `iat`. The values are personal and do not stand in the
// message.

extension IDTokenRule {
  static let continuity = IDTokenRule { (claims, _, expected) throws(EnrollError) in
    guard let before = expected.previous else { return }
    guard ASCII.equals(claims.issuer, before.issuer) else { throw refusal("iss is not that of the session") }
    guard ASCII.equals(claims.subject, before.subject) else {
      throw refusal("sub is not that of the session")
    }
    guard let authTime = claims.authTime else { return }
    guard authTime <= claims.issuedAt else { throw refusal("auth_time is later than iat") }
    if let last = before.authTime, authTime < last {
      throw refusal("auth_time is earlier than that of the id_token before")
    }
  }

  private static func refusal(_ message: String) -> EnrollError { IDTokenClaims.refusal("R27", message) }
}
