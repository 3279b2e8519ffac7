// The pages of the fake provider, and the user in front of them: signing in, signing out, entering a device code.

import EnrollSteps
import EnrollJSON

extension FakeProvider {
  /// What the browser does after it has opened a URL.
  public enum Page: Equatable, Sendable {
    /// The browser goes to this URL.
    case redirect(String)
    /// The browser stays at the provider.
    case stays(status: Int, text: String)
  }

  /// The user's answer to a device code.
  public enum DeviceAnswer: Sendable {
    /// No answer yet.
    case pending
    /// No answer yet, and the client polls too often.
    case slowDown
    /// The user refused.
    case denied
    /// The code has expired.
    case expired
    /// The user allowed it.
    case granted
  }

  /// Sets the user's answer to device codes from now on.
  public func device(_ answer: DeviceAnswer) {
    change {
      $0.subject = subject(of: "alice")
      $0.deviceError =
        switch answer {
        case .pending: "authorization_pending"
        case .slowDown: "slow_down"
        case .denied: dialect.device.deniedError
        case .expired: dialect.device.expiredError
        case .granted: nil
        }
    }
  }

  /// Sets the lifetime of device codes from now on; 10 minutes by default.
  public func deviceCodesLive(seconds: Int64) { state.withLock { $0.deviceCodeSeconds = seconds } }

  /// The `sub` of a user in the form of the provider.
  public func subject(of user: String) -> String { dialect.subject(of: user, issuer: issuer) }

  /// Signs in the user of the settings (``Settings/subject``) at the authorization URL. The provider does not check
  /// the request.
  /// - Returns: the redirect URL with code, state and iss.
  public func signIn(at url: String, extra: String = "") -> String {
    let query = request(at: url)
    return callback(query, "code=\(code(for: query))") + extra
  }

  /// Refuses an authorization request, and returns the redirect URL with the error.
  public func refuse(_ url: String, error: String) -> String { callback(request(at: url), "error=\(error)") }

  /// The parameters of an authorization request. They are in its URL, or were pushed before.
  private func request(at url: String) -> [String: String] {
    let query = parameters(of: url)
    guard let name = query["request_uri"], let pushed = state.withLock({ $0.pushed[name] }) else {
      return query
    }
    return parameters(of: "\(urls.authorization)?\(pushed)")
  }

  /// Makes an authorization code for an authorization request with these parameters.
  private func code(for query: [String: String]) -> String {
    var scopes = words(query["scope"])
    return state.withLock { state -> String in
      state.issued += 1
      if state.settings.wantsConsent, !words(query["prompt"]).contains("consent") {
        scopes.removeAll { $0 == "offline_access" }
      }
      let code = "code-\(state.issued)"
      state.codes[code] = Grant(
        clientID: query["client_id"] ?? "", subject: state.settings.subject, nonce: query["nonce"],
        challenge: query["code_challenge"] ?? "", redirectURI: query["redirect_uri"] ?? "", scopes: scopes,
        hasOpenID: scopes.contains("openid"), family: state.issued, thumbprint: query["dpop_jkt"])
      return code
    }
  }

  /// Opens an authorization URL in the browser and signs a user in. A user who is still signed in at the provider stays
  /// signed in, unless the request asks the user to choose an account or to log in.
  public func authorize(_ url: String, as user: String = "alice") -> Page {
    guard url.prefix(while: { $0 != "?" }) == urls.authorization else {
      return .stays(status: 404, text: "not found")
    }
    let query = request(at: url)
    if !servesEveryClient {
      guard query["client_id"] == registration.clientID else {
        return .stays(status: 400, text: "unknown client")
      }
      if let problem = redirectProblem(query["redirect_uri"] ?? "") {
        return .stays(status: 400, text: problem)
      }
    }
    let prompts = words(query["prompt"])
    let known = dialect.authorize.prompts ?? ["none", "login", "consent", "select_account", "create"]
    if dialect.authorize.unknownPrompt == .errorPage, let word = prompts.first(where: { !known.contains($0) })
    {
      return .stays(status: 400, text: "Invalid parameter value for prompt: \(word)")
    }
    if let error = requestError(query, prompts, known) {
      return .redirect(callback(query, "error=\(error.0)&error_description=\(encoded(error.1))"))
    }
    let isAsked = prompts.contains { known.contains($0) && ($0 == "login" || $0 == "select_account") }
    state.withLock { state in
      let isKnown = !isAsked && dialect.authorize.keepsSession
      let signedIn = isKnown ? state.browserUser ?? user : user
      state.asksAge = query["max_age"] != nil
      state.browserUser = signedIn
      state.scopes = words(query["scope"])
      state.settings.subject = subject(of: signedIn)
    }
    return .redirect(callback(query, "code=\(code(for: query))"))
  }

  private func requestError(
    _ query: [String: String], _ prompts: [String], _ known: [String]
  ) -> (String, String)? {
    let scope = query["scope"] ?? ""
    if dialect.authorize.unknownPrompt == .redirect, let word = prompts.first(where: { !known.contains($0) })
    {
      return ("invalid_request", "unsupported prompt value requested: \(word)")
    }
    if let scope = refusedScope(scope) {
      return ("invalid_scope", "the scope \(scope) is unknown or missing")
    }
    if dialect.client.pkce == .required, query["code_challenge"] == nil {
      return ("invalid_request", "code_challenge is missing")
    }
    if dialect.authorize.responseMode == .formPostForProfile, query["response_mode"] != "form_post",
      words(scope).contains(where: { $0 == "name" || $0 == "email" })
    {
      return ("invalid_request", "response_mode must be form_post when name or email scope is requested.")
    }
    return query["response_type"] == "code" ? nil : ("unsupported_response_type", "expected code")
  }

  private func callback(_ query: [String: String], _ parameters: String) -> String {
    var redirect = query["redirect_uri"] ?? ""
    if dialect.redirect.addsSlash, redirect.hasPrefix("http"), redirect.split(separator: "/").count == 2,
      !redirect.hasSuffix("/")
    {
      redirect += "/"
    }
    let announcesIssuer =
      dialect.discovery.extra["authorization_response_iss_parameter_supported"] == .bool(true)
    return "\(redirect)?\(parameters)" + (query["state"].map { "&state=\(encoded($0))" } ?? "")
      + (announcesIssuer ? "&iss=\(encoded(issuer))" : "")
  }

  /// The reason why the provider does not redirect a browser to this URI; nil if the provider does redirect to it.
  private func redirectProblem(_ uri: String) -> String? {
    let rules = dialect.redirect
    let scheme = uri.prefix { $0 != ":" }
    if scheme != "https", rules.isHTTPSOnly { return "redirect_uri: only https is accepted" }
    if scheme == "http" {
      let (host, bare) = Self.loopback(uri)
      if let hosts = rules.loopbackHosts, !hosts.contains(host) {
        return "redirect_uri: \(host) is not accepted"
      }
      let isRegistered = registration.redirectURIs.contains {
        $0 == uri || rules.port == .any && Self.loopback($0) == (host, bare)
      }
      return isRegistered ? nil : "redirect_uri_mismatch: \(uri)"
    }
    if scheme != "https", let patterns = rules.customSchemes,
      !patterns.contains(where: { Placeholders.fits(uri[...], urls.filled($0)[...]) })
    {
      return "redirect_uri: the scheme \(scheme) is not accepted"
    }
    return registration.redirectURIs.contains(uri) ? nil : "redirect_uri_mismatch: \(uri)"
  }

  /// Splits an http URL: returns its host, and the URL without its port.
  private static func loopback(_ uri: String) -> (String, String) {
    let rest = uri.dropFirst("http://".count)
    let authority = rest.prefix { $0 != "/" }
    let host =
      authority.hasPrefix("[")
      ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
    return (String(host), "http://\(host)\(rest.dropFirst(authority.count))")
  }

  /// Opens a logout URL in the browser.
  public func visit(_ url: String) -> Page {
    guard let page = urls.logout, url.prefix(while: { $0 != "?" }) == page else {
      return .stays(status: 404, text: "not found")
    }
    let query = parameters(of: url)
    let returnTo: String?
    switch dialect.logout.style {
    case .none: return .stays(status: 404, text: "not found")
    case .cognito:
      guard query["client_id"] == registration.clientID, let uri = query["logout_uri"] else {
        return .stays(status: 400, text: "Required String parameter redirect_uri is not present")
      }
      returnTo = uri
    case .auth0: returnTo = query["returnTo"]
    case .rp:
      if dialect.logout.needsIDTokenHint, query["id_token_hint"] == nil {
        return .stays(status: 400, text: "id_token_hint is missing")
      }
      returnTo = query["post_logout_redirect_uri"]
    }
    guard let returnTo else {
      end()
      return .stays(status: 200, text: "signed out")
    }
    guard registration.postLogoutRedirectURIs.contains(returnTo) else {
      return .stays(status: 400, text: "the return of the logout is not registered: \(returnTo)")
    }
    end()
    return back(to: returnTo, query["state"])
  }

  private func end() { state.withLock { $0.browserUser = nil } }

  private func back(to uri: String, _ state: String?) -> Page {
    let isHTTPS = uri.hasPrefix("https:")
    switch dialect.logout.returnsState {
    case .httpsOnly where !isHTTPS: return .stays(status: 200, text: "signed out")
    case .never: return .redirect(uri)
    case .always, .httpsOnly:
      guard let state, !has(.logoutWithoutState) else { return .redirect(uri) }
      return .redirect("\(uri)?state=\(encoded(state))")
    }
  }
}
