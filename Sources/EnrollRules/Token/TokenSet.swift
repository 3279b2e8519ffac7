// The tokens of a token endpoint, as they are stored.

public import EnrollCrypto

/// Tokens of one account that belong together.
public struct TokenSet: Equatable, Sendable {
  /// The token that requests carry.
  public var accessToken: Secret
  /// The token's type as the server spelt it: `Bearer` or `DPoP`.
  public var tokenType: String
  /// The token that is exchanged for the next tokens; nil if the provider did not issue one.
  public var refreshToken: Secret?
  /// When the refresh token expires; nil if the provider's last response does not say.
  public var refreshExpiry: Expiry?
  /// The verified id_token, as it was received; nil without the scope `openid`.
  public var idToken: Secret?
  /// The key that the tokens are bound to (RFC 9449): the refresh token always, the access token only if its type is
  /// DPoP.
  public var dpopKey: DPoPKey?
  /// The granted scopes, or the requested scopes if the server names no scopes.
  public var scopes: [String]
  /// The requested scopes that were not granted, as far as the server says.
  public var missingScopes: [String] = []
  /// When the access token expires.
  public var expiry: Expiry
  /// The claims of the verified id_token, with which every later id_token must agree (R27).
  public var identity: IdentityFacts?
  /// An id_token from a renewal that is not verified, or breaks a rule (R27): it is never returned to callers, and is
  /// checked again at the next renewal.
  public var unprovenIDToken: Secret?
  /// The endpoint that issued the tokens.
  public var source: Source
  /// Whether a renewal for an audience may have ended the access token. Then the token is not returned to callers.
  public var isSuperseded = false
  /// Access tokens for other audiences, obtained with this session's refresh token.
  public var audiences = AudienceTokens()

  /// The kind of endpoint that issued the tokens. EnrollKit never sends the tokens to an endpoint of the other kind.
  public enum Source: String, Sendable, CaseIterable {
    /// The configured issuer, or a gateway on its behalf.
    case issuer
    /// A back end that keeps the issuer's tokens and issues a session token of its own (flows.md §10). The
    /// stored name is older than the name of the flow.
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
  /// The error if fewer scopes were granted than requested; nil if all were granted.
  package var grantedLess: EnrollError? {
    guard !missingScopes.isEmpty else { return nil }
    return EnrollError(
      .unsupported,
      "the provider granted fewer scopes than were requested, without \(PrintableText.bounded(Scopes.joined(missingScopes), maximumBytes: 500))",
      field: "scopes")
  }

  /// Whether the refresh token expires soon. If so, it is renewed while it still works, whatever the age of the access
  /// token.
  package func isRefreshDue(at moment: Moment, graceSeconds: Int64) -> Bool {
    guard refreshToken != nil, let refreshExpiry else { return false }
    return refreshExpiry.band(at: moment, graceSeconds: graceSeconds) == .due
  }

  /// When the access token or the refresh token expires, whichever is earlier. Until then no renewal is due.
  package func renewalEnd(of access: Expiry, at moment: Moment) -> Expiry {
    guard refreshToken != nil, let refreshExpiry, !refreshExpiry.isOver(at: moment),
      refreshExpiry.secondsLeft(at: moment) < access.secondsLeft(at: moment)
    else { return access }
    return refreshExpiry
  }
}

extension TokenSet {
  /// Every token of the set that may be revoked.
  package var revocable: [Secret] {
    (refreshToken.map { [$0] } ?? []) + audiences.entries.compactMap { $0.token?.accessToken } + [accessToken]
  }
}

extension TokenSet {
  package func isUsable(at moment: Moment) -> Bool { !expiry.isOver(at: moment) }
}
