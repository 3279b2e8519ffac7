// What people see: values of the gateway become pages, in the language of the browser.

import EnrollCore
import EnrollGatewayPages
import EnrollHTTP

/// Makes the answers that are pages.
struct Views: Sendable {
  let pages: Pages

  /// The language that the address names (OpenID Connect Core §3.1.2.1), else the one that the browser asks for.
  func context(_ request: WebRequest) -> PageContext {
    let accepted = request.values(of: "Accept-Language")
    let named = Parameters(encoded: request.query)?[Self.languageParameter]
    return PageContext(
      pages.languages.choose(
        explicit: named, acceptLanguage: accepted.isEmpty ? nil : accepted.joined(separator: ", ")))
  }

  private static let languageParameter = "ui_locales"

  func answer(_ page: PageContent, status: Int = 200, headers: [HTTPHeader] = []) -> WebResponse {
    WebResponse(
      status, headers: page.headers.map { HTTPHeader($0.name, $0.value) } + headers, body: page.bytes)
  }

  /// A path of the gateway, with parameters that are text.
  func link(_ path: String, _ parameters: [(String, String)] = []) -> PageLink? {
    var query = FormEncoding(.query)
    for (name, value) in parameters { query.add(name, value) }
    return try? PageLink(path: parameters.isEmpty ? path : path + "?" + query.text)
  }

  func choice(
    _ providers: [SignInProvider], isSignUp: Bool, returnTo: String?, hasEmail: Bool, for request: WebRequest
  ) -> WebResponse {
    let carried = returnTo.map { [("return_to", $0)] } ?? []
    let shown = providers.compactMap { provider in
      link("/v1/auth/" + provider.name, carried).map {
        ChoicePage.Provider(label: provider.label, link: $0, sign: ProviderSign(named: provider.name))
      }
    }
    let (path, other) = isSignUp ? ("/signup", "/login") : ("/login", "/signup")
    var context = context(request)
    context.otherLanguages = pages.languages.all.filter { $0.tag != context.language.tag }.compactMap {
      language in
      link(path, carried + [(Self.languageParameter, language.tag.text)]).map { (language, $0) }
    }
    var page = ChoicePage(isSignUp ? .signUp : .signIn, providers: shown, other: link(other, carried))
    page.email = hasEmail ? link(isSignUp ? "/register" : "/signin", carried) : nil
    return answer(pages.page(page, in: context))
  }

  func failure(
    _ failure: EnrollGatewayPages.Failure, for request: WebRequest, provider: SignInProvider? = nil,
    retryAt path: String? = nil, headers: [HTTPHeader] = []
  ) -> WebResponse {
    let retry = path ?? provider.map { "/v1/auth/" + $0.name }
    let page = FailurePage(
      failure, provider: provider?.label, retry: retry.flatMap { link($0) },
      otherWay: link("/login"), start: link("/"), reference: RequestID.current ?? failure.rawValue)
    return answer(pages.page(page, in: context(request)), status: failure.status, headers: headers)
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
          id: one.id,
          app: one.app.map { id in apps.first { ASCII.equals($0.id, id) }?.title ?? id }, device: one.device,
          created: one.created.seconds, lastSeen: one.lastSeen.seconds,
          isCurrent: ASCII.equals(one.id, session.id))
      },
      connections: providers.map { way($0) },
      actions: AccountPage.Actions(
        endSession: end, signOut: signOut, signOutEverywhere: everywhere, connect: link("/account/connect"),
        disconnect: link("/account/disconnect"), export: link("/account/export"),
        deletion: link("/account/delete"), password: hasPassword ? link("/account/password") : nil),
      token: FormToken(name: Self.formField, value: formToken), notice: notice, now: now.seconds)
    return answer(pages.page(page, in: context(request)))
  }

  static let formField = "token"

  private func way(_ provider: SignInProvider) -> ConfirmPage.Way {
    ConfirmPage.Way(
      name: provider.name, label: provider.label, sign: ProviderSign(named: provider.name))
  }

  /// The page goes on to the provider by itself, at once, and has a link there. nil for an address that no page may lead to.
  func leaving(
    to provider: SignInProvider, url: String, for request: WebRequest, headers: [HTTPHeader]
  ) -> WebResponse? {
    guard let link = try? PageLink(web: url) else { return nil }
    return answer(
      pages.page(LeavingPage(provider: provider.label, link: link), in: context(request)),
      headers: [HTTPHeader("Refresh", "0;url=\(url)")] + headers)
  }

  func confirm(
    _ ways: [SignInProvider], then: ConfirmedWish, formToken: String, for request: WebRequest
  ) -> WebResponse? {
    guard let action = link("/account/confirm/start"), let account = link("/account") else { return nil }
    let page = ConfirmPage(
      ways: ways.map { way($0) }, action: action, then: then.rawValue, account: account,
      token: FormToken(name: Self.formField, value: formToken))
    return answer(pages.page(page, in: context(request)))
  }

  func merge(provider: String, email: String?, formToken: String, for request: WebRequest) -> WebResponse? {
    guard let action = link("/account/merge/confirm"), let account = link("/account") else { return nil }
    let page = MergePage(
      provider: provider, email: email, action: action, account: account,
      token: FormToken(name: Self.formField, value: formToken))
    return answer(pages.page(page, in: context(request)))
  }

  func delete(formToken: String, for request: WebRequest) -> WebResponse? {
    guard let action = link("/account/delete/confirm"), let account = link("/account") else { return nil }
    let token = FormToken(name: Self.formField, value: formToken)
    return answer(
      pages.page(DeletePage(action: action, account: account, token: token), in: context(request)))
  }

  func deleted(for request: WebRequest) -> WebResponse {
    answer(pages.page(DeletedPage(signUp: link("/signup")), in: context(request)))
  }

  func dataDeletion(isDone: Bool, for request: WebRequest) -> WebResponse {
    answer(pages.page(DataDeletionPage(isDone: isDone), in: context(request)), status: isDone ? 200 : 404)
  }

  /// The language of the pages that answer this request.
  func language(_ request: WebRequest) -> Language { context(request).language }

  func signedOut(isEverywhere: Bool, for request: WebRequest) -> WebResponse {
    answer(
      pages.page(SignedOutPage(isEverywhere: isEverywhere, signIn: link("/login")), in: context(request)))
  }

  /// nil for an address that no page may lead to.
  func continueInApp(
    _ app: RegisteredApp, url: String, for request: WebRequest, headers: [HTTPHeader]
  ) -> WebResponse? {
    guard let link = try? PageLink(app: url) else { return nil }
    return answer(
      pages.page(ContinuePage(WaitingApp(name: app.title, link: link)), in: context(request)),
      headers: headers)
  }

  /// nil for a path that no page may lead to.
  func sendAgain(_ answer: FormPostAnswer, to provider: SignInProvider, for request: WebRequest)
    -> WebResponse?
  {
    guard let action = link(request.path) else { return nil }
    return self.answer(
      pages.page(
        SendAgainPage(provider: provider.label, action: action, fields: answer.fields), in: context(request)))
  }

  /// nil for a name that no page loads, neither ours nor Okta's.
  func asset(_ path: String) -> WebResponse? {
    (pages.assets + [.oktaSignIn]).first { ASCII.equals($0.path, path) }.map { asset in
      WebResponse(200, headers: asset.headers.map { HTTPHeader($0.name, $0.value) }, body: asset.bytes)
    }
  }
}
