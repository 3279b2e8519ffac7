// R24: a token for several audiences says which of them asked, and that is us (OpenID Connect Core §3.1.3.7, 4 and 5).

extension IDTokenRule {
  static let authorizedParty = IDTokenRule { (claims, _, expected) throws(EnrollError) in
    if let party = claims.authorizedParty {
      guard ASCII.equals(party, expected.clientID) else {
        throw IDTokenClaims.refusal(
          "R24", "azp is \(PrintableText.bounded(party, maximumBytes: 128)), not \(expected.clientID)")
      }
      return
    }
    // A renewal's token continues one that was checked; its audience may have grown (R27).
    guard expected.previous == nil else { return }
    guard claims.audience.allSatisfy({ ASCII.equals($0, expected.clientID) }) else {
      throw IDTokenClaims.refusal("R24", "aud names others beside us, and azp is missing")
    }
  }
}
