// The account page, and the requests that end sessions or sign the user out.

import EnrollRules
import EnrollSteps
import EnrollGatewayPages
import EnrollHTTP

/// The pages for the user of this browser.
struct AccountPages: GatewaySteps {
  let services: GatewayServices
  let store: any SessionStore
  let sessions: GatewaySessions

  func startPage(_ request: WebRequest) throws(Interruption) -> WebResponse {
    .redirect(to: try sessions.liveSession(request) == nil ? "/login" : "/account")
  }

  func signInChoice(_ request: WebRequest) throws(Interruption) -> WebResponse {
    try choice(request, isSignUp: false)
  }

  func signUpChoice(_ request: WebRequest) throws(Interruption) -> WebResponse {
    try choice(request, isSignUp: true)
  }

  private func choice(_ request: WebRequest, isSignUp: Bool) throws(Interruption) -> WebResponse {
    let parameters = try request.parameters()
    let carried: [(String, String)]
    if let sealed = parameters[SignInDestination.field], try sealedDestination(parameters) != nil {
      carried = [(SignInDestination.field, sealed)]
    } else {
      carried = try returnAddress(parameters).map { [("return_to", $0)] } ?? []
    }
    return views.choice(
      providers, isSignUp: isSignUp, carrying: carried, hasEmail: services.registration != nil, for: request)
  }

  func accountPage(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let hash = sessions.sessionHash(request), let session = try sessions.liveSession(request) else {
      return .redirect(to: "/login", headers: sessions.clearingSession(request))
    }
    let (identities, sessions) = try callingStore { () throws(StoreFailure) in
      (
        try store.identities(ofAccount: session.account.id),
        try store.sessions(ofAccount: session.account.id, at: now)
      )
    }
    let formToken = try formToken(hash)
    let notice = Parameters(encoded: request.query)?["notice"].flatMap { AccountPage.Notice(rawValue: $0) }
    let page = views.account(
      session, identities: identities, sessions: sessions, providers: providers, apps: settings.apps,
      formToken: formToken, notice: notice, hasPassword: changesPassword(identities), now: now, for: request)
    guard let page else { throw .failure(.internalError) }
    return page
  }

  /// Whether the account has a password that the user can change on a page of the gateway.
  private func changesPassword(_ identities: [Identity]) -> Bool {
    guard let registration = services.registration, registration.own != nil, registration.asksForPasswords
    else { return false }
    return identities.contains { ASCII.equals($0.provider, RegistrationSettings.providerName) }
  }

  func signOut(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let (hash, session) = try sessions.ownForm(request) else {
      return .redirect(to: "/signed-out", headers: sessions.clearingSession(request))
    }
    try callingStore { () throws(StoreFailure) in
      try store.endSession(tokenHash: hash, at: now, from: AuditOrigin(of: request))
    }
    log.write(.info, "account \(session.account.id) signed out")
    return .redirect(to: "/signed-out", headers: GatewaySessions.withoutSession)
  }

  func endSession(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let (_, session) = try sessions.ownForm(request) else { return .redirect(to: "/login") }
    guard let text = request.form?["session"] else { throw .failure(.invalidRequest) }
    let isEnded = try callingStore { () throws(StoreFailure) in
      guard let id = SessionID(text) else { return false }
      return try store.endSession(
        id: id, ofAccount: session.account.id, at: now, from: AuditOrigin(of: request))
    }
    guard isEnded else { return .redirect(to: "/account") }
    log.write(.info, "account \(session.account.id): a session was ended")
    return .redirect(to: AccountPage.Notice.sessionEnded.path)
  }

  /// Ends the sessions in every browser and every app.
  func endAllSessions(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let (_, session) = try sessions.ownForm(request) else { return .redirect(to: "/login") }
    let count = try callingStore { () throws(StoreFailure) in
      try store.endSessions(
        ofAccount: session.account.id, exceptTokenHash: nil, at: now, from: AuditOrigin(of: request))
    }
    log.write(.info, "account \(session.account.id): \(count) sessions were ended")
    return .redirect(to: "/signed-out-everywhere", headers: GatewaySessions.withoutSession)
  }

}

extension Views {
  /// The page on which the user chooses a way to sign in.
  /// - Parameter carried: the parameters that are added to every link, so that the destination after the sign-in is
  ///   kept.
  func choice(
    _ providers: [SignInProvider], isSignUp: Bool, carrying carried: [(String, String)], hasEmail: Bool,
    for request: WebRequest
  ) -> WebResponse {
    let shown = providers.compactMap { provider in
      let prompt = isSignUp ? provider.registrationPrompt.map { [("prompt", $0)] } ?? [] : []
      return link("/v1/auth/" + provider.name, carried + prompt).map {
        ChoicePage.Provider(label: provider.label, link: $0, sign: ProviderSign(named: provider.name))
      }
    }
    let (path, other) = isSignUp ? ("/signup", "/login") : ("/login", "/signup")
    var page = ChoicePage(isSignUp ? .signUp : .signIn, providers: shown, other: link(other, carried))
    page.email = hasEmail ? link(isSignUp ? "/register" : "/signin", carried) : nil
    return answer(page, for: request) { context in
      let others = pages.languages.all.filter { $0.tag != context.language.tag }
      context.otherLanguages = others.compactMap { language in
        link(path, carried + [(Self.languageParameter, language.tag.text)]).map { (language, $0) }
      }
    }
  }

  func account(
    _ session: LiveSession, identities: [Identity], sessions: [LiveSession], providers: [SignInProvider],
    apps: [RegisteredApp], formToken: String, notice: AccountPage.Notice?,
    hasPassword: Bool, now: UnixTime, for request: WebRequest
  ) -> WebResponse? {
    guard let end = link("/account/sessions/end"), let signOut = link("/signout"),
      let everywhere = link("/account/sessions/end-all")
    else { return nil }
    let page = AccountPage(
      name: session.identity.name, created: session.account.created.seconds,
      identities: identities.map { identity in
        AccountPage.Identity(
          id: identity.key.formText,
          label: providers.first { ASCII.equals($0.name, identity.provider) }?.label ?? identity.provider,
          sign: ProviderSign(named: identity.provider), email: identity.email,
          isEmailVerified: identity.isEmailVerified)
      },
      sessions: sessions.map { one in
        AccountPage.Session(
          id: one.id.text,
          app: one.app.map { id in apps.first { ASCII.equals($0.id, id) }?.title ?? id }, device: one.device,
          created: one.created.seconds, lastSeen: one.lastSeen.seconds,
          isCurrent: one.id == session.id)
      },
      connections: providers.map { method($0) },
      actions: AccountPage.Actions(
        endSession: end, signOut: signOut, signOutEverywhere: everywhere, connect: link("/account/connect"),
        disconnect: link("/account/disconnect"), export: link("/account/export"),
        deletion: link("/account/delete"), password: hasPassword ? link("/account/password") : nil),
      token: FormToken(name: Self.formField, value: formToken), notice: notice, now: now.seconds)
    return answer(page, for: request)
  }

  func signedOut(isEverywhere: Bool, for request: WebRequest) -> WebResponse {
    answer(SignedOutPage(isEverywhere: isEverywhere, signIn: link("/login")), for: request)
  }
}
