// An authorization request while the user is on the provider's pages. The next page is a pure function of this state.

/// A pending authorization request, bound to one browser.
struct Interaction: Sendable {
  let id: String
  let request: CheckedAuthorization
  /// The cookie value of the browser in which the interaction began.
  var browserID: String
  let begunAt: Int64
  /// The `device_code` of the device that waits; nil if no device waits for this request. At the end the user's
  /// decision is stored for the device, and the browser is not redirected to a client.
  var deviceCode: String?
  /// Whether the request's `prompt` still requires a new account.
  var mustCreate: Bool
  var mustChoose: Bool
  var mustSignIn: Bool
  var mustConsent: Bool
  /// True if the user typed a password within this interaction, which satisfies `max_age`.
  var signedInHere = false

  enum Step: String, Sendable { case create, signIn, choose, consent, done }

  init(_ request: CheckedAuthorization, id: String, browserID: String, now: Int64) {
    self.request = request
    self.id = id
    self.browserID = browserID
    begunAt = now
    mustCreate = request.prompts.contains(.create)
    mustChoose = request.prompts.contains(.selectAccount)
    mustSignIn = request.prompts.contains(.login)
    mustConsent = request.prompts.contains(.consent)
  }

  /// The first requested context class that the sandbox knows.
  var contextClass: ContextClass {
    request.acrValues.compactMap(ContextClass.init).first ?? .password
  }

  /// The next page for the user, or the end of the interaction.
  /// - Parameters:
  ///   - signedIn: the session in this browser.
  ///   - hasConsented: whether the session's user has already granted these scopes to this client.
  func nextStep(signedIn: BrowserSession?, hasConsented: Bool, now: Int64) -> Step {
    if mustCreate { return .create }
    guard let signedIn else { return .signIn }
    if mustChoose { return .choose }
    if mustSignIn || signedIn.contextClass < contextClass { return .signIn }
    if let limit = request.maxAgeSeconds, !signedInHere, now - signedIn.authTime > limit { return .signIn }
    return mustConsent || !hasConsented ? .consent : .done
  }

  /// The URLs that the forms of the interaction's pages may reach, also by redirects.
  var formTargets: [String] { Page.formTarget(of: request.redirectURI).map { [$0] } ?? [] }
}

/// The session in one browser.
struct BrowserSession: Sendable {
  var userName: String
  var authTime: Int64
  var contextClass: ContextClass
  /// The `sid` claim.
  var sessionID: String
}
