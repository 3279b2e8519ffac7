// A registration with another app: the requests `init` and `complete` of the app that registers, and a page that plays
// the other app. The sandbox refuses an `init` request with data, an artefact of another session, and a session that
// was used before.

import EnrollJSON
import Foundation

extension Provider {
  /// Answers a request with an empty body. The answer is `{sessionId, link}`, with the configured member names.
  func beginOtherApp(_ http: SandboxRequest) -> SandboxAnswer {
    guard http.body.isEmpty || http.json?.object?.isEmpty == true else {
      return Misbehaviour.refusal(.invalidRequest("init takes no data"))
    }
    let (id, request) = (Encoding.randomToken(), Encoding.randomToken())
    otherApp.begin(id: id, request: request, until: now + options.interactionLifetimeSeconds, now: now)
    return .json(
      .object([
        (otherApp.fields.sessionID, .string(id)),
        (otherApp.fields.link, .string("\(issuer)\(Endpoint.otherApp.path)?request=\(request)")),
      ]))
  }

  /// The page that plays the other app.
  func playOtherApp(_ http: SandboxRequest, effects: [Fault.Effect]) -> SandboxAnswer {
    guard let form = http.method == "POST" ? http.form : Form(encoded: http.query),
      let session = otherApp.session(ofRequest: form["request"], now: now)
    else { return Page.error("Nobody waits for the other app: this request is over.").answer() }
    guard http.method == "POST" else {
      redirectEffects[session.request] = effects
      return Page.otherApp(session, client: appOfOtherApp, users: users, returnTo: otherAppReturn).answer()
    }
    guard let user = user(form["user"]) else { return Page.otherAppDeclined.answer() }
    let struck = redirectEffects.removeValue(forKey: session.request) ?? []
    return .redirect(to: approve(session, user: user, effects: struck + effects))
  }

  /// Answers `{sessionId, artefactId}` with tokens.
  func completeOtherApp(_ http: SandboxRequest, effects: [Fault.Effect]) -> SandboxAnswer {
    do throws(OAuthRefusal) {
      guard let json = http.json, let id = json[otherApp.fields.sessionID]?.string,
        let artefactID = json[otherApp.fields.artefactID]?.string
      else {
        throw .invalidRequest(
          "a JSON object with \(otherApp.fields.sessionID) and \(otherApp.fields.artefactID) was expected")
      }
      let userName = try otherApp.complete(id, artefactID: artefactID, now: now)
      let scopes = ["openid", "profile", "email", "offline_access"]
      let family = grants.open(
        UserGrant(
          userName: userName, clientID: appOfOtherApp.id,
          scopes: otherApp.answer == .withoutIDToken ? ["profile", "email", "offline_access"] : scopes,
          nonce: nil, authTime: now, contextClass: .twoFactors, sessionID: Encoding.randomToken()),
        thumbprint: nil, refreshExpiresAt: now + options.refreshLifetimeSeconds, now: now)
      if otherApp.answer == .refreshTokenOnly {
        return .json(.object([("refresh_token", family.refreshToken.map { .string($0) })]))
      }
      return issue(
        family, key: nil, scopes: family.grant.scopes, nonce: nil, sendsRefreshToken: true, effects: effects)
    } catch {
      return Misbehaviour.refusal(error)
    }
  }

  /// Approves the registration in the other app without showing its page, and returns the resulting redirect.
  /// - Throws: if no registration waits for the link, or no user has the name.
  public func approve(otherAppLink link: String, user name: String = "alice") throws -> String {
    let request = URLComponents(string: link)?.queryItems?.first { $0.name == "request" }?.value
    guard let session = otherApp.session(ofRequest: request, now: now) else {
      throw ControlError("no registration waits for this link of the other app")
    }
    guard let user = user(name) else { throw ControlError("there is no user \(name)") }
    return approve(session, user: user, effects: plan.strike(.otherApp))
  }

  private func approve(
    _ session: OtherAppSessions.Session, user: User, effects: [Fault.Effect]
  ) -> String {
    let artefactID = Encoding.randomToken()
    otherApp.approve(session.request, userName: user.name, artefactID: artefactID)
    let form = Form([(name: otherApp.fields.artefactID, value: artefactID)])
    return Misbehaviour.location(otherAppReturn, form, effects: effects)
  }

  private var appOfOtherApp: SandboxClient { options.clients.first ?? .sample }

  /// The link of the registering app, to which the other app returns.
  private var otherAppReturn: String {
    appOfOtherApp.redirectURIs.first { !$0.hasPrefix("http://") } ?? "com.example.app:/callback"
  }
}
