// The pages of a provider of the zoo, and the user in front of them: signing in, signing out, a code of a device.

import EnrollCore
import EnrollJSON

extension ZooProvider {
  /// How the user answers the code of a device.
  public enum DeviceAnswer: Sendable {
    /// Not yet.
    case pending
    /// Not yet, and the client asks too often.
    case slowDown
    /// No.
    case denied
    /// Not in time.
    case expired
    /// Yes.
    case granted
  }

  /// The user answers the code of a device so from now on.
  public func device(_ answer: DeviceAnswer) {
    fake.change {
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

  /// Device codes live that long from now on; 10 minutes by default.
  public func deviceCodesLive(seconds: Int64) { state.withLock { $0.deviceCodeSeconds = seconds } }

  /// Opens an authorize URL in the browser, where a user wants to sign in. A user who is still signed in at the provider
  /// stays so, unless the request asks for a choice or a login.
  public func authorize(_ url: String, as user: String = "alice") -> Page {
    guard url.prefix(while: { $0 != "?" }) == authorizationURL else {
      return .stays(status: 404, text: "not found")
    }
    let query = fake.request(at: url)
    guard query["client_id"] == registration.clientID else {
      return .stays(status: 400, text: "unknown client")
    }
    let redirect = query["redirect_uri"] ?? ""
    if let problem = redirectProblem(redirect) { return .stays(status: 400, text: problem) }
    let prompts = (query["prompt"] ?? "").split(separator: " ").map(String.init)
    let known = dialect.authorize.prompts ?? ["none", "login", "consent", "select_account", "create"]
    if dialect.authorize.unknownPrompt == .errorPage, let word = prompts.first(where: { !known.contains($0) })
    {
      return .stays(status: 400, text: "Invalid parameter value for prompt: \(word)")
    }
    if let error = requestError(query) {
      return answer(query, "error=\(error.0)&error_description=\(encoded(error.1))")
    }
    let isAsked = prompts.contains { known.contains($0) && ($0 == "login" || $0 == "select_account") }
    let signedIn = state.withLock { state -> String in
      let signedIn = isAsked ? user : state.browserUser ?? user
      state.browserUser = signedIn
      state.scopes = (query["scope"] ?? "").split(separator: " ").map(String.init)
      return signedIn
    }
    fake.change { $0.subject = subject(of: signedIn) }
    return answer(query, "code=\(fake.code(for: query))")
  }

  private func requestError(_ query: [String: String]) -> (String, String)? {
    let scope = query["scope"] ?? ""
    if let scope = refusedScope(scope) {
      return ("invalid_scope", "the scope \(scope) is unknown or missing")
    }
    if dialect.client.pkce == .required, query["code_challenge"] == nil {
      return ("invalid_request", "code_challenge is missing")
    }
    if dialect.authorize.responseMode == .formPostForProfile, query["response_mode"] != "form_post",
      scope.split(separator: " ").contains(where: { $0 == "name" || $0 == "email" })
    {
      return ("invalid_request", "response_mode must be form_post when name or email scope is requested.")
    }
    return query["response_type"] == "code" ? nil : ("unsupported_response_type", "expected code")
  }

  private func answer(_ query: [String: String], _ parameters: String) -> Page {
    var redirect = query["redirect_uri"] ?? ""
    if dialect.redirect.addsSlash, redirect.hasPrefix("http"), redirect.split(separator: "/").count == 2,
      !redirect.hasSuffix("/")
    {
      redirect += "/"
    }
    let announcesIssuer =
      dialect.discovery.extra["authorization_response_iss_parameter_supported"] == .bool(true)
    return .redirect(
      "\(redirect)?\(parameters)" + (query["state"].map { "&state=\(encoded($0))" } ?? "")
        + (announcesIssuer ? "&iss=\(encoded(issuer))" : ""))
  }

  /// Why the provider does not send a browser there; nil: it does.
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
      !patterns.contains(where: { Places.fits(uri[...], filled($0)[...]) })
    {
      return "redirect_uri: the scheme \(scheme) is not accepted"
    }
    return registration.redirectURIs.contains(uri) ? nil : "redirect_uri_mismatch: \(uri)"
  }

  /// The host of an http URL, and the URL without its port.
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
    guard let logoutURL, url.prefix(while: { $0 != "?" }) == logoutURL else {
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
