// R26: when `max_age` was asked for, `auth_time` says that the user signed in since (OpenID Connect Core §3.1.3.7, 13).

extension IDTokenRule {
  static let authenticationTime = IDTokenRule { (claims, _, expected) throws(EnrollError) in
    guard let maxAge = expected.maxAgeSeconds else { return }
    guard let authTime = claims.authTime else {
      throw IDTokenClaims.refusal("R26", "max_age was asked for and auth_time is missing")
    }
    guard authTime <= expected.now + expected.toleranceSeconds else {
      throw IDTokenClaims.refusal(
        "R26", "auth_time \(authTime.seconds) is in the future at \(expected.now.seconds)")
    }
    guard expected.now <= authTime + maxAge + expected.toleranceSeconds else {
      throw IDTokenClaims.refusal(
        "R26", "auth_time \(authTime.seconds) is more than max_age \(maxAge) s before \(expected.now.seconds)"
      )
    }
  }
}
