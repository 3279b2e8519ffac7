// `GET /v1/auth/{provider}/callback`: the provider sent the browser back. The browser proves by its cookie that the sign-in began here
// (RFC 9700 §4.7), the answer is exchanged and proven, and the account is found or made in one statement of the store.
// Refused: another browser's answer, an answer of another provider (mix-up, RFC 9700 §4.4), an answer after ten minutes, and an answer
// that this replica has sent to the provider before: a code that comes twice may end what it gave (RFC 6749 §4.1.2).

import EnrollCore
import EnrollCrypto
import EnrollGatewayPages
import EnrollHTTP

extension Gateway {
  /// The browser's session.
  static let sessionCookie = "__Host-enroll"
  /// Between the redirect to an app and the app's call.
  static let appCodeSeconds: Int64 = 60

  func finish(_ request: WebRequest, _ provider: SignInProvider) throws(Interruption) -> WebResponse {
    guard request.method == .get else { return try finishByForm(request, provider) }
    guard let parameters = Parameters(encoded: request.query) else { throw .failure(.invalidRequest) }
    if parameters[Self.usedField] != nil { return try afterUse(request, provider, parameters) }
    // A code comes in the way that was asked for; an error may come in any.
    guard !provider.answersByForm || parameters["code"] == nil else { throw .failure(.invalidRequest) }
    return try finish(request, provider, query: request.query ?? "", parameters["state"])
  }

  /// - Parameters:
  ///   - query: the provider's answer, as the query of a redirect.
  ///   - toldName: for pages, where the provider's proof has no name.
  func finish(
    _ request: WebRequest, _ provider: SignInProvider, query: String, _ state: String?,
    toldName: String? = nil
  ) throws(Interruption) -> WebResponse {
    guard let state, let name = try? Attempt.cookieName(forState: Secret(state)) else {
      throw .failure(.attemptMissing)
    }
    // The address that has signed this browser in, once more: by the button "back", or by a second click.
    if request.cookie(name) == .absent, try liveSession(request) != nil { return .redirect(to: "/account") }
    guard let attempt = request.cookie(name).value.flatMap({ Attempt(sealed: $0, with: keys) }),
      ASCII.equals(attempt.provider, provider.name)
    else { throw .failure(.attemptMissing) }

    let over = HTTPHeader.cookie(name, "", seconds: 0)
    guard now < attempt.expires else {
      return try fail(
        .attemptExpired, app: attempt.app, provider: provider, purpose: attempt.purpose, for: request,
        headers: [over])
    }
    guard finished.take(name) else {
      return try answerUsed(.attemptUsed, attempt, provider, for: request, headers: [])
    }
    let url = "\(settings.publicURL)\(request.path)?\(query)"
    let answer: Result<Arrival, SignInRefusal>
    do throws(EnrollError) {
      answer = try provider.finish(url, attempt.transaction, toldName: toldName)
    } catch {
      finished.giveBack(name)
      log.write(.warning, "\(provider.name): \(error.code.name): \(error.message)")
      count(EnrollGatewayPages.Failure(error), at: provider)
      // Nothing was sent: the cookie stays, and the same address may be tried again.
      return try fail(
        EnrollGatewayPages.Failure(error), app: attempt.app, provider: provider, purpose: attempt.purpose,
        for: request)
    }
    switch answer {
    case .failure(let refusal):
      log.write(.warning, "\(provider.name): \(refusal.line)")
      count(refusal.failure, at: provider)
      guard refusal.isOfCode else {
        return try fail(
          refusal.failure, app: attempt.app, provider: provider, purpose: attempt.purpose, for: request,
          headers: [over])
      }
      return try answerUsed(refusal.failure, attempt, provider, for: request, headers: [over])
    case .success(let arrival): return try take(arrival, request, attempt, provider, over: over)
    }
  }

  private func take(
    _ arrival: Arrival, _ request: WebRequest, _ attempt: Attempt, _ provider: SignInProvider,
    over: HTTPHeader
  ) throws(Interruption) -> WebResponse {
    if attempt.purpose != .signIn, provider.asksAgain, attempt.question == .byAge, !isFresh(arrival) {
      return try send(
        request, to: provider, purpose: attempt.purpose, returnTo: attempt.returnTo, question: .byPrompt,
        over: [over])
    }
    let isProven = isProof(arrival, of: attempt.purpose, at: provider)
    guard attempt.purpose == .signIn || isProven else {
      log.write(.warning, "\(provider.name): auth_time is more than ten minutes from now: no proof")
      return try fail(
        .providerInvalid, app: nil, provider: provider, purpose: attempt.purpose, for: request,
        headers: [over])
    }
    let answer = try enter(request, arrival.identity, attempt, provider, isProven: isProven, over: over)
    keep(arrival)
    return answer
  }

  private func count(_ failure: EnrollGatewayPages.Failure, at provider: SignInProvider) {
    switch failure {
    case .cancelled: metrics.signedIn(at: provider.name, .cancelled)
    case .providerUnavailable: metrics.signedIn(at: provider.name, .unavailable)
    default: metrics.signedIn(at: provider.name, .refused)
    }
  }

  private func enter(
    _ request: WebRequest, _ identity: Identity, _ attempt: Attempt, _ provider: SignInProvider,
    isProven: Bool, over: HTTPHeader
  ) throws(Interruption) -> WebResponse {
    switch attempt.purpose {
    case .link(let account): return try finishConnecting(request, identity, to: account, over: over)
    case .confirm(let account):
      return try finishConfirming(request, identity, account: account, attempt, over: over)
    case .signIn: break
    }
    guard let waiting = attempt.app else {
      return try enterWeb(request, identity, attempt, isProven: isProven, over: over)
    }
    return try enterApp(request, identity, waiting, provider, over: over)
  }

  /// Keeps the token that has to be revoked one day, sealed. Nobody's sign-in fails because of it.
  private func keep(_ arrival: Arrival) {
    guard let token = arrival.refreshToken else { return }
    do {
      let sealed = try keys.seal(token, for: .providerToken, at: now, random: random)
      try store.keepToken(sealed, of: arrival.identity.key)
    } catch {
      log.write(.warning, "\(arrival.identity.provider): a token was not kept: \(type(of: error))")
    }
  }

  /// Another request with the same code may have signed this browser in, after this one was sent: the browser comes back with the
  /// cookies that it has by then.
  /// - Parameters:
  ///   - failure: told to an app, and to somebody who links or confirms an identity.
  ///   - headers: they keep the cookie while the other request may still fail, so that the answer may come once more.
  private func answerUsed(
    _ failure: EnrollGatewayPages.Failure, _ attempt: Attempt, _ provider: SignInProvider,
    for request: WebRequest, headers: [HTTPHeader]
  ) throws(Interruption) -> WebResponse {
    guard attempt.app == nil, attempt.purpose == .signIn else {
      return try fail(
        failure, app: attempt.app, provider: provider, purpose: attempt.purpose, for: request,
        headers: headers)
    }
    return .redirect(to: usedTarget(request, attempt), headers: headers)
  }

  private func usedTarget(_ request: WebRequest, _ attempt: Attempt) -> String {
    var query = FormEncoding(.query)
    query.add(Self.usedField, "1")
    // Where a page of the gateway's own sends the browser is for no URL, and need not be in the list.
    if let returnTo = attempt.returnTo, mayReturn(to: returnTo) { query.add("return_to", returnTo) }
    return request.path + "?" + query.text
  }

  private static let usedField = "used"

  private func afterUse(
    _ request: WebRequest, _ provider: SignInProvider, _ parameters: Parameters
  ) throws(Interruption) -> WebResponse {
    let returnTo = try returnAddress(parameters)
    if try liveSession(request) != nil { return .redirect(to: returnTo ?? "/account") }
    return try fail(.attemptUsed, app: nil, provider: provider, for: request)
  }

  /// The web's mode: a session of its own, under a token that nobody had before (session fixation).
  func enterWeb(
    _ request: WebRequest, _ identity: Identity, _ attempt: Attempt, isProven: Bool, over: HTTPHeader
  ) throws(Interruption) -> WebResponse {
    let (token, hash) = try owned { () throws(EnrollError) in try OneTimeText.make(random) }
    _ = try signIn(
      identity, beginning: .session(newSession(hash, app: nil, for: request)), for: request)
    if let before = request.cookie(Self.sessionCookie).value.flatMap({ OneTimeText.hash(of: $0) }) {
      try stored { () throws(StoreFailure) in
        try store.endSession(tokenHash: before, at: now, from: origin(of: request))
      }
    }
    return .redirect(
      to: attempt.returnTo ?? "/account",
      headers: [over] + (try cookies(ofSession: token, hash, isProven: isProven)))
  }

  /// The app's mode.
  private func enterApp(
    _ request: WebRequest, _ identity: Identity, _ waiting: Attempt.App, _ provider: SignInProvider,
    over: HTTPHeader
  ) throws(Interruption) -> WebResponse {
    guard let app = settings.apps.first(where: { ASCII.equals($0.id, waiting.id) }) else {
      throw .failure(.unknownApp)
    }
    let begun = try beginning(for: app, by: provider.name, challenge: waiting.challenge, request)
    do throws(Interruption) {
      _ = try signIn(identity, beginning: begun.beginning, for: request)
    } catch {
      guard case .store(let failure) = error else { throw error }
      log.write(.error, "store: \(failure.message)")
      return try fail(error.failure, app: waiting, provider: provider, for: request, headers: [over])
    }
    return returnToApp(
      app, waiting.redirectURI, state: waiting.state, [begun.parameter], for: request, headers: [over])
  }

  func signIn(
    _ identity: Identity, beginning: Beginning, for request: WebRequest
  ) throws(Interruption) -> SignedIn {
    let id = try newID()
    let now = now
    let signedIn = try stored { () throws(StoreFailure) in
      try store.signIn(identity, newAccountID: id, beginning: beginning, at: now, from: origin(of: request))
    }
    metrics.signedIn(at: identity.provider, signedIn.isNew ? .registered : .signedIn)
    log.write(
      .info,
      "\(identity.provider): account \(signedIn.account.id) \(signedIn.isNew ? "registered" : "signed in")")
    return signedIn
  }

  func newID() throws(Interruption) -> String {
    try owned { () throws(EnrollError) in
      UUID7.make(at: now, random: try random.bytes(UUID7.randomByteCount))
    }
  }

  func newSession(_ hash: [UInt8], app: String?, for request: WebRequest) throws(Interruption) -> NewSession {
    NewSession(
      tokenHash: hash, id: try newID(), app: app,
      device: PersonalText.shown(request.value(of: "User-Agent")),
      idleSeconds: settings.idleSeconds, absoluteSeconds: settings.absoluteSeconds)
  }
}
