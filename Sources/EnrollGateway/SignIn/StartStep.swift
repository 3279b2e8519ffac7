// `GET /v1/auth/{provider}`: a browser, or the browser of an app, is sent to the provider. Two challenges of PKCE: the gateway's own at the
// provider, and the app's at the gateway (RFC 9700 §2.1.1). Refused: an app that is not registered, a redirect or a return that is
// not on the list, an app without an S256 challenge.

import EnrollCore
import EnrollCrypto
import EnrollGatewayPages
import EnrollHTTP

extension Gateway {
  func start(_ request: WebRequest, _ provider: SignInProvider) throws(Interruption) -> WebResponse {
    guard let parameters = Parameters(encoded: request.query) else { throw .failure(.invalidRequest) }
    switch parameters["platform"] {
    case nil:
      let returnTo = try returnAddress(parameters)
      return try send(request, to: provider, parameters, app: nil, returnTo: returnTo)
    case "mobile": return try startForApp(request, provider, parameters)
    default: throw .failure(.invalidRequest)
    }
  }

  /// - Throws: `.failure(.invalidRequest)`: an address from a request is never followed (RFC 9700 §4.11).
  func returnAddress(_ parameters: Parameters) throws(Interruption) -> String? {
    guard let address = parameters["return_to"] else { return nil }
    guard mayReturn(to: address) else { throw .failure(.invalidRequest) }
    return address
  }

  func mayReturn(to address: String) -> Bool {
    settings.returnTo.contains { ASCII.equals($0, address) }
  }

  private func startForApp(
    _ request: WebRequest, _ provider: SignInProvider, _ parameters: Parameters
  ) throws(Interruption) -> WebResponse {
    try waiting(request, parameters) { (waiting) throws(Interruption) in
      try send(request, to: provider, parameters, app: waiting, returnTo: nil)
    }
  }

  /// `GET /v1/auth/email`: the same for the way that is no provider. The visit is carried sealed, so that it ends at the app.
  func startByEmail(_ request: WebRequest) throws(Interruption) -> WebResponse {
    let parameters = try query(request)
    let path = parameters["prompt"].map { ASCII.equals($0, "create") } ?? false ? "/register" : "/signin"
    switch parameters["platform"] {
    case nil: return try lead(to: path, Visit(returnTo: try returnAddress(parameters)))
    case "mobile":
      return try waiting(request, parameters) { (waiting) throws(Interruption) in
        try lead(to: path, Visit(app: waiting))
      }
    default: throw .failure(.invalidRequest)
    }
  }

  private func lead(to path: String, _ visit: Visit) throws(Interruption) -> WebResponse {
    let sealed = try owned { () throws(EnrollError) in
      try visit.sealed(with: keys, at: now, random: random)
    }
    guard let sealed else { return .redirect(to: path) }
    var query = FormEncoding(.query)
    query.add(Self.visitField, sealed)
    return .redirect(to: path + "?" + query.text)
  }

  /// Checks what an app asks with, and goes on with the app that waits.
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

  /// Visible ASCII (RFC 6749 Appendix A.5), which the cookie carries.
  private static func isState(_ text: String) -> Bool {
    (1...512).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
  }

  /// The one app, or the one that is named.
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

  /// Sends the browser to the provider, with a cookie of its own for the way back.
  /// - Parameters:
  ///   - purpose: a browser that has sent a form is led on by a page: its page lets no form be redirected to a provider.
  ///   - extra: parameters that this provider alone knows.
  ///   - question: nil: as the purpose wants it.
  ///   - over: the cookie of an attempt that has ended.
  func send(
    _ request: WebRequest, to provider: SignInProvider, purpose: Attempt.Purpose = .signIn,
    prompt: String? = nil,
    loginHint: String? = nil, extra: [(String, String)] = [], app: Attempt.App? = nil, returnTo: String?,
    question: Attempt.Question? = nil, over: [HTTPHeader] = []
  ) throws(Interruption) -> WebResponse {
    let question = question ?? (purpose != .signIn && provider.asksAgain ? .byAge : .usual)
    let url: String
    let transaction: TransactionRecord
    do throws(EnrollError) {
      (url, transaction) = try provider.begin(
        prompt: prompt, loginHint: loginHint, parameters: extra, question: question)
    } catch {
      log.write(.warning, "\(provider.name): a sign-in could not begin: \(error.code.name): \(error.message)")
      return try fail(
        EnrollGatewayPages.Failure(error), app: app, provider: provider, purpose: purpose, for: request)
    }
    guard let state = transaction.redirect?.state else { throw .failure(.internalError) }
    let attempt = Attempt(
      provider: provider.name, transaction: transaction, expires: now + Attempt.lifetimeSeconds, app: app,
      returnTo: returnTo, purpose: purpose, question: question)
    let (name, value) = try owned { () throws(EnrollError) in
      (try Attempt.cookieName(forState: state), try attempt.sealed(with: keys, at: now, random: random))
    }
    guard name.utf8.count + value.utf8.count <= Attempt.byteLimit else { throw .failure(.invalidRequest) }
    // A browser names its oldest cookies first (RFC 6265 §5.4).
    let tooMany = Attempt.surplus(in: request, beside: value.utf8.count)
    let headers =
      over + tooMany.map { HTTPHeader.cookie($0, "", seconds: 0) }
      + [.cookie(name, value, seconds: Attempt.cookieSeconds)]
    guard purpose != .signIn else { return .redirect(to: url, headers: headers) }
    return try page(views.leaving(to: provider, url: url, for: request, headers: headers))
  }

  /// An app is told by its redirect, a person by a page.
  func fail(
    _ failure: EnrollGatewayPages.Failure, app waiting: Attempt.App?, provider: SignInProvider,
    purpose: Attempt.Purpose = .signIn, for request: WebRequest, headers: [HTTPHeader] = []
  ) throws(Interruption) -> WebResponse {
    guard let waiting, let app = settings.apps.first(where: { ASCII.equals($0.id, waiting.id) }) else {
      return views.failure(
        failure, for: request, provider: provider, retryAt: purpose == .signIn ? nil : "/account",
        headers: headers)
    }
    return returnToApp(
      app, waiting.redirectURI, state: waiting.state,
      [("error", failure.oauthError), ("error_description", failure.words(provider: provider.label))],
      for: request, headers: headers)
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
