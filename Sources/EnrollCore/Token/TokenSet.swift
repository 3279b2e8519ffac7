// The tokens of a token endpoint, as they are kept.

public import EnrollCrypto

/// Tokens of one account that belong together.
public struct TokenSet: Equatable, Sendable {
  /// The token that requests carry.
  public var accessToken: Secret
  /// As the server spelt it: `Bearer`, `DPoP`.
  public var tokenType: String
  /// The token that is spent for the next tokens; nil if the provider gave none.
  public var refreshToken: Secret?
  /// When the refresh token ends; nil if the provider did not say with the last answer.
  public var refreshExpiry: Expiry?
  /// The proof of who signed in, as it came, proven; nil without the scope `openid`.
  public var idToken: Secret?
  /// The key that the tokens are bound to (RFC 9449): the access token if its type is DPoP, the refresh token in any
  /// case.
  public var dpopKey: DPoPKey?
  /// The granted scopes, or the requested ones if the server does not name any.
  public var scopes: [String]
  /// When the access token ends.
  public var expiry: Expiry
  /// The proven claims of the first id_token, with which every later one must agree (R27).
  public var identity: IdentityFacts?
  /// An id_token of a renewal that is not proven, or breaks a rule (R27): never handed out, and looked at again with the next
  /// renewal.
  public var unprovenIDToken: Secret?
  /// The endpoint that gave the tokens.
  public var source: Source
  /// Access tokens for other audiences, which came with this session's refresh token.
  public var audiences = AudienceTokens()

  /// The endpoint that gave the tokens. No other endpoint may see them.
  public enum Source: String, Sendable, CaseIterable {
    /// The configured issuer, or a gateway in its name.
    case issuer
    /// A back end that keeps the issuer's tokens to itself: a session token of its own (flows.md §10).
    /// The stored name is older than the flow's.
    case bff = "backend"
  }

  public init(
    accessToken: Secret, tokenType: String, refreshToken: Secret? = nil, idToken: Secret? = nil,
    dpopKey: DPoPKey? = nil, scopes: [String] = [], expiry: Expiry, identity: IdentityFacts? = nil,
    unprovenIDToken: Secret? = nil, source: Source = .issuer
  ) {
    self.accessToken = accessToken
    self.tokenType = tokenType
    self.refreshToken = refreshToken
    self.idToken = idToken
    self.dpopKey = dpopKey
    self.scopes = scopes
    self.expiry = expiry
    self.identity = identity
    self.unprovenIDToken = unprovenIDToken
    self.source = source
  }
}

extension TokenSet {
  /// Whether the refresh token ends before long: a renewal replaces it while it works, whatever the age of the access token.
  func isRefreshDue(at moment: Moment, graceSeconds: Int64) -> Bool {
    guard refreshToken != nil, let refreshExpiry else { return false }
    return refreshExpiry.band(at: moment, graceSeconds: graceSeconds) == .due
  }

  /// The end of an access token, or of the refresh token if that comes before: until then nothing has to be renewed.
  func renewalEnd(of access: Expiry, at moment: Moment) -> Expiry {
    guard refreshToken != nil, let refreshExpiry, !refreshExpiry.isOver(at: moment),
      refreshExpiry.secondsLeft(at: moment) < access.secondsLeft(at: moment)
    else { return access }
    return refreshExpiry
  }
}

/// The claims of the last proven id_token by which the next one is judged (OpenID Connect Core §12.2).
public struct IdentityFacts: Equatable, Sendable {
  /// `iss`.
  public var issuer: Issuer
  /// `sub`: who the user is, for this issuer.
  public var subject: String
  /// `aud`: one or several.
  public var audience: [String]
  /// `azp`.
  public var authorizedParty: String?
  /// `auth_time`: when the user signed in.
  public var authTime: UnixTime?

  public init(
    issuer: Issuer, subject: String, audience: [String], authorizedParty: String? = nil,
    authTime: UnixTime? = nil
  ) {
    self.issuer = issuer
    self.subject = subject
    self.audience = audience
    self.authorizedParty = authorizedParty
    self.authTime = authTime
  }
}
