// R27: on refresh the token is about the same user, client and sign-in as the first (OpenID Connect Core §12.2). The
// values are personal and do not stand in the message.

extension IDTokenRule {
  static let continuity = IDTokenRule { (claims, _, expected) throws(EnrollError) in
    guard let first = expected.previous else { return }
    func same(_ left: String?, _ right: String?) -> Bool {
      guard let left, let right else { return left == nil && right == nil }
      return ASCII.equals(left, right)
    }
    func contains(_ all: [String], _ some: [String]) -> Bool {
      some.allSatisfy { one in all.contains { ASCII.equals($0, one) } }
    }

    guard same(claims.issuer, first.issuer) else { throw refusal("iss") }
    guard same(claims.subject, first.subject) else { throw refusal("sub") }
    // The order says nothing.
    guard contains(claims.audience, first.audience), contains(first.audience, claims.audience) else {
      throw refusal("aud")
    }
    guard same(claims.authorizedParty, first.authorizedParty) else { throw refusal("azp") }
    // A provider may say it once only; when it says it twice, it is the time of the same sign-in.
    if let before = first.authTime, let now = claims.authTime, before != now { throw refusal("auth_time") }
  }

  private static func refusal(_ claim: String) -> EnrollError {
    IDTokenClaims.refusal("R27", "\(claim) is not that of the first id_token")
  }
}
