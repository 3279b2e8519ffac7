// One authorize request on its way through the pages. The next page is a pure function of the state.

/// A pending authorize request, bound to one browser.
struct Interaction: Sendable {
  let id: String
  let request: AuthorizationRequest
  /// The cookie value of the browser that began it.
  var browserID: String
  let begunAt: Int64
  /// The device that waits for its end, instead of a redirect.
  var deviceCode: String?
  /// Whether the request's `prompt` still requires a new account.
  var mustCreate: Bool
  var mustChoose: Bool
  var mustSignIn: Bool
  var mustConsent: Bool
  /// The user typed a password within this interaction: `max_age` is satisfied.
  var signedInHere = false

  enum Step: String, Sendable { case create, signIn, choose, consent, done }

  init(_ request: AuthorizationRequest, id: String, browserID: String, now: Int64) {
    self.request = request
    self.id = id
    self.browserID = browserID
    begunAt = now
    mustCreate = request.prompts.contains(.create)
    mustChoose = request.prompts.contains(.selectAccount)
    mustSignIn = request.prompts.contains(.login)
    mustConsent = request.prompts.contains(.consent)
  }

  /// The strongest context class asked for that the sandbox knows.
  var contextClass: ContextClass {
    request.acrValues.compactMap(ContextClass.init).first ?? .password
  }

  /// - Parameters:
  ///   - signedIn: who is signed in in this browser.
  ///   - hasConsented: whether that user allowed these scopes to this client before.
  func nextStep(signedIn: SignedIn?, hasConsented: Bool, now: Int64) -> Step {
    if mustCreate { return .create }
    guard let signedIn else { return .signIn }
    if mustChoose { return .choose }
    if mustSignIn || signedIn.contextClass < contextClass { return .signIn }
    if let limit = request.maxAgeSeconds, !signedInHere, now - signedIn.authTime > limit { return .signIn }
    return mustConsent || !hasConsented ? .consent : .done
  }

  /// Where its redirect may lead on from the client, by a redirect of the client's own.
  var onwardTargets: [String] = []

  /// Where its pages' forms may lead in the end.
  var formTargets: [String] {
    (Page.formTarget(of: request.redirectURI).map { [$0] } ?? []) + onwardTargets
  }
}

/// The session of one browser.
struct SignedIn: Sendable {
  var userName: String
  var authTime: Int64
  var contextClass: ContextClass
  /// The `sid` claim.
  var sessionID: String
}
