// The key that proves the possession of an access token (RFC 9449 §7).

package import EnrollCrypto

extension TokenSet {
  /// The key for the proof with the access token; nil for a Bearer token.
  package var proofKey: DPoPKey? { ASCII.equalsIgnoringCase(tokenType, "DPoP") ? dpopKey : nil }

  /// The key to which one of the session's access tokens is bound. If the token is nil or unknown, this is the key of
  /// the session's own token.
  package func proofKey(of accessToken: Secret?) -> DPoPKey? {
    guard let accessToken,
      let token = audiences.entries.first(where: { $0.token?.accessToken == accessToken })?.token
    else { return proofKey }
    return ASCII.equalsIgnoringCase(token.tokenType, "DPoP") ? dpopKey : nil
  }
}
