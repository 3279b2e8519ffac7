// The steps after a sign-in at the back end: an app redeems its code and asks for its user. Refused: a body that is not JSON,
// a verifier that is not the challenge's.

import EnrollJSON

extension Provider {
  /// `{code, code_verifier}` → `{session_token, expires_in}`.
  func redeemBackendCode(_ http: SandboxRequest) -> SandboxAnswer {
    do throws(OAuthRefusal) {
      guard let identity = identity(http.path, .backendRedeem) else {
        throw OAuthRefusal("invalid_request", "the back end knows no such provider", status: 404)
      }
      guard let json = http.json, let code = json["code"]?.string,
        let verifier = json["code_verifier"]?.string
      else { throw .invalidRequest("a JSON object with code and code_verifier was expected") }
      let token = try bff.redeem(
        code, identity: identity, verifier: verifier, newToken: Encoding.randomToken(),
        until: now + options.accessLifetimeSeconds, now: now)
      return .json(
        .object([
          ("session_token", .string(token)), ("expires_in", .integer(options.accessLifetimeSeconds)),
        ]))
    } catch {
      return Misbehaviour.refusal(error)
    }
  }

  /// The userinfo endpoint's answer for a session token.
  func backendClaims(ofSession token: String?) -> JSON? {
    bff.account(ofSession: token, now: now).map { account in
      .object([("sub", .string(account.userID)), ("email", .string(account.email))])
    }
  }
}

extension BFFAccount {
  var json: JSON {
    .object([
      ("userId", .string(userID)), ("providerId", .string(providerID)),
      ("providerUserId", .string(providerUserID)), ("email", .string(email)), ("created", .integer(created)),
      ("lastLogin", .integer(lastLogin)),
    ])
  }
}
