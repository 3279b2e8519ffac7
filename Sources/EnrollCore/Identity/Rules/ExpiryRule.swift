// R25: the token is a proof now: `exp` has not passed, `nbf` has come (OpenID Connect Core §3.1.3.7, 9; RFC 7519 §4.1.5).

extension IDTokenRule {
  static let expiry = IDTokenRule { (claims, _, expected) throws(EnrollError) in
    guard expected.now < claims.expiresAt + expected.toleranceSeconds else {
      throw IDTokenClaims.refusal(
        "R25",
        "exp \(claims.expiresAt.seconds) has passed at \(expected.now.seconds) by \(expected.clock), "
          + "tolerating \(expected.toleranceSeconds) s")
    }
    if let notBefore = claims.notBefore, notBefore > expected.now + expected.toleranceSeconds {
      throw IDTokenClaims.refusal(
        "R25",
        "nbf \(notBefore.seconds) has not come at \(expected.now.seconds) by \(expected.clock), "
          + "tolerating \(expected.toleranceSeconds) s")
    }
  }
}
