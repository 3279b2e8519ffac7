// `GET /v1/auth/{provider}`: redirects a browser, or the browser of an app, to the provider. There are two PKCE challenges: the
// gateway's at the provider, and the app's at the gateway (RFC 9700 §2.1.1). Refused: an app that is not registered, a redirect
// or return URL that is not in the list, an app without an S256 challenge.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollGatewayPages
import EnrollHTTP

/// Sends the browser to a provider, and back to an app.
struct SignInStart: GatewaySteps {
  let services: GatewayServices

  /// Starts a sign-in.
  /// - Parameter name: the name of a provider, or the name of sign-in by e-mail.
  func start(_ request: WebRequest, _ name: String) throws(Interruption) -> WebResponse {
    if services.isEmail(name) { return try startByEmail(request) }
    return try start(request, try services.provider(name))
  }

  private func start(_ request: WebRequest, _ provider: SignInProvider) throws(Interruption) -> WebResponse {
    let parameters = try request.parameters()
    if let destination = try sealedDestination(parameters) {
      return try send(
        request, to: provider, parameters, app: destination.app, returnTo: returnAddress(of: destination))
    }
    switch parameters["platform"] {
    case nil:
      let returnTo = try returnAddress(parameters)
      return try send(request, to: provider, parameters, app: nil, returnTo: returnTo)
    case "mobile": return try startForApp(request, provider, parameters)
    default: throw .failure(.invalidRequest)
    }
  }

  private func startForApp(
    _ request: WebRequest, _ provider: SignInProvider, _ parameters: Parameters
  ) throws(Interruption) -> WebResponse {
    try waiting(request, parameters) { (waiting) throws(Interruption) in
      try send(request, to: provider, parameters, app: waiting, returnTo: nil)
    }
  }

  /// `GET /v1/auth/email`: starts a sign-in by e-mail. The form gets the destination, sealed, so that the
  /// sign-in ends at the app.
  private func startByEmail(_ request: WebRequest) throws(Interruption) -> WebResponse {
    let parameters = try request.parameters()
    let form = parameters["prompt"].map { ASCII.equals($0, "create") } ?? false ? "/register" : "/signin"
    switch parameters["platform"] {
    case nil:
      let destination = SignInDestination(returnTo: try returnAddress(parameters))
      return .redirect(to: try path(form, keeping: destination))
    case "mobile":
      return try waiting(request, parameters) { (waiting) throws(Interruption) in
        .redirect(to: try path(form, keeping: SignInDestination(app: waiting)))
      }
    default: throw .failure(.invalidRequest)
    }
  }

  /// Checks the parameters of an app's request, and calls `then` with the app that waits for the sign-in.
  private func waiting(
    _ request: WebRequest, _ parameters: Parameters,
    _ then: (Attempt.App) throws(Interruption) -> WebResponse
  ) throws(Interruption) -> WebResponse {
    let app = try app(named: parameters["app"] ?? parameters["client_id"])
    guard let redirectURI = app.redirectURI(named: parameters["redirect_uri"]) else {
      throw .failure(.unknownApp)
    }
    let state = parameters["state"]
    guard state.map({ Self.isState($0) }) ?? true else { throw .failure(.invalidRequest) }
    guard let challenge = parameters["code_challenge"], Self.isChallenge(challenge),
      parameters["code_challenge_method"].map({ ASCII.equals($0, PKCE.challengeMethod) }) ?? false
    else {
      return returnToApp(
        app, redirectURI, state: state,
        [
          ("error", "invalid_request"),
          ("error_description", "an S256 code_challenge is needed, see RFC 7636"),
        ],
        for: request)
    }
    return try then(Attempt.App(id: app.id, redirectURI: redirectURI, state: state, challenge: challenge))
  }

  /// Whether the text is a valid state: visible ASCII (RFC 6749 Appendix A.5), and short, because the state is stored
  /// in the cookie.
  private static func isState(_ text: String) -> Bool {
    (1...512).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
  }

  /// The app with this name. Without a name, the only app.
  private func app(named name: String?) throws(Interruption) -> RegisteredApp {
    guard let name else {
      guard settings.apps.count == 1 else { throw .failure(.unknownApp) }
      return settings.apps[0]
    }
    guard let app = settings.apps.first(where: { ASCII.equals($0.id, name) }) else {
      throw .failure(.unknownApp)
    }
    return app
  }

  private static func isChallenge(_ text: String) -> Bool {
    text.utf8.count == 43 && Base64URL.decode(text) != nil
  }

  private func send(
    _ request: WebRequest, to provider: SignInProvider, _ parameters: Parameters, app: Attempt.App?,
    returnTo: String?
  ) throws(Interruption) -> WebResponse {
    try send(
      request, to: provider, purpose: .signIn, prompt: parameters["prompt"],
      loginHint: parameters["login_hint"], app: app, returnTo: returnTo)
  }

  /// Redirects the browser to the provider, with a new cookie for the answer.
  /// - Parameters:
  ///   - purpose: a sign-in is answered with a redirect. Any other purpose is answered with a page that redirects to
  ///     the provider, because the browser has sent a form, and the form's page allows no redirect to a provider.
  ///   - extra: parameters for this provider only.
  ///   - reauthentication: nil for the default of the purpose.
  ///   - clearingCookies: headers that delete the cookie of a finished attempt.
  func send(
    _ request: WebRequest, to provider: SignInProvider, purpose: Attempt.Purpose = .signIn,
    prompt: String? = nil,
    loginHint: String? = nil, extra: [(String, String)] = [], app: Attempt.App? = nil, returnTo: String?,
    reauthentication: Attempt.Reauthentication? = nil, clearingCookies: [HTTPHeader] = []
  ) throws(Interruption) -> WebResponse {
    let reauthentication =
      reauthentication ?? (purpose != .signIn && provider.supportsReauthentication ? .byAge : .notRequested)
    let url: String
    let transaction: TransactionRecord
    do throws(EnrollError) {
      (url, transaction) = try provider.begin(
        prompt: prompt, loginHint: loginHint, parameters: extra, reauthentication: reauthentication)
    } catch {
      log.write(.warning, "\(provider.name): a sign-in could not begin: \(error.code.name): \(error.message)")
      return try fail(
        EnrollGatewayPages.Failure(error), cause: error, app: app, provider: provider, purpose: purpose,
        for: request)
    }
    guard let state = transaction.redirect?.state else { throw .failure(.internalError) }
    let attempt = Attempt(
      provider: provider.name, transaction: transaction, expires: now + Attempt.lifetimeSeconds, app: app,
      returnTo: returnTo, purpose: purpose, reauthentication: reauthentication)
    let (name, value) = try internalCall { () throws(EnrollError) in
      (try Attempt.cookieName(forState: state), try attempt.sealed(with: keys, at: now, random: random))
    }
    guard name.utf8.count + value.utf8.count <= Attempt.byteLimit else { throw .failure(.invalidRequest) }
    // Browsers send their oldest cookies first (RFC 6265 §5.4).
    let tooMany = Attempt.surplus(in: request, beside: value.utf8.count)
    let headers =
      clearingCookies + tooMany.map { HTTPHeader.cookie($0, "", seconds: 0) }
      + [.cookie(name, value, seconds: Attempt.cookieSeconds)]
    guard purpose != .signIn else { return .redirect(to: url, headers: headers) }
    return try page(views.redirect(to: provider, url: url, for: request, headers: headers))
  }

  /// Reports a failure: to an app with the app's redirect, to a user with a page.
  /// - Parameter cause: the error behind the failure, if there is one: an app may be told more about that error than a
  ///   user.
  func fail(
    _ failure: EnrollGatewayPages.Failure, cause: EnrollError? = nil, app waiting: Attempt.App?,
    provider: SignInProvider, purpose: Attempt.Purpose = .signIn, for request: WebRequest,
    headers: [HTTPHeader] = []
  ) throws(Interruption) -> WebResponse {
    guard let waiting, let app = settings.apps.first(where: { ASCII.equals($0.id, waiting.id) }) else {
      return views.failure(
        failure, for: request, provider: provider, retryAt: purpose == .signIn ? nil : "/account",
        headers: headers)
    }
    let refusal = AppRefusal(failure, cause: cause, provider: provider.label)
    return returnToApp(
      app, waiting.redirectURI, state: waiting.state,
      [("error", refusal.error), ("error_description", refusal.description)], for: request, headers: headers)
  }

  func returnToApp(
    _ app: RegisteredApp, _ redirectURI: String, state: String?, _ pairs: [(String, String)],
    for request: WebRequest, headers: [HTTPHeader] = []
  ) -> WebResponse {
    var query = FormEncoding(.query)
    for (name, value) in pairs { query.add(name, value) }
    if let state { query.add("state", state) }
    let separator = redirectURI.utf8.contains(0x3F) ? "&" : "?"
    let url = redirectURI + separator + query.text
    let page =
      app.showsContinuePage ? views.continueInApp(app, url: url, for: request, headers: headers) : nil
    return page ?? .redirect(to: url, headers: headers)
  }
}

extension Views {
  /// A page that redirects to the provider at once, and also has a link to the provider. nil for a URL that a page must
  /// not link to.
  func redirect(
    to provider: SignInProvider, url: String, for request: WebRequest, headers: [HTTPHeader]
  ) -> WebResponse? {
    guard let link = try? PageLink(web: url) else { return nil }
    return answer(
      ProviderRedirectPage(provider: provider.label, link: link), for: request,
      headers: [HTTPHeader("Refresh", "0;url=\(url)")] + headers)
  }

  /// The page with a link to the app; nil for a URL that a page must not link to.
  func continueInApp(
    _ app: RegisteredApp, url: String, for request: WebRequest, headers: [HTTPHeader]
  ) -> WebResponse? {
    guard let link = try? PageLink(app: url) else { return nil }
    return answer(ContinuePage(WaitingApp(name: app.title, link: link)), for: request, headers: headers)
  }
}
