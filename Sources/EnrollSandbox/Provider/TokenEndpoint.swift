// The token endpoint: code, refresh_token, device_code and passwordless grants (RFC 6749 §3.2, §4.1.3, §6, RFC 8628
// §3.4), and revocation (RFC 7009). Refused are: repeated parameters, any other grant, and a client secret that a
// client without a secret sends.

import EnrollJSON

extension Provider {
  func token(_ http: SandboxRequest, effects: [Fault.Effect]) -> SandboxAnswer {
    var answer = granted(http, effects: effects)
    addNonce(to: &answer)
    return answer
  }

  private func granted(_ http: SandboxRequest, effects: [Fault.Effect]) -> SandboxAnswer {
    do throws(OAuthRefusal) {
      let (form, clientID) = try knownClient(http)
      let key = try proof(of: http, at: .token)?.thumbprint
      switch form["grant_type"] {
      case "authorization_code": return try redeem(form, clientID: clientID, key: key, effects: effects)
      case "refresh_token": return try refresh(form, clientID: clientID, key: key, effects: effects)
      case "http://auth0.com/oauth/grant-type/passwordless/otp":
        return try redeemOneTimeCode(form, clientID: clientID, key: key, effects: effects)
      case "urn:ietf:params:oauth:grant-type:device_code":
        return try redeemDevice(form, clientID: clientID, key: key, effects: effects)
      case nil: throw .invalidRequest("grant_type is missing")
      case let other?: throw OAuthRefusal("unsupported_grant_type", "\(other) is not supported")
      }
    } catch {
      return refused(error)
    }
  }

  func revoke(_ http: SandboxRequest) -> SandboxAnswer {
    do throws(OAuthRefusal) {
      let (form, clientID) = try knownClient(http)
      guard let text = form["token"] else { throw .invalidRequest("token is missing") }
      try grants.revoke(text, clientID: clientID)
      return SandboxAnswer(status: 200, headers: [("Cache-Control", "no-store")])
    } catch {
      return refused(error)
    }
  }

  /// The form, and the id of the client that sent it.
  func knownClient(_ http: SandboxRequest) throws(OAuthRefusal) -> (Form, String) {
    guard let form = http.form else { throw .invalidRequest("the body must be a form") }
    if let name = form.repeatedName { throw .invalidRequest("\(name) occurs twice") }
    let header = http.headers["authorization"]
    let pair = header.map { Encoding.basicCredentials($0) ?? ("", "") }
    guard let client = client(pair?.0 ?? form["client_id"]), form["client_id"] ?? client.id == client.id
    else {
      throw OAuthRefusal("invalid_client", "client_id is missing or not known", status: 401)
    }
    guard let secret = client.secret else {
      guard header == nil, form["client_secret"] == nil else {
        throw OAuthRefusal("invalid_client", "the client is public and has no secret", status: 401)
      }
      return (form, client.id)
    }
    // The client must use only one authentication method (RFC 6749 §2.3).
    guard pair == nil || form["client_secret"] == nil, (pair?.1 ?? form["client_secret"]) == secret else {
      throw OAuthRefusal(
        "invalid_client", "the client's secret is missing, wrong or sent in two ways", status: 401)
    }
    return (form, client.id)
  }

  private func redeem(
    _ form: Form, clientID: String, key: String?, effects: [Fault.Effect]
  ) throws(OAuthRefusal) -> SandboxAnswer {
    guard let code = form["code"] else { throw .invalidRequest("code is missing") }
    let isOffline = grants.codes[code]?.grant.scopes.contains("offline_access") == true
    let family = try grants.redeem(
      code, clientID: clientID, redirectURI: form["redirect_uri"], verifier: form["code_verifier"],
      thumbprint: key,
      refreshExpiresAt: isOffline ? now + options.refreshLifetimeSeconds : nil, now: now)
    return issue(
      family, key: key, scopes: family.grant.scopes, nonce: family.grant.nonce, sendsRefreshToken: true,
      effects: effects)
  }

  private func refresh(
    _ form: Form, clientID: String, key: String?, effects: [Fault.Effect]
  ) throws(OAuthRefusal) -> SandboxAnswer {
    guard let text = form["refresh_token"] else { throw .invalidRequest("refresh_token is missing") }
    let wanted = form.words("scope")
    if let resource = form["resource"], !(options.resources + [notes]).contains(resource) {
      throw OAuthRefusal("invalid_target", "no such resource server (RFC 8707 §2)")
    }
    if let token = grants.refreshTokens[text], let family = grants.families[token.familyID],
      !Set(family.grant.scopes).isSuperset(of: wanted)
    {
      throw OAuthRefusal("invalid_scope", "more scopes than were granted")
    }
    let rotates = options.rotatesRefreshTokens && !effects.contains(.noRotation)
    let family = try grants.refresh(
      text, clientID: clientID, thumbprint: key, rotates: rotates, graceSeconds: options.refreshGraceSeconds,
      refreshExpiresAt: now + options.refreshLifetimeSeconds, now: now)
    return issue(
      family, key: key, scopes: wanted.isEmpty ? family.grant.scopes : wanted, resource: form["resource"],
      nonce: nil, sendsRefreshToken: rotates,
      effects: effects)
  }

  /// Issues the first tokens of a grant that did not begin with an authorization code, such as a device grant.
  func open(_ grant: UserGrant, key: String?, effects: [Fault.Effect]) -> SandboxAnswer {
    let isOffline = grant.scopes.contains("offline_access")
    let family = grants.open(
      grant, thumbprint: key, refreshExpiresAt: isOffline ? now + options.refreshLifetimeSeconds : nil,
      now: now)
    return issue(
      family, key: key, scopes: grant.scopes, nonce: grant.nonce, sendsRefreshToken: true, effects: effects)
  }

  func issue(
    _ family: Family, key: String?, scopes: [String], resource: String? = nil, nonce: String?,
    sendsRefreshToken: Bool, effects: [Fault.Effect]
  ) -> SandboxAnswer {
    // With the effect `unbound`, `token_type` says that the access token is not bound to a key (RFC 9449 §5). The
    // refresh token is bound nevertheless.
    let bound = effects.contains(.unbound) ? nil : key
    let accessToken = grants.addAccessToken(
      for: family, thumbprint: bound, scopes: scopes, resource: resource,
      expiresAt: now + options.accessLifetimeSeconds)
    var idToken: String?
    if scopes.contains("openid"), let user = user(family.grant.userName) {
      let facts = IDTokenFacts(
        issuer: issuer, user: user, grant: family.grant, nonce: nonce, accessToken: accessToken, now: now,
        lifetimeSeconds: options.idTokenLifetimeSeconds)
      do {
        idToken = try keys.sign(facts, effects: effects)
      } catch {
        return refused(OAuthRefusal("server_error", "the id_token could not be signed", status: 500))
      }
    }
    return .json(
      .object([
        ("access_token", .string(accessToken)), ("token_type", .string(bound == nil ? "Bearer" : "DPoP")),
        ("expires_in", .integer(options.accessLifetimeSeconds)),
        ("refresh_token", sendsRefreshToken ? family.refreshToken.map { .string($0) } : nil),
        ("id_token", idToken.map { .string($0) }), ("scope", .string(scopes.joined(separator: " "))),
      ]))
  }

  func refused(_ refusal: OAuthRefusal) -> SandboxAnswer {
    Misbehaviour.refusal(refusal)
  }
}
