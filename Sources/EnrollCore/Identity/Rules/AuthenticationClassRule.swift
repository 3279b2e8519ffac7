// R26: when classes of authentication were asked for, one of them was reached (OpenID Connect Core §3.1.3.7, 12).

extension IDTokenRule {
  static let authenticationClass = IDTokenRule { (claims, _, expected) throws(EnrollError) in
    guard !expected.acrValues.isEmpty else { return }
    guard let came = claims.authenticationClass else {
      throw IDTokenClaims.refusal("R26", "acr was asked for and is missing")
    }
    guard expected.acrValues.contains(where: { ASCII.equals($0, came) }) else {
      throw IDTokenClaims.refusal(
        "R26", "acr is \(PrintableText.bounded(came, maximumBytes: 64)), not one that was asked for")
    }
  }
}
