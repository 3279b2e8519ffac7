// `GET /v1/auth/{provider}/callback`: the provider sent the browser back. The browser's cookie proves that the sign-in
// began in this browser (RFC 9700 §4.7). The gateway exchanges the code, verifies the answer, and finds or creates the
// account in one call of the store. Refused: an answer in another browser, an answer of another provider (mix-up, RFC
// 9700 §4.4), an answer after ten minutes, and an answer whose code this replica has already sent to the provider. A
// provider may revoke the tokens of a code that it gets twice (RFC 6749 §4.1.2).

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollGatewayPages
import EnrollHTTP

/// Handles the answers of providers.
struct SignInCallback: GatewaySteps {
  let services: GatewayServices
  let store: any SessionStore & AccountChanges
  let sessions: GatewaySessions
  let completion: SignInCompletion
  let starts: SignInStart
  let linking: IdentityLinking
  let limits: Limits
  let finished: FinishedAttempts
  let metrics: GatewayMetrics

  func handleCallback(_ request: WebRequest, _ provider: SignInProvider) throws(Interruption) -> WebResponse {
    let parameters = try request.parameters()
    if parameters[Self.usedField] != nil { return try afterUse(request, provider, parameters) }
    // A code must come in the requested response mode; an error may come in any response mode.
    guard !provider.answersByForm || parameters["code"] == nil else { throw .failure(.invalidRequest) }
    return try handleCallback(request, provider, query: request.query ?? "", parameters["state"])
  }

  /// Handles the provider's answer in either response mode.
  /// - Parameters:
  ///   - query: the provider's answer, as the query of a redirect.
  ///   - unsignedName: an unsigned name for pages, if the verified claims have no name.
  func handleCallback(
    _ request: WebRequest, _ provider: SignInProvider, query: String, _ state: String?,
    unsignedName: String? = nil
  ) throws(Interruption) -> WebResponse {
    guard let state, let name = try? Attempt.cookieName(forState: Secret(state)) else {
      throw .failure(.attemptMissing)
    }
    // The attempt's cookie is gone, but there is a session: probably this URL has already signed the browser in, and is
    // opened again with the back button or a second click.
    if request.cookie(name) == .absent, try sessions.liveSession(request) != nil {
      return .redirect(to: "/account")
    }
    guard let attempt = request.cookie(name).value.flatMap({ Attempt(sealed: $0, with: keys) }),
      ASCII.equals(attempt.provider, provider.name)
    else { throw .failure(.attemptMissing) }

    let clearingCookie = HTTPHeader.cookie(name, "", seconds: 0)
    guard now < attempt.expires else {
      return try starts.fail(
        .attemptExpired, app: attempt.app, provider: provider, purpose: attempt.purpose, for: request,
        headers: [clearingCookie])
    }
    guard finished.insert(name) else {
      return try answerUsed(.attemptUsed, attempt, provider, for: request, headers: [])
    }
    let url = "\(settings.publicURL)\(request.path)?\(query)"
    let answer: Result<ProviderSignIn, SignInRefusal>
    do throws(EnrollError) {
      answer = try provider.handleCallback(url, attempt.transaction, unsignedName: unsignedName)
    } catch {
      finished.remove(name)
      log.write(.warning, "\(provider.name): \(error.code.name): \(error.message)")
      count(EnrollGatewayPages.Failure(error), at: provider)
      // The code was not sent: the cookie stays, and the same URL may be tried again.
      return try starts.fail(
        EnrollGatewayPages.Failure(error), cause: error, app: attempt.app, provider: provider,
        purpose: attempt.purpose, for: request)
    }
    switch answer {
    case .failure(let refusal):
      log.write(.warning, "\(provider.name): \(refusal.line)")
      count(refusal.failure, at: provider)
      guard refusal.isOfCode else {
        return try starts.fail(
          refusal.failure, cause: refusal.cause, app: attempt.app, provider: provider,
          purpose: attempt.purpose, for: request, headers: [clearingCookie])
      }
      return try answerUsed(refusal.failure, attempt, provider, for: request, headers: [clearingCookie])
    case .success(let signIn):
      return try accept(signIn, request, attempt, provider, clearingCookie: clearingCookie)
    }
  }

  private func accept(
    _ signIn: ProviderSignIn, _ request: WebRequest, _ attempt: Attempt, _ provider: SignInProvider,
    clearingCookie: HTTPHeader
  ) throws(Interruption) -> WebResponse {
    if attempt.purpose != .signIn, provider.supportsReauthentication, attempt.reauthentication == .byAge,
      !sessions.isFresh(signIn)
    {
      return try starts.send(
        request, to: provider, purpose: attempt.purpose, returnTo: attempt.returnTo,
        reauthentication: .byPrompt,
        clearingCookies: [clearingCookie])
    }
    let isProven = sessions.isProof(signIn, of: attempt.purpose, at: provider)
    guard attempt.purpose == .signIn || isProven else {
      log.write(.warning, "\(provider.name): auth_time is more than ten minutes from now: no proof")
      return try starts.fail(
        .providerInvalid, app: nil, provider: provider, purpose: attempt.purpose, for: request,
        headers: [clearingCookie])
    }
    let answer = try completeSignIn(
      request, signIn.identity, attempt, provider, isProven: isProven, clearingCookie: clearingCookie)
    keep(signIn)
    return answer
  }

  private func count(_ failure: EnrollGatewayPages.Failure, at provider: SignInProvider) {
    switch failure {
    case .cancelled: metrics.signedIn(at: provider.name, .cancelled)
    case .providerUnavailable: metrics.signedIn(at: provider.name, .unavailable)
    default: metrics.signedIn(at: provider.name, .refused)
    }
  }

  private func completeSignIn(
    _ request: WebRequest, _ identity: Identity, _ attempt: Attempt, _ provider: SignInProvider,
    isProven: Bool, clearingCookie: HTTPHeader
  ) throws(Interruption) -> WebResponse {
    switch attempt.purpose {
    case .link(let account):
      return try linking.handleConnectCallback(request, identity, to: account, clearingCookie: clearingCookie)
    case .confirm(let account):
      return try handleConfirmCallback(
        request, identity, account: account, attempt, clearingCookie: clearingCookie)
    case .signIn: break
    }
    guard let waiting = attempt.app else {
      return try completeWebSignIn(
        request, identity, attempt, isProven: isProven, clearingCookie: clearingCookie)
    }
    return try completeAppSignIn(request, identity, waiting, provider, clearingCookie: clearingCookie)
  }

  /// Stores the token that has to be revoked later, in sealed form. If that fails, the sign-in still succeeds.
  private func keep(_ signIn: ProviderSignIn) {
    guard let token = signIn.refreshToken else { return }
    do {
      let sealed = try keys.seal(token, for: .providerToken, at: now, random: random)
      try store.keepToken(sealed, of: signIn.identity.key)
    } catch {
      log.write(.warning, "\(signIn.identity.provider): a token was not kept: \(type(of: error))")
    }
  }

  /// Answers a request whose code was already used. Another request with the same code may have signed this browser in, after
  /// this request was sent: the redirect makes the browser come back with its current cookies.
  /// - Parameters:
  ///   - failure: the failure for an app, and for a user who links or confirms an identity.
  ///   - headers: the response headers. They keep the cookie while the other request may still fail, so that the
  ///     provider's answer can be sent again.
  private func answerUsed(
    _ failure: EnrollGatewayPages.Failure, _ attempt: Attempt, _ provider: SignInProvider,
    for request: WebRequest, headers: [HTTPHeader]
  ) throws(Interruption) -> WebResponse {
    guard attempt.app == nil, attempt.purpose == .signIn else {
      return try starts.fail(
        failure, app: attempt.app, provider: provider, purpose: attempt.purpose, for: request,
        headers: headers)
    }
    return .redirect(to: usedTarget(request, attempt), headers: headers)
  }

  private func usedTarget(_ request: WebRequest, _ attempt: Attempt) -> String {
    var query = FormEncoding(.query)
    query.add(Self.usedField, "1")
    // A destination on the gateway's own pages is not put into the URL, because such a destination need not be in the
    // configured list.
    if let returnTo = attempt.returnTo, mayReturn(to: returnTo) { query.add("return_to", returnTo) }
    return request.path + "?" + query.text
  }

  private static let usedField = "used"

  private func afterUse(
    _ request: WebRequest, _ provider: SignInProvider, _ parameters: Parameters
  ) throws(Interruption) -> WebResponse {
    let returnTo = try returnAddress(parameters)
    if try sessions.liveSession(request) != nil { return .redirect(to: returnTo ?? "/account") }
    return try starts.fail(.attemptUsed, app: nil, provider: provider, for: request)
  }

  /// Completes a sign-in in a browser, with a new session token against session fixation.
  func completeWebSignIn(
    _ request: WebRequest, _ identity: Identity, _ attempt: Attempt, isProven: Bool,
    clearingCookie: HTTPHeader
  ) throws(Interruption) -> WebResponse {
    let (token, hash) = try internalCall { () throws(EnrollError) in try RandomToken.make(random) }
    _ = try completion.signIn(
      identity, creating: .session(sessions.newSession(hash, app: nil, for: request)), for: request)
    try sessions.endEarlierSession(of: request)
    return .redirect(
      to: attempt.returnTo ?? "/account",
      headers: [clearingCookie] + (try sessions.cookies(ofSession: token, hash, isProven: isProven)))
  }

  /// Completes a sign-in for an app.
  private func completeAppSignIn(
    _ request: WebRequest, _ identity: Identity, _ waiting: Attempt.App, _ provider: SignInProvider,
    clearingCookie: HTTPHeader
  ) throws(Interruption) -> WebResponse {
    guard let app = settings.apps.first(where: { ASCII.equals($0.id, waiting.id) }) else {
      throw .failure(.unknownApp)
    }
    let created = try completion.credential(
      for: app, by: provider.name, challenge: waiting.challenge, request)
    do throws(Interruption) {
      _ = try completion.signIn(identity, creating: created.credential, for: request)
    } catch {
      guard case .store(let failure) = error else { throw error }
      log.write(.error, "store: \(failure.message)")
      return try starts.fail(
        error.failure, app: waiting, provider: provider, for: request, headers: [clearingCookie])
    }
    return starts.returnToApp(
      app, waiting.redirectURI, state: waiting.state, [created.parameter], for: request,
      headers: [clearingCookie])
  }

}
