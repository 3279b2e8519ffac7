// The requests that the fake provider refuses because of its dialect or of the client, and the form of its error
// answers.

import EnrollRules
import EnrollSteps
import EnrollJSON

/// An error of the token endpoint or of a similar endpoint.
struct EndpointError: Error {
  var status: Int
  var error: String
  var description: String?
  var headers: [HTTPHeader] = []

  init(_ status: Int, _ error: String, _ description: String? = nil) {
    self.status = status
    self.error = error
    self.description = description
  }

  /// The error that the dialect defines for a refusal; nil if the dialect defines no error for it.
  init?(_ answer: Dialect.Refusals.Answer?, _ description: String? = nil) {
    guard let answer, let error = answer.error else { return nil }
    self.init(Int(answer.status), error, description)
  }
}

extension FakeProvider {
  /// The error answer to a request that the dialect refuses; nil if the dialect accepts the request.
  func refusal(of request: HTTPRequest, _ endpoint: Endpoint) -> HTTPResponse? {
    switch endpoint {
    case .discovery: return dialect.discovery.status.map { page(Int($0)) }
    case .userinfo, .emails:
      let isIntroduced = request.headers.contains {
        $0.name.lowercased() == "user-agent" && !$0.value.isEmpty
      }
      return dialect.userinfo.requiresUserAgent && !isIntroduced ? page(403) : nil
    case .token:
      let form = form(request)
      return tokenRefusal(request, form).map { refused($0, form) }
    case .deviceAuthorization, .pushed, .revocation:
      return otherRefusal(request, endpoint).map { refusal in
        if refusal.error.isEmpty { return HTTPResponse(status: refusal.status) }
        return json(
          refusal.status,
          .object([
            ("error", .string(refusal.error)),
            ("error_description", refusal.description.map { .string($0) }),
          ]))
      }
    case .keys, .introspection, .passwordless, .registrationCheck, .profileUpdate, .errorReport: return nil
    }
  }

  private func otherRefusal(_ request: HTTPRequest, _ endpoint: Endpoint) -> EndpointError? {
    let form = form(request)
    let isPublic = form["client_secret"] == nil && basicCredentials(request) == nil
    switch endpoint {
    case .pushed where isPublic && dialect.par.publicClient == .refused,
      .revocation where isPublic && dialect.revocation.publicClient == .refused:
      return EndpointError(401, "invalid_client")
    case .revocation:
      guard let rule = dialect.refusals.revocation, !knows(form["token"] ?? "") else { return nil }
      return EndpointError(Int(rule.status), rule.error ?? "")
    case .deviceAuthorization where dialect.device.publicClient == .refused: return EndpointError(401, "")
    case .deviceAuthorization:
      let refused = words(form["scope"]).first { dialect.device.refused.contains($0) }
      return (refused ?? refusedScope(form["scope"] ?? "")).map {
        EndpointError(400, "invalid_scope", "scope \($0) is unknown")
      }
    default: return nil
    }
  }

  /// The error for a token request with a wrong client, secret or verifier; nil if all of them are accepted.
  private func tokenRefusal(_ request: HTTPRequest, _ form: [String: String]) -> EndpointError? {
    let rule: Dialect.Client.Secret =
      switch form["grant_type"] {
      case "refresh_token": dialect.client.refresh
      case "urn:ietf:params:oauth:grant-type:device_code": dialect.client.device
      default: dialect.client.code
      }
    if let refusal = secretRefusal(request, form, rule) { return refusal }
    guard servesEveryClient || form["client_id"] == registration.clientID else {
      return EndpointError(dialect.refusals.client) ?? EndpointError(401, "invalid_client")
    }
    if dialect.client.pkce == .refused, form["code_verifier"] != nil {
      return EndpointError(401, "invalid_client", "code_verifier is not expected")
    }
    return nil
  }

  private func secretRefusal(
    _ request: HTTPRequest, _ form: [String: String], _ rule: Dialect.Client.Secret
  ) -> EndpointError? {
    let basic = basicCredentials(request)
    let given = form["client_secret"] ?? basic.flatMap { $0.count == 2 ? $0[1] : nil }
    switch rule {
    case .none: return nil
    case .refused:
      return given == nil ? nil : EndpointError(401, "invalid_client", "a public client sends no secret")
    case .requiredUnlessDevice:
      if state.withLock({ $0.deviceTokens.contains(form["refresh_token"] ?? "") }) { return nil }
      fallthrough
    case .required:
      guard let given else { return EndpointError(400, "invalid_request", "client_secret is missing.") }
      let method = basic == nil ? "client_secret_post" : "client_secret_basic"
      guard given == registration.secret, dialect.client.methods.contains(method) else {
        spendCodeOfRefused(form)
        let reason = "the client secret is wrong"
        return EndpointError(dialect.refusals.secret, reason) ?? EndpointError(401, "invalid_client", reason)
      }
      return nil
    }
  }

  /// The error answer in the form of the dialect.
  func refused(_ refusal: EndpointError, _ form: [String: String]) -> HTTPResponse {
    var refusal = refusal
    let rules = (dialect.refresh, dialect.device)
    if form["grant_type"] == "refresh_token", refusal.error == "invalid_grant" {
      refusal.error = rules.0.error ?? refusal.error
      refusal.description = rules.0.errorDescription ?? refusal.description
      refusal.status = rules.0.errorStatus.map { Int($0) } ?? refusal.status
    }
    switch (form["grant_type"], refusal.error) {
    case ("authorization_code", "invalid_grant"): refusal = EndpointError(dialect.refusals.code) ?? refusal
    case ("refresh_token", "invalid_scope"): refusal = EndpointError(dialect.refusals.scope) ?? refusal
    default: break
    }
    if let status = dialect.token.errorStatus { refusal.status = Int(status) }
    var members: [(String, JSON?)] = []
    switch refusal.error {
    case "authorization_pending": refusal.status = rules.1.pendingStatus.map { Int($0) } ?? refusal.status
    case "slow_down":
      refusal.status = rules.1.slowDownStatus.map { Int($0) } ?? refusal.status
      if rules.1.bringsInterval { members.append(("interval", .integer(10))) }
    default: break
    }
    if let shape = dialect.token.errorShape {
      return json(refusal.status, Self.fill(shape, refusal), headers: refusal.headers)
    }
    members =
      [
        ("error", .string(refusal.error)),
        ("error_description", refusal.description.map { .string($0) }),
      ] + members
    return json(refusal.status, .object(members), headers: refusal.headers)
  }

  private static func fill(_ shape: JSON, _ refusal: EndpointError) -> JSON {
    switch shape {
    case .object(let object): .object(object.members.map { ($0.key, fill($0.value, refusal)) })
    case .string("<error>"): .string(refusal.error)
    case .string("<error_description>"): .string(refusal.description ?? refusal.error)
    default: shape
    }
  }

  // MARK: The secret of the settings

  /// Whether the client sent the secret that the settings contain, with exactly one accepted method (RFC 6749 §2.3.1).
  func isAuthenticated(_ request: HTTPRequest, _ endpoint: Endpoint) -> Bool {
    let (form, settings) = (form(request), state.withLock { $0.settings })
    if let assertion = form["client_assertion"], !isCurrent(assertion, settings) { return false }
    guard let secret = settings.clientSecret else { return true }
    let isLater = endpoint == .revocation || endpoint == .introspection
    let methods = (isLater ? settings.laterSecretMethods : nil) ?? settings.secretMethods
    switch (form["client_secret"], basicCredentials(request)) {
    case (let sent?, nil): return sent == secret && methods.contains(.post)
    case (nil, let pair?): return pair == ["native", secret] && methods.contains(.basic)
    default: return false
    }
  }

  /// Whether a client's assertion is valid now: it is not from the future and has not expired. Like node-oidc-provider
  /// and Keycloak, the check allows no difference of clocks.
  private func isCurrent(_ assertion: String, _ settings: Settings) -> Bool {
    let now = clock.wallTime().seconds + settings.clockOffsetSeconds
    guard let claims = ReceivedJWT(assertion)?.claims, let issued = claims["iat"]?.integer,
      let end = claims["exp"]?.integer
    else { return false }
    return issued <= now + 15 && now < end
  }

  /// The answer to a client that is not authenticated.
  func clientRefusal(_ request: HTTPRequest) -> HTTPResponse {
    spendCodeOfRefused(form(request))
    return dated(state.withLock { $0.settings.clientRefusal })
  }

  private func spendCodeOfRefused(_ form: [String: String]) {
    if state.withLock({ $0.settings.spendsCodesOfRefusedClients }) { spend(form["code"] ?? "") }
  }

  /// The name of a scope that the provider refuses, or of a required scope that is missing.
  func refusedScope(_ text: String) -> String? {
    let scopes = words(text)
    if dialect.scope.needsOpenID, !scopes.contains("openid") { return "openid" }
    return scopes.first {
      dialect.scope.refused.contains($0) || !(dialect.scope.accepted?.contains($0) ?? true)
    }
  }
}
