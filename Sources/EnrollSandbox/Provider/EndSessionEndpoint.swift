// The logout endpoint (RP-Initiated Logout §2): it asks the user, ends the session and its grants, and returns the
// browser to the app. A post_logout_redirect_uri that is not registered for the client is refused, and so is an
// id_token_hint that this provider did not issue.

import EnrollJSON

extension Provider {
  func endSession(_ http: SandboxRequest, effects: [Fault.Effect]) -> SandboxAnswer {
    guard var form = http.method == "POST" ? http.form : Form(encoded: http.query), form.repeatedName == nil
    else { return Page.error("The parameters cannot be read.").answer() }
    let action = form["action"]
    form.remove("action")

    var clientID = form["client_id"]
    if let hint = form["id_token_hint"] {
      guard let audience = keys.audience(ofOwn: hint, issuer: issuer) else {
        return Page.error("The id_token_hint is not one of this provider.").answer()
      }
      guard clientID == nil || clientID == audience else {
        return Page.error("The id_token_hint is another client's.").answer()
      }
      clientID = audience
    }
    let client = client(clientID)
    let target = form["post_logout_redirect_uri"]
    if let target, client?.allows(postLogoutRedirectURI: target) != true {
      let known = client?.postLogoutRedirectURIs.joined(separator: ", ") ?? "none, the client is not known"
      return Page.error("The address to return to, \(target), is not registered. Registered: \(known).")
        .answer()
    }

    let browser = browserID(http).id
    guard let session = signedIn[browser], let user = user(session.userName) else {
      return leave(to: target, state: form["state"], browser: browser, effects: effects)
    }
    switch action {
    case "sign-out":
      signedIn[browser] = nil
      grants.finishAll(sessionID: session.sessionID, .signedOut)
      return leave(to: target, state: form["state"], browser: browser, effects: effects)
    case "stay": return Page.stillSignedIn.answer()
    default:
      redirectEffects[browser] = effects
      return Page.signOut(user: user, client: client, parameters: form, returnTo: target).answer()
    }
  }

  private func leave(
    to target: String?, state: String?, browser: String, effects: [Fault.Effect]
  ) -> SandboxAnswer {
    let effects = (redirectEffects.removeValue(forKey: browser) ?? []) + effects
    guard let target else { return Page.signedOut.answer() }
    var form = Form()
    form.append("state", state)
    return .redirect(to: Misbehaviour.location(target, form, effects: effects))
  }
}
