// The endpoints of the fake provider, other than the token endpoint.

import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollJSON

extension FakeProvider {
  func answer(_ request: HTTPRequest, _ endpoint: Endpoint) -> HTTPResponse {
    let ofClients: [Endpoint] = [.token, .revocation, .introspection, .pushed, .deviceAuthorization]
    if ofClients.contains(endpoint), !isAuthenticated(request, endpoint) { return clientRefusal(request) }
    do throws(EndpointError) {
      switch endpoint {
      case .discovery: return document(discovery(request.url), request)
      case .keys: return document(keys(), request)
      case .token: return try token(request)
      case .userinfo: return userinfo(request, try thumbprint(of: request, endpoint))
      case .emails: return emails(request)
      case .introspection: return introspect(request, try thumbprint(of: request, endpoint))
      case .pushed: return try push(request, thumbprint(of: request, endpoint))
      case .deviceAuthorization: return authorizeDevice(form(request))
      case .revocation: return revoke(form(request))
      case .registrationCheck: return registrationCheck()
      case .passwordless: return try startPasswordless(request)
      case .profileUpdate, .errorReport: return HTTPResponse(status: 204)
      }
    } catch {
      return json(error.status, .object([("error", .string(error.error))]), headers: error.headers)
    }
  }

  /// The thumbprint of the key of the request's DPoP proof (RFC 9449); nil if the request has no proof.
  func thumbprint(of request: HTTPRequest, _ endpoint: Endpoint) throws(EndpointError) -> String? {
    let settings = state.withLock { $0.settings }
    guard !settings.dpopAlgorithms.isEmpty, request.headers.contains(where: { $0.name == "DPoP" }) else {
      return nil
    }
    let now = clock.wallTime() + settings.clockOffsetSeconds
    guard let proof = VerifiedProof(of: request, now: now),
      state.withLock({ $0.identifiers.insert(proof.identifier).inserted })
    else { throw EndpointError(400, "invalid_dpop_proof") }
    guard let nonce = settings.dpopNonce, proof.nonce != nonce else { return proof.thumbprint }
    var refusal = EndpointError(endpoint == .userinfo ? 401 : 400, "use_dpop_nonce")
    if endpoint == .userinfo {
      refusal.headers.append(HTTPHeader("WWW-Authenticate", #"DPoP error="use_dpop_nonce""#))
    }
    refusal.headers.append(HTTPHeader("DPoP-Nonce", nonce))
    throw refusal
  }

  private func push(_ request: HTTPRequest, _ thumbprint: String?) throws(EndpointError) -> HTTPResponse {
    guard thumbprint == nil || form(request)["dpop_jkt"] == thumbprint else {
      throw EndpointError(400, "invalid_dpop_proof")
    }
    let name = state.withLock { state -> String in
      state.issued += 1
      let name = "urn:ietf:params:oauth:request_uri:\(state.issued)"
      state.pushed[name] = String(decoding: request.body, as: UTF8.self)
      return name
    }
    return json(201, .object([("request_uri", .string(name)), ("expires_in", .integer(60))]))
  }

  private func startPasswordless(_ request: HTTPRequest) throws(EndpointError) -> HTTPResponse {
    let body = try? JSON.parse(request.body)
    guard let recipient = (body?["email"] ?? body?["phone_number"])?.string else {
      throw EndpointError(400, "bad.connection")
    }
    state.withLock { $0.recipients.append(recipient) }
    return json(200, .object([("_id", .string("1"))]))
  }

  /// Answers a device authorization request (RFC 8628 §3.2).
  private func authorizeDevice(_ form: [String: String]) -> HTTPResponse {
    let scopes = words(form["scope"])
    let (number, seconds, settings) = state.withLock { state in
      state.issued += 1
      state.scopes = scopes
      state.deviceCodes["device-\(state.issued)"] = Grant(
        clientID: form["client_id"] ?? "", subject: state.settings.subject, scopes: scopes,
        hasOpenID: scopes.contains("openid"), family: state.issued)
      return (state.issued, state.deviceCodeSeconds, state.settings)
    }
    var answer = JSONObject([
      ("device_code", .string("device-\(number)")), ("user_code", .string("WDJB-MJHT")),
      (dialect.device.uriMember, .string(urls.activation)),
      (
        "verification_uri_complete",
        dialect.device.hasCompleteURI ? .string("\(urls.activation)?user_code=WDJB-MJHT") : nil
      ),
      ("expires_in", .integer(seconds)), ("interval", .integer(5)),
    ])
    settings.deviceAuthorization(&answer)
    return json(200, .object(answer))
  }

  private func introspect(_ request: HTTPRequest, _ thumbprint: String?) -> HTTPResponse {
    let isConfidential = state.withLock { $0.settings.clientSecret != nil }
    guard isConfidential || isShown(request, thumbprint) else { return HTTPResponse(status: 401) }
    let isKnown = knows(form(request)["token"] ?? "")
    return json(200, .object([("active", .bool(isKnown)), ("client_id", .string("native"))]))
  }

  /// Whether the token is an access token or a valid refresh token of this provider.
  func knows(_ token: String) -> Bool {
    token.hasPrefix("access-") || state.withLock { $0.refreshTokens[token] != nil }
  }

  /// Whether the request contains an access token in the scheme of its type (`Bearer` or `DPoP`). The proof of a bound
  /// token must come from the key to which the token is bound.
  private func isShown(_ request: HTTPRequest, _ thumbprint: String?) -> Bool {
    let given = request.headers.first { $0.name == "Authorization" }?.value ?? ""
    let words = given.split(separator: " ")
    let bound = state.withLock { $0.bound[words.count == 2 ? String(words[1]) : ""] }
    return words.count == 2 && bound == thumbprint && words[0] == (bound == nil ? "Bearer" : "DPoP")
  }

  private func userinfo(_ request: HTTPRequest, _ thumbprint: String?) -> HTTPResponse {
    guard isShown(request, thumbprint) else { return HTTPResponse(status: 401) }
    let (rules, settings) = (dialect.userinfo, state.withLock { $0.settings })
    let subject = has(.anotherUserinfoSubject) ? "mallory" : settings.userinfoSubject ?? settings.subject
    var claims = JSONObject([
      ("sub", .string(subject)), ("name", .string("Alice Example")), ("email", .string("alice@example.com")),
      ("email_verified", rules.emailVerified.json),
    ])
    if let names = rules.claims {
      claims = JSONObject(claims.members.filter { names.contains($0.key) }.map { ($0.key, $0.value) })
    }
    if rules.emails != nil { (claims["email"], claims["email_verified"]) = (.null, nil) }
    for (claim, other) in rules.names { (claims[other], claims[claim]) = (claims[claim], nil) }
    let name = rules.subject.split(separator: ".").last.map(String.init) ?? rules.subject
    claims["sub"] = nil
    claims[name] = rules.subjectType == .number ? Int64(subject).map { .integer($0) } : .string(subject)
    settings.userinfo(&claims)
    return json(200, rules.wrapper.map { .object([($0, .object(claims))]) } ?? .object(claims))
  }

  private func emails(_ request: HTTPRequest) -> HTTPResponse {
    guard request.headers.contains(where: { $0.name == "Authorization" }) else { return page(403) }
    return json(
      200,
      .array([
        .object([
          ("email", .string("alice@example.com")), ("primary", .bool(true)), ("verified", .bool(true)),
        ])
      ]))
  }

  private func registrationCheck() -> HTTPResponse {
    let settings = state.withLock { $0.settings }
    var answer = JSONObject([("sub", .string(settings.subject)), ("email", .string("alice@example.com"))])
    settings.checkAnswer(&answer)
    return json(200, .object(answer))
  }

  private func revoke(_ form: [String: String]) -> HTTPResponse {
    let token = form["token"] ?? ""
    state.withLock {
      $0.revoked.append(token)
      $0.refreshTokens[token] = nil
    }
    return HTTPResponse(status: 200)
  }

  // MARK: Answers

  private func document(_ body: JSON, _ request: HTTPRequest) -> HTTPResponse {
    let settings = state.withLock { $0.settings }
    var answer = json(200, body, ageSeconds: settings.documentAgeSeconds)
    answer.headers += settings.documentHeaders
    if let tag = answer.header("ETag"), request.headers.contains(HTTPHeader("If-None-Match", tag)) {
      (answer.status, answer.body) = (304, [])
    }
    return answer
  }

  func page(_ status: Int) -> HTTPResponse {
    HTTPResponse(
      status: status, headers: [HTTPHeader("Content-Type", "text/html")],
      body: Array("<!doctype html><title>\(status)</title>".utf8))
  }

  func json(
    _ status: Int, _ body: JSON, headers: [HTTPHeader] = [], ageSeconds: Int64 = 0
  ) -> HTTPResponse {
    let type = HTTPHeader("Content-Type", "application/json")
    return dated(
      HTTPResponse(status: status, headers: headers + [type], body: body.serialized()), ageSeconds: ageSeconds
    )
  }

  /// The answer with the header `Date` added, unless the settings leave it out.
  func dated(_ answer: HTTPResponse, ageSeconds: Int64 = 0) -> HTTPResponse {
    let settings = state.withLock { $0.settings }
    guard settings.sendsDate else { return answer }
    var answer = answer
    let time = clock.wallTime() + (settings.clockOffsetSeconds - ageSeconds)
    answer.headers.append(HTTPHeader("Date", httpDate(time)))
    return answer
  }
}
