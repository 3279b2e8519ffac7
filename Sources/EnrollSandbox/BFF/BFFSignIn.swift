// The back end's two browser endpoints (RFC 9700 §2.1, RFC 8252): `GET /v1/auth/{provider}` sends the browser to the
// provider, `…/callback` takes it back to a one-time code for the app. Refused: an app without a challenge, an unregistered
// redirect, a state that is not the cookie's. A browser without an app is the gateway's.

import Foundation

extension Provider {
  /// The back end as a client of the provider behind it.
  var backendClient: Client {
    Client(
      id: "sandbox-backend", name: "Sample Back End",
      redirectURIs: BFF.Identity.allCases.map { bffCallback($0) }, postLogoutRedirectURIs: [])
  }

  /// Where the back end's callback may send the browser on to: the app, on whatever port it listens.
  var backendOnwardTargets: [String] {
    let uris = options.clients.first?.redirectURIs ?? []
    let targets = uris.compactMap { Page.formTarget(of: $0) }.map {
      $0 == "http://127.0.0.1" ? $0 + ":*" : $0
    }
    return Array(Set(targets.filter { !$0.contains("[") })).sorted()
  }

  func startBackendSignIn(_ http: SandboxRequest) -> SandboxAnswer {
    guard let identity = identity(http.path, .backendStart) else {
      return Page.error("The back end knows no such provider.", status: 404).answer()
    }
    guard let form = Form(encoded: http.query), form.repeatedName == nil else {
      return Page.error("The parameters cannot be read.").answer()
    }
    switch form["platform"] {
    case "mobile": return startForApp(identity, form)
    case let other:
      return Page.error("The platform \(other ?? "") is not known. The sandbox knows mobile alone.").answer()
    }
  }

  private func startForApp(_ identity: BFF.Identity, _ form: Form) -> SandboxAnswer {
    let client = options.clients.first ?? .sample
    let usual = client.redirectURIs.first { !$0.hasPrefix("http://") }
    guard let redirectURI = form["redirect_uri"] ?? usual, client.allows(redirectURI: redirectURI) else {
      return Page.error("The redirect URI is not registered for \(client.name).").answer()
    }
    guard let challenge = form["code_challenge"], PKCE.isChallenge(challenge),
      form["code_challenge_method"] == "S256"
    else {
      return returnToApp(
        redirectURI, state: form["state"],
        [
          ("error", "invalid_request"), ("error_description", "an S256 code_challenge is needed (RFC 7636)"),
        ])
    }
    return sendToProvider(
      identity, app: .init(redirectURI: redirectURI, state: form["state"], codeChallenge: challenge),
      prompt: form["prompt"])
  }

  private func sendToProvider(
    _ identity: BFF.Identity, app: PendingSignIn.App, prompt: String?
  ) -> SandboxAnswer {
    let pending = PendingSignIn(
      identity: identity, state: Encoding.randomToken(), codeVerifier: Encoding.randomToken(),
      expiresAt: now + PendingSignIn.lifetimeSeconds, app: app)
    guard let value = try? pending.sealed(with: bff.cookieKey),
      let challenge = PKCE.challenge(for: pending.codeVerifier)
    else { return Page.error("The sign-in could not be begun.", status: 500).answer() }
    var form = Form([
      ("response_type", "code"), ("client_id", backendClient.id),
      ("redirect_uri", bffCallback(identity)), ("scope", "openid profile email"),
      ("state", pending.state), ("code_challenge", challenge), ("code_challenge_method", "S256"),
    ])
    form.append("prompt", prompt)
    var answer = SandboxAnswer.redirect(to: "\(issuer)\(Endpoint.authorize.path)?\(form.encoded)")
    setPending(value, identity, seconds: PendingSignIn.lifetimeSeconds, on: &answer)
    return answer
  }

  func finishBackendSignIn(_ http: SandboxRequest, effects: [Fault.Effect]) -> SandboxAnswer {
    guard let identity = identity(http.path, .bffCallback) else {
      return Page.error("The back end knows no such provider.", status: 404).answer()
    }
    guard let form = Form(encoded: http.query), form.repeatedName == nil else {
      return Page.error("The parameters cannot be read.").answer()
    }
    let pending = PendingSignIn(
      sealed: http.cookie(pendingCookie), with: bff.cookieKey, now: now)
    // A browser without the cookie and its state did not begin here: nothing happens, and the right browser may still
    // come.
    guard let pending, pending.identity == identity, pending.state == form["state"] else {
      return Page.signInOver.answer()
    }
    var answer = finish(pending, form, effects: effects)
    setPending("", identity, seconds: 0, on: &answer)
    return answer
  }

  private func finish(_ pending: PendingSignIn, _ form: Form, effects: [Fault.Effect]) -> SandboxAnswer {
    guard let code = form["code"] else {
      return fail(pending, code: form["error"] ?? "server_error", effects: effects)
    }
    let account: BFFAccount
    do throws(OAuthRefusal) {
      account = try self.account(of: code, pending)
    } catch {
      return fail(pending, code: "server_error", effects: effects)
    }
    let app = pending.app
    let text = Encoding.randomToken()
    bff.add(
      BFF.Code(
        userID: account.userID, identity: pending.identity, codeChallenge: app.codeChallenge,
        expiresAt: now + options.codeLifetimeSeconds), as: text)
    return returnToApp(app.redirectURI, state: app.state, [("code", text)], effects: effects)
  }

  /// Exchanges the provider's code; the provider's tokens stay here and are of no further use.
  private func account(
    of code: String, _ pending: PendingSignIn
  ) throws(OAuthRefusal) -> BFFAccount {
    let family = try grants.redeem(
      code, clientID: backendClient.id, redirectURI: bffCallback(pending.identity),
      verifier: pending.codeVerifier, refreshExpiresAt: nil, now: now)
    grants.finish(family.id, .ended)
    guard let user = user(family.grant.userName) else { throw .invalidGrant("the user is not known") }
    return bff.signIn(
      pending.identity, providerUserID: user.subject, email: user.email, newID: Encoding.randomToken(),
      now: now)
  }

  private func fail(_ pending: PendingSignIn, code: String, effects: [Fault.Effect]) -> SandboxAnswer {
    let words = Self.words(for: code, pending.identity)
    let app = pending.app
    return returnToApp(
      app.redirectURI, state: app.state, [("error", code), ("error_description", words)], effects: effects)
  }

  /// A provider's error code in words for whoever sits there.
  static func words(for code: String, _ identity: BFF.Identity) -> String {
    switch code {
    case "access_denied":
      "You did not allow \(identity.title) to sign you in. Nothing was shared; you can try again."
    case "login_required", "interaction_required", "consent_required":
      "\(identity.title) wants you to sign in there first. Please try again."
    case "temporarily_unavailable": "\(identity.title) is too busy just now. Please try again in a minute."
    default: "Signing in with \(identity.title) did not work. Please try again, or choose another provider."
    }
  }

  private func returnToApp(
    _ uri: String, state: String?, _ pairs: [(String, String)], effects: [Fault.Effect] = []
  ) -> SandboxAnswer {
    var form = Form(pairs.map { (name: $0.0, value: $0.1) })
    form.append("state", state)
    return .redirect(to: Misbehaviour.location(uri, form, effects: effects))
  }

  func identity(_ path: String, _ endpoint: Endpoint) -> BFF.Identity? {
    endpoint.parameter(of: path).flatMap(BFF.Identity.init)
  }

  private func bffCallback(_ identity: BFF.Identity) -> String {
    "\(issuer)\(Endpoint.backendStart.path(with: identity.rawValue))/callback"
  }

  // Cookies do not know ports: the names carry it.
  private var pendingCookie: String { "enroll_backend_" + (issuer.split(separator: ":").last ?? "") }

  private func setPending(
    _ value: String, _ identity: BFF.Identity, seconds: Int64, on answer: inout SandboxAnswer
  ) {
    answer.headers.append(
      (
        "Set-Cookie",
        "\(pendingCookie)=\(value); Path=\(Endpoint.backendStart.path(with: identity.rawValue)); "
          + "Max-Age=\(seconds); HttpOnly; Secure; SameSite=Lax"
      ))
  }
}
