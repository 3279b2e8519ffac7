// R26: when `max_age` was asked for, the user signed in at most so long before the request (OpenID Connect Core §3.1.2.1,
// §3.1.3.7, 13). `auth_time` and `iat` are both by the provider's clock, so the device's plays no part between them; the
// time since the request is the device's own, which no clock's setting changes.

extension IDTokenRule {
  static let authenticationTime = IDTokenRule { (claims, _, expected) throws(EnrollError) in
    guard let maxAge = expected.maxAgeSeconds else { return }
    guard let authTime = claims.authTime else {
      throw IDTokenClaims.refusal("R26", "max_age was asked for and auth_time is missing")
    }
    guard authTime <= expected.now + expected.toleranceSeconds else {
      throw IDTokenClaims.refusal(
        "R26",
        "auth_time \(authTime.seconds) is in the future at \(expected.now.seconds) by \(expected.clock)")
    }
    let latest = authTime + maxAge + expected.requestAgeSeconds
    guard claims.issuedAt <= latest + IDTokenExpectations.serverToleranceSeconds,
      // An `iat` that stands still proves nothing.
      expected.now <= latest + expected.toleranceSeconds
    else {
      throw IDTokenClaims.refusal(
        "R26",
        "auth_time \(authTime.seconds) is more than max_age \(maxAge) s before the request, which was made "
          + "\(expected.requestAgeSeconds) s before \(claims.issuedAt.seconds)")
    }
  }
}
