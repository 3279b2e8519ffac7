// Codes, refresh tokens and access tokens, and the rules for them: a code can be redeemed once (RFC 6749 §4.1.2), a
// refresh token is replaced at each use, and reuse of a replaced token ends its whole family (RFC 9700 §4.14.2). Pure:
// time and fresh random texts are arguments.

/// The access that a user granted to a client.
struct UserGrant: Codable, Sendable, Equatable {
  var userName: String
  var clientID: String
  var scopes: [String]
  var nonce: String?
  var authTime: Int64
  var contextClass: ContextClass
  var sessionID: String
}

/// All tokens that come from one code.
struct Family: Codable, Sendable, Equatable {
  enum End: String, Codable, Sendable { case reuse, codeReuse, revoked, signedOut, ended }

  let id: String
  let grant: UserGrant
  /// The number of families that began before this family.
  let number: Int
  /// The generation of the current refresh token; 0 if the family never had a refresh token.
  var generation = 0
  var refreshToken: String?
  var rotatedAt: Int64
  var refreshExpiresAt: Int64
  /// The thumbprint of the key to which the family's refresh token is bound.
  var thumbprint: String?
  /// Why all tokens of the family are invalid; nil while they are valid.
  var end: End?
}

struct Grants: Codable, Sendable {
  struct Code: Codable, Sendable {
    var grant: UserGrant
    var redirectURI: String
    var codeChallenge: String
    /// The thumbprint of the key to which the code is bound.
    var thumbprint: String?
    var expiresAt: Int64
    var familyID: String?
  }

  struct AccessToken: Codable, Sendable {
    var familyID: String
    var thumbprint: String?
    /// The token's scopes, if a refresh asked for fewer; nil for all granted scopes.
    var scopes: [String]?
    /// The resource server for which the token was issued (RFC 8707); nil if the request named no resource.
    var resource: String?
    var expiresAt: Int64
    var isRevoked = false
  }

  struct RefreshToken: Codable, Sendable {
    var familyID: String
    var generation: Int
  }

  private(set) var codes: [String: Code] = [:]
  private(set) var families: [String: Family] = [:]
  private(set) var accessTokens: [String: AccessToken] = [:]
  private(set) var refreshTokens: [String: RefreshToken] = [:]

  mutating func add(_ code: Code, as text: String) { codes[text] = code }

  /// - Parameters:
  ///   - thumbprint: the thumbprint of the key in the request's proof.
  ///   - refreshExpiresAt: nil if no refresh token is issued.
  mutating func redeem(
    _ text: String, clientID: String, redirectURI: String?, verifier: String?, thumbprint: String? = nil,
    refreshExpiresAt: Int64?, now: Int64
  ) throws(OAuthRefusal) -> Family {
    guard var code = codes[text] else { throw .invalidGrant("the code is not known") }
    if let familyID = code.familyID {
      finish(familyID, .codeReuse)
      throw .invalidGrant("the code was used before; what it gave is revoked")
    }
    guard code.grant.clientID == clientID else { throw .invalidGrant("the code is another client's") }
    guard now <= code.expiresAt else { throw .invalidGrant("the code expired") }
    guard code.redirectURI == redirectURI else {
      throw .invalidGrant("redirect_uri is not that of the authorize request")
    }
    guard let verifier else { throw .invalidRequest("code_verifier is missing") }
    guard PKCE.matches(verifier: verifier, challenge: code.codeChallenge) else {
      throw .invalidGrant("code_verifier does not match the code_challenge")
    }
    guard code.thumbprint == nil || code.thumbprint == thumbprint else {
      throw KeyProof.refusal("the code is another key's")
    }
    let family = open(code.grant, thumbprint: thumbprint, refreshExpiresAt: refreshExpiresAt, now: now)
    code.familyID = family.id
    codes[text] = code
    return family
  }

  /// Starts a family that did not begin with an authorization code.
  /// - Parameters:
  ///   - thumbprint: the thumbprint of the key in the request's proof.
  ///   - refreshExpiresAt: nil if no refresh token is issued.
  mutating func open(
    _ grant: UserGrant, thumbprint: String?, refreshExpiresAt: Int64?, now: Int64
  ) -> Family {
    var family = Family(
      id: Encoding.randomToken(), grant: grant, number: families.count, rotatedAt: now,
      refreshExpiresAt: refreshExpiresAt ?? now, thumbprint: thumbprint)
    if refreshExpiresAt != nil { giveRefreshToken(&family, now: now) }
    families[family.id] = family
    return family
  }

  /// - Parameters:
  ///   - rotates: whether the refresh token is replaced; if false, the current refresh token stays valid.
  ///   - graceSeconds: how long the previous refresh token may be sent again. The answer then contains the current
  ///     refresh token, like the earlier answer, which perhaps did not reach the client.
  mutating func refresh(
    _ text: String, clientID: String, thumbprint: String?, rotates: Bool, graceSeconds: Int64,
    refreshExpiresAt: Int64, now: Int64
  ) throws(OAuthRefusal) -> Family {
    guard let token = refreshTokens[text], var family = families[token.familyID] else {
      throw .invalidGrant("the refresh token is not known")
    }
    guard family.grant.clientID == clientID else {
      throw .invalidGrant("the refresh token is another client's")
    }
    guard family.thumbprint == nil || family.thumbprint == thumbprint else {
      throw KeyProof.refusal("the refresh token is another key's")
    }
    if let end = family.end { throw .invalidGrant("the session has ended: \(end.rawValue)") }
    guard now <= family.refreshExpiresAt else { throw .invalidGrant("the refresh token expired") }
    if token.generation != family.generation {
      let isLast = token.generation == family.generation - 1
      guard isLast, graceSeconds > 0, now - family.rotatedAt <= graceSeconds else {
        finish(family.id, .reuse)
        throw .invalidGrant("the refresh token was used before; the session is ended")
      }
      return family
    }
    if rotates {
      family.refreshExpiresAt = refreshExpiresAt
      giveRefreshToken(&family, now: now)
    }
    families[family.id] = family
    return family
  }

  private mutating func giveRefreshToken(_ family: inout Family, now: Int64) {
    let text = Encoding.randomToken()
    family.generation += 1
    family.refreshToken = text
    family.rotatedAt = now
    refreshTokens[text] = RefreshToken(familyID: family.id, generation: family.generation)
  }

  /// - Parameter thumbprint: nil for a Bearer token.
  mutating func addAccessToken(
    for family: Family, thumbprint: String? = nil, scopes: [String]? = nil, resource: String? = nil,
    expiresAt: Int64
  ) -> String {
    let text = Encoding.randomToken()
    accessTokens[text] = AccessToken(
      familyID: family.id, thumbprint: thumbprint, scopes: scopes, resource: resource, expiresAt: expiresAt)
    return text
  }

  /// The grant of a valid access token.
  func grant(ofAccessToken text: String, now: Int64) -> UserGrant? {
    guard let token = accessTokens[text], !token.isRevoked, now < token.expiresAt else { return nil }
    guard let family = families[token.familyID], family.end == nil else { return nil }
    return family.grant
  }

  /// The family whose current, valid refresh token this is.
  func liveFamily(ofRefreshToken text: String, now: Int64) -> Family? {
    guard let token = refreshTokens[text], let family = families[token.familyID], family.end == nil,
      token.generation == family.generation, now <= family.refreshExpiresAt
    else { return nil }
    return family
  }

  /// Revokes a token (RFC 7009 §2.1). Revoking a refresh token ends its whole family; revoking an access token makes
  /// only that token invalid. An unknown token is not an error.
  mutating func revoke(_ text: String, clientID: String) throws(OAuthRefusal) {
    let familyID = refreshTokens[text]?.familyID ?? accessTokens[text]?.familyID
    guard let familyID, let family = families[familyID] else { return }
    guard family.grant.clientID == clientID else {
      throw OAuthRefusal("invalid_client", "the token is another client's", status: 401)
    }
    if refreshTokens[text] != nil { finish(familyID, .revoked) } else { accessTokens[text]?.isRevoked = true }
  }

  mutating func finish(_ familyID: String, _ end: Family.End) {
    if families[familyID]?.end == nil { families[familyID]?.end = end }
  }

  /// Ends every family that began in the browser session `sessionID`; ends all families if `sessionID` is nil.
  mutating func finishAll(sessionID: String?, _ end: Family.End) {
    for family in families.values where sessionID == nil || family.grant.sessionID == sessionID {
      finish(family.id, end)
    }
  }
}
