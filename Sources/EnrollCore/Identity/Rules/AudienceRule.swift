// R24: the token is meant for us (OpenID Connect Core §3.1.3.7, 3).

extension IDTokenRule {
  static let audience = IDTokenRule { (claims, _, expected) throws(EnrollError) in
    guard claims.audience.contains(where: { ASCII.equals($0, expected.clientID) }) else {
      let came = claims.audience.count == 1 ? claims.audience[0] : "\(claims.audience.count) others"
      throw IDTokenClaims.refusal(
        "R24", "aud is \(PrintableText.bounded(came, maximumBytes: 128)), not \(expected.clientID)")
    }
  }
}
