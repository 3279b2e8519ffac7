// The authorization endpoint: it reads the request, and then redirects the browser to the pages or, with
// `prompt=none`, answers at once (RFC 6749 §4.1, OpenID Connect Core §3.1.2, RFC 9207).

import Foundation

extension Provider {
  func authorize(_ http: SandboxRequest, effects: [Fault.Effect]) -> SandboxAnswer {
    guard let form = http.method == "POST" ? http.form : Form(encoded: http.query) else {
      return Page.error("The parameters cannot be read.").answer()
    }
    if let key = form["okta_key"] { return resumeWaiting(key, http, effects: effects) }
    let request: CheckedAuthorization
    do throws(CheckedAuthorization.Refusal) {
      request = try authorizationRequest(form)
    } catch {
      switch error {
      case .page(let reason): return Page.error(reason).answer()
      case .redirect(let uri, let state, let refusal):
        return refuse(refusal, redirectURI: uri, state: state, effects: effects)
      }
    }
    if let code = Misbehaviour.oauthError(effects) {
      return refuse(code, redirectURI: request.redirectURI, state: request.state, effects: effects)
    }
    if request.clientID == SandboxGateway.clientID, let token = form["sessionToken"] {
      guard let browserID = spendSessionToken(token) else {
        return refuse(
          OAuthRefusal("login_required", "the session token is not good"), redirectURI: request.redirectURI,
          state: request.state, effects: effects)
      }
      var answer = begin(request, browser: (browserID, true), effects: effects)
      setCookie(browserID, on: &answer)
      return answer
    }
    return begin(request, browser: browserID(http), effects: effects)
  }

  private func begin(
    _ request: CheckedAuthorization, browser: (id: String, isNew: Bool), effects: [Fault.Effect]
  ) -> SandboxAnswer {
    forgetOldInteractions()
    let interaction = Interaction(request, id: Encoding.randomToken(), browserID: browser.id, now: now)
    let step = nextStep(interaction)
    if step == .done, let session = signedIn[browser.id] {
      return grant(request, to: session, effects: effects)
    }
    if request.prompts.contains(.none) {
      let code: (String, String) =
        step == .consent
        ? ("consent_required", "the user has to consent") : ("login_required", "the user has to sign in")
      return refuse(
        OAuthRefusal(code.0, code.1), redirectURI: request.redirectURI, state: request.state, effects: effects
      )
    }
    var answer: SandboxAnswer
    if step == .signIn || step == .create, gateway.settings.isUsed || request.activationToken != nil {
      answer = leadToGateway(interaction)
    } else {
      interactions[interaction.id] = interaction
      redirectEffects[interaction.id] = effects
      answer = .redirect(to: "\(Endpoint.interaction.path)?id=\(interaction.id)")
    }
    if browser.isNew { setCookie(browser.id, on: &answer) }
    return answer
  }

  /// Redirects the browser to the client with a code.
  func grant(_ request: CheckedAuthorization, to session: BrowserSession, effects: [Fault.Effect])
    -> SandboxAnswer
  {
    let code = Encoding.randomToken()
    let grant = UserGrant(
      userName: session.userName, clientID: request.clientID, scopes: request.scopes, nonce: request.nonce,
      authTime: session.authTime, contextClass: session.contextClass, sessionID: session.sessionID)
    grants.add(
      Grants.Code(
        grant: grant, redirectURI: request.redirectURI, codeChallenge: request.codeChallenge,
        thumbprint: options.dpop == .off ? nil : request.thumbprint,
        expiresAt: now + options.codeLifetimeSeconds), as: code)
    var answer = Form([("code", code)])
    answer.append("state", request.state)
    return redirect(to: request.redirectURI, answer, effects: effects)
  }

  /// Redirects the browser to the client with an error.
  func refuse(
    _ refusal: OAuthRefusal, redirectURI: String, state: String?, effects: [Fault.Effect]
  ) -> SandboxAnswer {
    var answer = Form([("error", refusal.code), ("error_description", refusal.description)])
    answer.append("state", state)
    return redirect(to: redirectURI, answer, effects: effects)
  }

  private func redirect(to uri: String, _ form: Form, effects: [Fault.Effect]) -> SandboxAnswer {
    var form = form
    if options.sendsIssuer { form.append("iss", issuer) }
    return .redirect(to: Misbehaviour.location(uri, form, effects: effects))
  }

  func nextStep(_ interaction: Interaction) -> Interaction.Step {
    let session = signedIn[interaction.browserID]
    return interaction.nextStep(
      signedIn: session, hasConsented: hasConsented(session, to: interaction.request), now: now)
  }

  private func hasConsented(_ session: BrowserSession?, to request: CheckedAuthorization) -> Bool {
    guard options.asksConsent, request.clientID != SandboxGateway.clientID else { return true }
    guard let session else { return false }
    return consents[[session.userName, request.clientID], default: []].isSuperset(of: request.scopes)
  }

  func forgetOldInteractions() {
    let deadline = now - options.interactionLifetimeSeconds
    for old in interactions.values where old.begunAt < deadline {
      interactions[old.id] = nil
      redirectEffects[old.id] = nil
    }
  }

  // Cookies are not bound to a port, so the cookie's name contains the port. Two sandboxes can then be used in one
  // browser.
  var cookieName: String { "enroll_sandbox_" + (issuer.split(separator: ":").last ?? "") }

  func browserID(_ request: SandboxRequest) -> (id: String, isNew: Bool) {
    if let id = request.cookie(cookieName), PKCE.isChallenge(id) { return (id, false) }
    return (Encoding.randomToken(), true)
  }

  func setCookie(_ value: String, on answer: inout SandboxAnswer) {
    answer.setHeader("Set-Cookie", "\(cookieName)=\(value); Path=/; HttpOnly; SameSite=Lax")
  }
}
