// R26: the token answers our request: its `nonce` is the one that was sent (OpenID Connect Core §3.1.3.7, 11).

extension IDTokenRule {
  static let nonce = IDTokenRule { (claims, _, expected) throws(EnrollError) in
    guard let sent = expected.nonce else { return }
    guard let came = claims.nonce else { throw IDTokenClaims.refusal("R26", "nonce is missing") }
    guard came == sent else { throw IDTokenClaims.refusal("R26", "nonce is not the one that was sent") }
  }
}
