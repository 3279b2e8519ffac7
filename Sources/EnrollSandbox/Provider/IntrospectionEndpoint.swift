// Introspection (RFC 7662): a client asks about its own tokens, and authenticates with one of these tokens (§2.1) or
// with its secret. For a token that is invalid or belongs to another client, the answer is only `"active": false`.

import EnrollJSON

extension Provider {
  func introspect(_ http: SandboxRequest) -> SandboxAnswer {
    var answer: SandboxAnswer
    do throws(OAuthRefusal) {
      answer = .json(try introspected(http))
    } catch {
      answer = refused(error)
      if error.status == 401 { answer.setHeader("WWW-Authenticate", "Bearer error=\"\(error.code)\"") }
    }
    addNonce(to: &answer)
    return answer
  }

  private func introspected(_ http: SandboxRequest) throws(OAuthRefusal) -> JSON {
    guard let form = http.form, form.repeatedName == nil, let text = form["token"] else {
      throw .invalidRequest("the body must be a form with a token")
    }
    let asking =
      clients.contains { $0.secret != nil }
      ? try knownClient(http).1 : try shown(http, at: .introspection).clientID
    let inactive = JSON.object([("active", .bool(false))])
    if let token = grants.accessTokens[text] {
      guard let grant = grants.grant(ofAccessToken: text, now: now), grant.clientID == asking else {
        return inactive
      }
      return .object(
        facts(
          grant, scopes: token.scopes, type: token.thumbprint == nil ? "Bearer" : "DPoP",
          expiresAt: token.expiresAt)
          + [
            ("aud", token.resource.map { .string($0) }),
            ("cnf", token.thumbprint.map { .object([("jkt", .string($0))]) }),
          ])
    }
    guard let family = grants.liveFamily(ofRefreshToken: text, now: now),
      family.grant.clientID == asking
    else { return inactive }
    return .object(facts(family.grant, scopes: nil, type: nil, expiresAt: family.refreshExpiresAt))
  }

  private func facts(
    _ grant: UserGrant, scopes: [String]?, type: String?, expiresAt: Int64
  ) -> [(String, JSON?)] {
    [
      ("active", .bool(true)), ("scope", .string((scopes ?? grant.scopes).joined(separator: " "))),
      ("client_id", .string(grant.clientID)), ("token_type", type.map { .string($0) }),
      ("exp", .integer(expiresAt)), ("sub", user(grant.userName).map { .string($0.subject) }),
      ("iss", .string(issuer)),
    ]
  }
}
