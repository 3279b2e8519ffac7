// R25: the token was not issued in the future (OpenID Connect Core §3.1.3.7, 10).

extension IDTokenRule {
  static let issueTime = IDTokenRule { (claims, _, expected) throws(EnrollError) in
    guard claims.issuedAt <= expected.now + expected.toleranceSeconds else {
      throw IDTokenClaims.refusal(
        "R25",
        "iat \(claims.issuedAt.seconds) is in the future at \(expected.now.seconds) by \(expected.clock), "
          + "tolerating \(expected.toleranceSeconds) s")
    }
  }
}
