// Combines the claims about a user from several sources: id_token, userinfo, and the profile of an earlier id_token.

package import EnrollJSON

extension JSONObject {
  /// The claims of a renewed id_token. If the id_token lacks claims whose scope was granted, these claims are added
  /// from the earlier profile: their only source may be userinfo, which is requested only at the sign-in.
  package func keeping(_ before: JSONObject?, scopes: [String]) -> JSONObject {
    guard let before, lacksNames(of: scopes) else { return self }
    return completed(by: before)
  }

  /// These claims, completed with the claims about the user that only `other` has.
  package func completed(by other: JSONObject) -> JSONObject {
    completed(by: other) { !Scopes.contains($0, in: IDToken.protocolClaims) }
  }

  /// Whether a claim is missing that every user has and that the scopes request (OpenID Connect Core §5.4).
  package func lacksNames(of scopes: [String]) -> Bool {
    let names = ["name", "given_name", "family_name", "preferred_username", "nickname"]
    return Scopes.contains("email", in: scopes) && self["email"] == nil
      || Scopes.contains("profile", in: scopes) && names.allSatisfy { self[$0] == nil }
  }
}

extension IDToken {
  /// Claims about a token, not about its user (RFC 7519 §4.1, OpenID Connect Core §2). In an id_token such claims are
  /// verified; in userinfo they are ignored.
  static let protocolClaims = [
    "iss", "sub", "aud", "exp", "iat", "nbf", "jti", "nonce", "azp", "acr", "amr", "auth_time", "at_hash",
    "c_hash",
    "sid",
  ]
}
