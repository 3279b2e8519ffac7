// The tokens of a renewal, which replace the earlier tokens (R27, R30, R44).

package import EnrollCrypto

/// One renewal, from the moment when it gets the lock until its end.
package struct Renewal: Sendable {
  package let session: SessionIdentity
  /// The audience for which an access token is renewed; nil for the session's own access token.
  package let audience: TokenAudience?
  /// The record's epoch when the renewal began.
  package let epoch: UInt64
  /// The store's ``TokenStore/identity()`` when the renewal began.
  package let store: String
  /// Whether this provider is known to keep older access tokens valid after a renewal.
  package var keepsAccessTokens = false
  /// Whether this request goes to the endpoint from newer metadata, after the previous endpoint refused. The response
  /// of the new endpoint then decides about the session, and no third endpoint is tried.
  package var isAtNewEndpoint = false

  package init(
    session: SessionIdentity, audience: TokenAudience?, epoch: UInt64, store: String,
    keepsAccessTokens: Bool = false, isAtNewEndpoint: Bool = false
  ) {
    self.session = session
    self.audience = audience
    self.epoch = epoch
    self.store = store
    self.keepsAccessTokens = keepsAccessTokens
    self.isAtNewEndpoint = isAtNewEndpoint
  }
}

/// The tokens of a renewal, and the tokens that they replace.
package struct RenewedTokens: Equatable, Sendable {
  /// The new tokens. If only the refresh token of the response can be used, these are the old tokens with that refresh
  /// token.
  package let tokens: TokenSet
  /// The tokens that were renewed.
  package let replaced: TokenSet
  /// The audience of the access token; nil for the session's own access token.
  package let audience: TokenAudience?
  /// The record's epoch when the renewal began.
  package let epoch: UInt64
  /// The store's ``TokenStore/identity()`` when the renewal began.
  package let store: String
  /// The subject of the user; nil if it is unknown.
  package let user: String?
  /// The server's clock minus the device's, in seconds; nil if the response had no date.
  package var clockOffset: Int64?
  /// The scopes that the provider removed from the session because a token for an audience was requested.
  package var scopesLost: [String] = []
  /// Whether the refresh token turned out to be bound to the resource of an audience.
  package var isBound = false
  /// Whether the response brought a new access token.
  package var hasNewAccessToken = true
  /// Whether the unproven id_token is from this response, not from an earlier one.
  package let bringsIDToken: Bool
  /// The id_token that decides whether the tokens are used (R27).
  package let idTokenToJudge: Secret?

  /// The tokens of a response. The access token is left out if the response's id_token, verified or not,
  /// belongs to another session (R27); an id_token of an earlier response does not count here. For an
  /// audience only the refresh token is replaced (R44).
  package init(_ response: TokenResponse, of renewal: Renewal, sent: Moment, clockOffset: Int64?) {
    let (session, audience) = (renewal.session, renewal.audience)
    replaced = session.tokens
    self.audience = audience
    epoch = renewal.epoch
    store = renewal.store
    user = session.subject
    self.clockOffset = clockOffset
    bringsIDToken = response.idToken != nil
    let contradicting = response.idToken.flatMap { session.contradiction(in: $0) == nil ? nil : $0 }
    if contradicting != nil {
      var kept = session.tokens
      kept.refreshToken = response.refreshToken ?? kept.refreshToken
      kept.refreshExpiry = response.refreshExpiry(at: sent)
      if audience == nil { kept.unprovenIDToken = contradicting }
      tokens = kept
      hasNewAccessToken = false
    } else if let audience {
      var renewed = response.tokenSet(
        beside: session.tokens, for: audience, epoch: renewal.epoch &+ 1,
        withoutExpirySeconds: session.withoutExpirySeconds, at: sent)
      if !renewal.keepsAccessTokens { renewed.supersede(except: audience) }
      tokens = renewed
    } else {
      var renewed = response.tokenSet(
        renewing: session.tokens, withoutExpirySeconds: session.withoutExpirySeconds, at: sent)
      if !renewal.keepsAccessTokens { renewed.supersede(except: nil) }
      tokens = renewed
      scopesLost = session.tokens.scopesLost(to: response.scopes, at: renewal.epoch)
      isBound = session.tokens.isBound(by: response.accessToken, at: renewal.epoch)
    }
    idTokenToJudge = audience == nil ? tokens.unprovenIDToken : contradicting
  }

  /// The tokens after a renewal that returned only a new refresh token.
  package init(refreshToken: Secret, of renewal: Renewal) {
    var kept = renewal.session.tokens
    kept.refreshToken = refreshToken
    kept.refreshExpiry = nil
    tokens = kept
    replaced = renewal.session.tokens
    audience = renewal.audience
    epoch = renewal.epoch
    store = renewal.store
    user = renewal.session.subject
    bringsIDToken = false
    idTokenToJudge = audience == nil ? kept.unprovenIDToken : nil
    hasNewAccessToken = false
  }
}
