// The user and client of a session, and whether an id_token belongs to another session (R27; OpenID Connect Core
// §12.2). No signature is checked here: an id_token may be refused for its claims before its signature is verified,
// but it is accepted only after its signature was verified.

package import EnrollCrypto
package import EnrollJSON

/// The user and the client of a session, as far as they are known.
package struct SessionIdentity: Sendable {
  package let tokens: TokenSet
  let issuer: Issuer
  /// The subject of the last verified id_token or, without one, of userinfo; nil if neither has a subject.
  package let subject: String?
  let clientID: ClientID
  /// ``Configuration/withoutExpirySeconds``.
  let withoutExpirySeconds: Int64

  package init(_ tokens: TokenSet, profile: JSONObject?, _ configuration: Configuration) {
    self.tokens = tokens
    issuer = tokens.identity?.issuer ?? configuration.issuer
    subject = tokens.identity?.subject ?? profile?["sub"]?.string
    clientID = configuration.clientID
    withoutExpirySeconds = configuration.withoutExpirySeconds
  }

  /// The claim that shows that `idToken` belongs to another session: `iss`, `sub`, `aud` or `azp`. nil if no claim
  /// shows that, or if the claims cannot be read.
  package func contradiction(in idToken: Secret) -> String? {
    IDToken.unprovenClaims(of: idToken).flatMap {
      Self.contradiction(in: $0, issuer: issuer, subject: subject, clientID: clientID)
    }
  }

  /// Whether a renewed id_token has a `nonce` that is not the session's (OpenID Connect Core §12.2); a renewed
  /// id_token need not have a `nonce`.
  package func hasOtherNonce(than idToken: Secret) -> Bool {
    guard let came = IDToken.unprovenClaims(of: idToken)?["nonce"]?.string,
      let ours = tokens.idToken.flatMap({ IDToken.unprovenClaims(of: $0) })?["nonce"]?.string
    else { return false }
    return !ASCII.equals(came, ours)
  }

  static func contradiction(
    in claims: JSON, issuer: Issuer, subject: String?, clientID: ClientID
  ) -> String? {
    let clientID = clientID.text
    func isOther(_ name: String, than known: String?) -> Bool {
      guard let known, let came = claims[name]?.string else { return false }
      return !ASCII.equals(came, known)
    }
    func isOurs(_ audience: JSON) -> Bool { audience.string.map { ASCII.equals($0, clientID) } ?? false }

    if let came = claims["iss"]?.string, !issuer.covers(Issuer(came)) { return "iss" }
    if isOther("sub", than: subject) { return "sub" }
    switch claims["aud"] {
    case .string(let audience): if !ASCII.equals(audience, clientID) { return "aud" }
    case .array(let audiences): if !audiences.contains(where: { isOurs($0) }) { return "aud" }
    case nil, .null, .bool, .integer, .number, .object: break
    }
    return isOther("azp", than: clientID) ? "azp" : nil
  }
}
