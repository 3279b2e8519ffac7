// The browser's session: the account page, ending sessions, signing out. Forms are refused that this gateway did not write for this
// session (CSRF): each has a mark that only the gateway can make, and browsers say where a request comes from.

import EnrollCore
import EnrollGatewayPages
import EnrollHTTP

extension Gateway {
  /// The session of the browser's cookie; nil for none that lives.
  func liveSession(_ request: WebRequest) throws(Interruption) -> LiveSession? {
    guard let hash = sessionHash(request) else { return nil }
    let session = try stored { () throws(StoreFailure) in try store.session(tokenHash: hash, at: now) }
    // An app's token opens no page: what a browser may do is more.
    return session?.app == nil ? session : nil
  }

  func sessionHash(_ request: WebRequest) -> [UInt8]? {
    request.cookie(Self.sessionCookie).value.flatMap { OneTimeText.hash(of: $0) }
  }

  func choice(_ request: WebRequest, isSignUp: Bool) throws(Interruption) -> WebResponse {
    guard let parameters = Parameters(encoded: request.query) else { throw .failure(.invalidRequest) }
    return views.choice(
      providers, isSignUp: isSignUp, returnTo: try returnAddress(parameters), hasEmail: registration != nil,
      for: request)
  }

  func accountPage(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let hash = sessionHash(request), let session = try liveSession(request) else {
      return .redirect(to: "/login", headers: forgetting(request))
    }
    let (identities, sessions) = try stored { () throws(StoreFailure) in
      (
        try store.identities(ofAccount: session.account.id),
        try store.sessions(ofAccount: session.account.id, at: now)
      )
    }
    let mark = try owned { () throws(EnrollError) in try keys.mark(hash, for: .form, at: now) }
    let notice = Parameters(encoded: request.query)?["notice"].flatMap { AccountPage.Notice(rawValue: $0) }
    let page = views.account(
      session, identities: identities, sessions: sessions, providers: providers, apps: settings.apps,
      formToken: mark, notice: notice, hasPassword: changesPassword(identities), now: now, for: request)
    guard let page else { throw .failure(.internalError) }
    return page
  }

  /// Whether the page for a new password is one for this account.
  private func changesPassword(_ identities: [Identity]) -> Bool {
    guard let registration, registration.own != nil, registration.asksForPasswords else { return false }
    return identities.contains { ASCII.equals($0.provider, RegistrationSettings.providerName) }
  }

  func signOut(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let (hash, session) = try ownForm(request) else {
      return .redirect(to: "/signed-out", headers: forgetting(request))
    }
    try stored { () throws(StoreFailure) in
      try store.endSession(tokenHash: hash, at: now, from: origin(of: request))
    }
    log.write(.info, "account \(session.account.id) signed out")
    return .redirect(to: "/signed-out", headers: Self.withoutSession)
  }

  func endSession(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let (_, session) = try ownForm(request) else { return .redirect(to: "/login") }
    guard let id = request.form?["session"] else { throw .failure(.invalidRequest) }
    let isEnded = try stored { () throws(StoreFailure) in
      try store.endSession(id: id, ofAccount: session.account.id, at: now, from: origin(of: request))
    }
    guard isEnded else { return .redirect(to: "/account") }
    log.write(.info, "account \(session.account.id): a session was ended")
    return .redirect(to: Self.account(.sessionEnded))
  }

  /// In every browser and every app.
  func endAllSessions(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let (_, session) = try ownForm(request) else { return .redirect(to: "/login") }
    let count = try stored { () throws(StoreFailure) in
      try store.endSessions(
        ofAccount: session.account.id, exceptTokenHash: nil, at: now, from: origin(of: request))
    }
    log.write(.info, "account \(session.account.id): \(count) sessions were ended")
    return .redirect(to: "/signed-out-everywhere", headers: Self.withoutSession)
  }

  /// - Returns: the session whose form this is; nil where there is no session any more.
  /// - Throws: `.failure(.formExpired)` for a form that another site, or another session's page, sent.
  func ownForm(_ request: WebRequest) throws(Interruption) -> (hash: [UInt8], session: LiveSession)? {
    guard !isFromElsewhere(request) else { throw .failure(.formExpired) }
    guard let hash = sessionHash(request), let session = try liveSession(request) else { return nil }
    guard let mark = request.form?[Views.formField], keys.isMark(mark, of: hash, for: .form) else {
      throw .failure(.formExpired)
    }
    return (hash, session)
  }

  /// Whether the browser says that another site's page has sent the request.
  func isFromElsewhere(_ request: WebRequest) -> Bool {
    request.values(of: "Origin").contains { !ASCII.equals($0, settings.publicURL) }
      || request.values(of: "Sec-Fetch-Site").contains { !ASCII.equals($0, "same-origin") }
  }

  /// Takes away a cookie that opens nothing.
  func forgetting(_ request: WebRequest) -> [HTTPHeader] {
    request.cookie(Self.sessionCookie) == .absent ? [] : Self.withoutSession
  }
}
