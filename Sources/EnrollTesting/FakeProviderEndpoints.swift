// The endpoints of the fake provider.

import EnrollCore
import EnrollCrypto
import EnrollHost
import EnrollJSON

extension FakeProvider {
  func answer(_ request: HTTPRequest, _ endpoint: Endpoint) -> HTTPResponse {
    let ofClients: [Endpoint] = [.token, .revocation, .introspection, .pushed, .deviceAuthorization]
    if ofClients.contains(endpoint), !hasProvenItself(request, endpoint) {
      return json(401, .object([("error", .string("invalid_client"))]))
    }
    switch endpoint {
    case .discovery: return document(discovery(), request)
    case .keys: return document(keys(), request)
    case .deviceAuthorization: return authorizeDevice(form(request))
    case .revocation: return revoke(form(request))
    case .registrationCheck: return registrationCheck()
    case .profileUpdate, .errorReport: return HTTPResponse(status: 204)
    case .passwordless: return startPasswordless(request)
    case .token, .userinfo, .pushed, .introspection:
      let thumbprint: String?
      switch proof(of: request, endpoint) {
      case .none: thumbprint = nil
      case .good(let key): thumbprint = key
      case .refused(let refusal): return refusal
      }
      switch endpoint {
      case .token: return token(form(request), thumbprint)
      case .userinfo: return userinfo(request, thumbprint)
      case .introspection: return introspect(request, thumbprint)
      default: return push(request, thumbprint)
      }
    }
  }

  /// By the secret, in one way only (RFC 6749 §2.3.1).
  private func hasProvenItself(_ request: HTTPRequest, _ endpoint: Endpoint) -> Bool {
    let settings = state.withLock { $0.settings }
    guard let secret = settings.clientSecret else { return true }
    let isLater = endpoint == .revocation || endpoint == .introspection
    let methods = (isLater ? settings.laterSecretMethods : nil) ?? settings.secretMethods
    switch (form(request)["client_secret"], basicCredentials(request)) {
    case (let sent?, nil): return sent == secret && methods.contains(.post)
    case (nil, let pair?): return pair == ["native", secret] && methods.contains(.basic)
    default: return false
    }
  }

  private enum Proof {
    case none
    case good(String)
    case refused(HTTPResponse)
  }

  private func proof(of request: HTTPRequest, _ endpoint: Endpoint) -> Proof {
    let settings = state.withLock { $0.settings }
    guard !settings.dpopAlgorithms.isEmpty, request.headers.contains(where: { $0.name == "DPoP" }) else {
      return .none
    }
    let now = clock.wallTime() + settings.clockOffsetSeconds
    guard let proof = CheckedProof(of: request, now: now),
      state.withLock({ $0.identifiers.insert(proof.identifier).inserted })
    else { return .refused(refusal("invalid_dpop_proof")) }
    guard let nonce = settings.dpopNonce, proof.nonce != nonce else { return .good(proof.thumbprint) }
    var demand = endpoint == .userinfo ? HTTPResponse(status: 401) : refusal("use_dpop_nonce")
    if endpoint == .userinfo {
      demand.headers.append(HTTPHeader("WWW-Authenticate", #"DPoP error="use_dpop_nonce""#))
    }
    demand.headers.append(HTTPHeader("DPoP-Nonce", nonce))
    return .refused(demand)
  }

  private func discovery() -> JSON {
    let settings = state.withLock { $0.settings }
    var document = JSONObject([
      ("issuer", .string(issuer)), ("authorization_endpoint", .string(issuer + "/authorize")),
      ("token_endpoint", .string(address(of: .token))), ("jwks_uri", .string(address(of: .keys))),
      ("userinfo_endpoint", .string(address(of: .userinfo))),
      ("revocation_endpoint", .string(address(of: .revocation))),
      ("introspection_endpoint", .string(address(of: .introspection))),
      ("end_session_endpoint", .string(issuer + "/logout")),
      ("device_authorization_endpoint", .string(address(of: .deviceAuthorization))),
      ("response_types_supported", .array([.string("code")])),
      ("code_challenge_methods_supported", .array([.string("S256")])),
      ("authorization_response_iss_parameter_supported", .bool(true)),
    ])
    if !settings.dpopAlgorithms.isEmpty {
      document["dpop_signing_alg_values_supported"] = .array(settings.dpopAlgorithms.map { .string($0) })
    }
    if settings.clientSecret != nil {
      document["token_endpoint_auth_methods_supported"] = .array(
        settings.secretMethods.map { .string($0.rawValue) })
    }
    if settings.takesPushedRequests {
      document["pushed_authorization_request_endpoint"] = .string(address(of: .pushed))
    }
    settings.metadata(&document)
    return .object(document)
  }

  private func token(_ form: [String: String], _ thumbprint: String?) -> HTTPResponse {
    switch form["grant_type"] {
    case "authorization_code":
      guard var grant = state.withLock({ $0.codes.removeValue(forKey: form["code"] ?? "") }),
        grant.redirectURI == form["redirect_uri"], grant.clientID == form["client_id"],
        grant.thumbprint == nil || grant.thumbprint == thumbprint,
        let digest = try? Digest.sha256.hash(Array((form["code_verifier"] ?? "").utf8)),
        Base64URL.encode(digest) == grant.challenge
      else { return refusal("invalid_grant") }
      grant.thumbprint = thumbprint
      return tokens(for: grant, isRefresh: false)
    case "refresh_token":
      let given = form["refresh_token"] ?? ""
      if let error = audienceError(form, of: given) { return refusal(error) }
      let now = clock.wallTime()
      let grant = state.withLock { state -> Grant? in
        let grace = state.settings.graceSeconds
        guard var grant = state.refreshTokens[given], grant.thumbprint == thumbprint,
          grant.rotated.map({ now.since($0) <= grace }) ?? true
        else {
          if state.settings.reuse == .endsFamily, let family = state.rotatedTokens[given] {
            state.refreshTokens = state.refreshTokens.filter { $0.value.family != family }
          }
          return nil
        }
        guard state.settings.rotates, state.settings.reuse != .keepsWorking else { return grant }
        state.refreshTokens = state.refreshTokens.filter {
          $0.value.rotated.map { now.since($0) <= grace } ?? true
        }
        grant.rotated = grant.rotated ?? now
        state.refreshTokens[given] = grace > 0 ? grant : nil
        state.rotatedTokens[given] = grant.family
        grant.rotated = nil
        return grant
      }
      guard var grant else { return refusal("invalid_grant") }
      let audience = Audience(resource: form["resource"], scope: form["scope"])
      if state.withLock({ $0.settings.narrowsSessions }) {
        grant.scopes = audience.scope?.split(separator: " ").map(String.init) ?? grant.scopes
        grant.resource = grant.resource ?? audience.resource
        if audience == Audience() {
          return tokens(
            for: grant, isRefresh: true, audience: Audience(scope: grant.scopes.joined(separator: " ")))
        }
      }
      return tokens(
        for: grant, isRefresh: true, audience: audience == Audience() ? nil : audience)
    case "http://auth0.com/oauth/grant-type/passwordless/otp": return redeemOneTimeCode(form)
    case "urn:ietf:params:oauth:grant-type:device_code": return poll(form["device_code"] ?? "", thumbprint)
    default: return refusal("unsupported_grant_type")
    }
  }

  /// RFC 8707 §2, RFC 6749 §6: why a renewal of that token may not name these; the token is not spent.
  private func audienceError(_ form: [String: String], of refreshToken: String) -> String? {
    state.withLock { state in
      if let resource = form["resource"], !state.settings.resources.contains(resource) {
        return "invalid_target"
      }
      if let resource = form["resource"], let bound = state.refreshTokens[refreshToken]?.resource,
        resource != bound
      {
        return "invalid_grant"
      }
      guard let granted = state.refreshTokens[refreshToken]?.scopes else { return nil }
      let asked = (form["scope"] ?? "").split(separator: " ").map(String.init)
      return asked.allSatisfy(granted.contains) ? nil : "invalid_scope"
    }
  }

  private func startPasswordless(_ request: HTTPRequest) -> HTTPResponse {
    let body = try? JSON.parse(request.body)
    guard let recipient = (body?["email"] ?? body?["phone_number"])?.string else {
      return refusal("bad.connection")
    }
    state.withLock { $0.recipients.append(recipient) }
    return json(200, .object([("_id", .string("1"))]))
  }

  private func redeemOneTimeCode(_ form: [String: String]) -> HTTPResponse {
    let subject = state.withLock { state -> String? in
      guard form["otp"] == state.settings.oneTimeCode,
        let index = state.recipients.firstIndex(where: { $0 == form["username"] })
      else { return nil }
      state.recipients.remove(at: index)
      return state.settings.subject
    }
    guard let subject else { return json(403, .object([("error", .string("invalid_grant"))])) }
    let grant = Grant(
      clientID: form["client_id"] ?? "", subject: subject, nonce: nil, challenge: "", redirectURI: "",
      hasOpenID: (form["scope"] ?? "").split(separator: " ").contains("openid"))
    return tokens(for: grant, isRefresh: false)
  }

  /// RFC 8628 §3.2.
  private func authorizeDevice(_ form: [String: String]) -> HTTPResponse {
    let (number, settings) = state.withLock { state in
      let scopes = (form["scope"] ?? "").split(separator: " ").map(String.init)
      state.issued += 1
      state.deviceCodes["device-\(state.issued)"] = Grant(
        clientID: form["client_id"] ?? "", subject: state.settings.subject, nonce: nil, challenge: "",
        redirectURI: "", scopes: scopes, hasOpenID: scopes.contains("openid"), family: state.issued)
      return (state.issued, state.settings)
    }
    var answer = JSONObject([
      ("device_code", .string("device-\(number)")), ("user_code", .string("WDJB-MJHT")),
      ("verification_uri", .string(issuer + "/activate")),
      ("verification_uri_complete", .string(issuer + "/activate?user_code=WDJB-MJHT")),
      ("expires_in", .integer(600)), ("interval", .integer(5)),
    ])
    settings.deviceAuthorization(&answer)
    return json(200, .object(answer))
  }

  /// RFC 8628 §3.5.
  private func poll(_ deviceCode: String, _ thumbprint: String?) -> HTTPResponse {
    let (grant, error) = state.withLock { state -> (Grant?, String?) in
      if let error = state.settings.deviceError { return (nil, error) }
      return (state.deviceCodes.removeValue(forKey: deviceCode), nil)
    }
    guard var grant else { return refusal(error ?? "invalid_grant") }
    grant.thumbprint = thumbprint
    return tokens(for: grant, isRefresh: false)
  }

  private func tokens(for grant: Grant, isRefresh: Bool, audience: Audience? = nil) -> HTTPResponse {
    let (number, settings) = state.withLock { state in
      state.issued += 1
      if !isRefresh || state.settings.rotates, state.settings.givesRefreshToken(for: grant.scopes) {
        state.refreshTokens["refresh-\(state.issued)\(state.settings.refreshTokenSuffix)"] = grant
      }
      return (state.issued, state.settings)
    }
    let access = "access-\(number)"
    let isBound = grant.thumbprint != nil && !settings.answersBearer
    if let audience { state.withLock { $0.audiences[access] = audience } }
    if isBound { state.withLock { $0.bound[access] = grant.thumbprint } }
    let givesRefreshToken = settings.givesRefreshToken(for: grant.scopes) && (!isRefresh || settings.rotates)
    let givesIDToken =
      isRefresh
      ? settings.givesIDTokenOnRefresh && (grant.hasOpenID || settings.givesIDTokenUnasked) : grant.hasOpenID
    let given = audience?.scope.map { $0.split(separator: " ").map(String.init) } ?? grant.scopes
    let scope = settings.scopeSeparator.map { given.joined(separator: $0) } ?? audience?.scope
    var answer = JSONObject([
      ("access_token", .string(access)), ("token_type", .string(isBound ? "DPoP" : "Bearer")),
      ("expires_in", settings.lifetime),
      ("refresh_token", givesRefreshToken ? .string("refresh-\(number)\(settings.refreshTokenSuffix)") : nil),
      ("scope", scope.map { .string($0) }),
      ("id_token", givesIDToken ? .string(idToken(for: grant, isRefresh: isRefresh, settings)) : nil),
    ])
    settings.tokens(&answer)
    var response = json(200, .object(answer))
    response.headers = settings.tokenHeaders + response.headers
    return response
  }

  private func introspect(_ request: HTTPRequest, _ thumbprint: String?) -> HTTPResponse {
    let isConfidential = state.withLock { $0.settings.clientSecret != nil }
    guard isConfidential || isShown(request, thumbprint) else { return HTTPResponse(status: 401) }
    let token = form(request)["token"] ?? ""
    let isKnown = state.withLock { $0.refreshTokens[token] != nil } || token.hasPrefix("access-")
    return json(200, .object([("active", .bool(isKnown)), ("client_id", .string("native"))]))
  }

  /// Whether the request shows an access token as its type wants it.
  private func isShown(_ request: HTTPRequest, _ thumbprint: String?) -> Bool {
    let given = request.headers.first { $0.name == "Authorization" }?.value ?? ""
    let words = given.split(separator: " ")
    let bound = state.withLock { $0.bound[words.count == 2 ? String(words[1]) : ""] }
    return words.count == 2 && bound == thumbprint && words[0] == (bound == nil ? "Bearer" : "DPoP")
  }

  private func userinfo(_ request: HTTPRequest, _ thumbprint: String?) -> HTTPResponse {
    guard isShown(request, thumbprint) else { return HTTPResponse(status: 401) }
    let settings = state.withLock { $0.settings }
    var claims = JSONObject([
      ("sub", .string(settings.userinfoSubject ?? settings.subject)),
      ("email", .string("alice@example.com")),
    ])
    settings.userinfo(&claims)
    return json(200, .object(claims))
  }

  private func registrationCheck() -> HTTPResponse {
    let settings = state.withLock { $0.settings }
    var answer = JSONObject([("sub", .string(settings.subject)), ("email", .string("alice@example.com"))])
    settings.checkAnswer(&answer)
    return json(200, .object(answer))
  }

  private func push(_ request: HTTPRequest, _ thumbprint: String?) -> HTTPResponse {
    let named = form(request)["dpop_jkt"]
    guard thumbprint == nil || named == thumbprint else { return refusal("invalid_dpop_proof") }
    let name = state.withLock { state -> String in
      state.issued += 1
      let name = "urn:ietf:params:oauth:request_uri:\(state.issued)"
      state.pushed[name] = String(decoding: request.body, as: UTF8.self)
      return name
    }
    return json(201, .object([("request_uri", .string(name)), ("expires_in", .integer(60))]))
  }

  private func revoke(_ form: [String: String]) -> HTTPResponse {
    let token = form["token"] ?? ""
    state.withLock {
      $0.revoked.append(token)
      $0.refreshTokens[token] = nil
    }
    return HTTPResponse(status: 200)
  }

  private func refusal(_ error: String) -> HTTPResponse { json(400, .object([("error", .string(error))])) }

  private func document(_ body: JSON, _ request: HTTPRequest) -> HTTPResponse {
    let settings = state.withLock { $0.settings }
    var answer = json(200, body, ageSeconds: settings.documentAgeSeconds)
    answer.headers += settings.documentHeaders
    if let tag = answer.header("ETag"), request.headers.contains(HTTPHeader("If-None-Match", tag)) {
      (answer.status, answer.body) = (304, [])
    }
    return answer
  }

  private func json(_ status: Int, _ body: JSON, ageSeconds: Int64 = 0) -> HTTPResponse {
    let offset = state.withLock { $0.settings.clockOffsetSeconds } - ageSeconds
    return HTTPResponse(
      status: status,
      headers: [
        HTTPHeader("Content-Type", "application/json"),
        HTTPHeader("Date", httpDate(clock.wallTime() + offset)),
      ], body: body.serialized())
  }
}
