// The steps after a sign-in at the back end: an app redeems its code, a browser sees its account and signs out.
// Refused: a body that is not JSON, a verifier that is not the challenge's, a form without its token (CSRF).

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

  /// The web's mode: a session in a cookie of its own, under a value that nobody had before.
  func enterWeb(_ account: BFFAccount) -> SandboxAnswer {
    let text = Encoding.randomToken()
    bff.begin(
      userID: account.userID, as: text, formToken: Encoding.randomToken(),
      until: now + options.accessLifetimeSeconds)
    var answer = SandboxAnswer.redirect(to: Endpoint.bffAccount.path)
    setWebSession(text, seconds: options.accessLifetimeSeconds, on: &answer)
    return answer
  }

  func bffAccountPage(_ http: SandboxRequest) -> SandboxAnswer {
    let cookie = http.cookie(webCookie)
    guard let cookie, let account = bff.account(ofSession: cookie, now: now),
      let session = bff.sessions[cookie]
    else { return .redirect(to: Endpoint.backendChoice.path) }
    guard http.method == "POST" else {
      return Page.bffAccount(account, formToken: session.formToken).answer()
    }
    guard let form = http.form, form["token"] == session.formToken else {
      return Page.error("This form is not one of ours, or too old. Nothing was done.", status: 403).answer()
    }
    bff.end(cookie)
    var answer = SandboxAnswer.redirect(to: Endpoint.backendChoice.path)
    setWebSession("", seconds: 0, on: &answer)
    return answer
  }

  /// The userinfo endpoint's answer for a session token.
  func backendClaims(ofSession token: String?) -> JSON? {
    bff.account(ofSession: token, now: now).map { account in
      .object([("sub", .string(account.userID)), ("email", .string(account.email))])
    }
  }

  private var webCookie: String { "enroll_backend_session_" + (issuer.split(separator: ":").last ?? "") }

  private func setWebSession(_ value: String, seconds: Int64, on answer: inout SandboxAnswer) {
    answer.headers.append(
      (
        "Set-Cookie",
        "\(webCookie)=\(value); Path=\(Endpoint.bffAccount.path); Max-Age=\(seconds); HttpOnly; Secure; "
          + "SameSite=Lax"
      ))
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
