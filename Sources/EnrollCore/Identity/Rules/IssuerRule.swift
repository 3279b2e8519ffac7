// R24: `iss` is the configured issuer, byte for byte (OpenID Connect Core §3.1.3.7, 2).

extension IDTokenRule {
  static let issuer = IDTokenRule { (claims, _, expected) throws(EnrollError) in
    guard ASCII.equals(claims.issuer, expected.issuer) else {
      let came = PrintableText.bounded(claims.issuer, maximumBytes: 256)
      throw IDTokenClaims.refusal("R24", "iss is \(came), not \(expected.issuer)")
    }
  }
}
