// The values against which a transaction's tokens are checked, and the tokens with the profile of their user.

package import EnrollCrypto
package import EnrollJSON

/// The data against which the tokens of one transaction are checked.
package struct Grant {
  package let transaction: TransactionRecord
  /// The key to which the tokens are bound (RFC 9449); nil for Bearer tokens.
  package let dpopKey: DPoPKey?
  /// The authorize request of the transaction; nil for a grant without an authorize request.
  package let request: CodeRequest?
  /// `iss` of the redirect; nil if the redirect had no `iss` (RFC 9207).
  package var namedIssuer: Issuer?

  /// The grant of an authorization code.
  package init(_ request: CodeRequest, of transaction: TransactionRecord, namedIssuer: Issuer? = nil) {
    self.namedIssuer = namedIssuer
    self.transaction = transaction
    dpopKey = request.secrets?.dpopKey
    self.request = request
  }

  /// A grant without an authorize request.
  package init(of transaction: TransactionRecord, dpopKey: DPoPKey? = nil) {
    self.transaction = transaction
    self.dpopKey = dpopKey
    request = nil
  }

  /// Whether a response without an id_token is refused. An id_token can only be required after an authorize request
  /// (OpenID Connect Core §3.1.3.3): RFC 8628 does not promise an id_token for a device code, whatever scopes are
  /// granted, and no specification promises an id_token for a one-time code.
  package var requiresIDToken: Bool { transaction.asksForIDToken && request != nil }

  /// Whether the id_token, verified or not, shows by its `nonce`, `iss`, `aud` or `azp` that the response was made for
  /// another request or another client. The other tokens of the response may then belong to another user's session.
  package func isContradicted(by idToken: Secret, clientID: ClientID) -> Bool {
    guard let claims = IDToken.unprovenClaims(of: idToken) else { return false }
    if SessionIdentity.contradiction(
      in: claims, issuer: transaction.issuer, subject: nil, clientID: clientID) != nil
    {
      return true
    }
    guard let sent = request?.secrets?.nonce else { return false }
    return claims["nonce"]?.string.map { Secret($0) } != sent
  }

  package func expectations(
    _ tokens: TokenSet, _ configuration: Configuration, algorithms: [SignatureAlgorithm], at moment: Moment
  ) -> IDTokenExpectations {
    var expected = IDTokenExpectations(
      issuer: transaction.issuer, tenants: configuration.tenants, clientID: configuration.clientID,
      nonce: request?.secrets?.nonce,
      maxAgeSeconds: request?.demands.maxAgeSeconds, requestAgeSeconds: transaction.age(at: moment),
      acrValues: request?.demands.acrValues ?? [], accessToken: tokens.accessToken, now: moment.wall,
      algorithms: algorithms)
    expected.trustedAudiences = configuration.trustedAudiences
    return expected
  }
}

/// The tokens of a transaction, and the profile of their user.
package struct ReceivedTokens {
  package var tokens: TokenSet
  package var profile: JSONObject
  /// The server's clock minus this machine's clock, in seconds; nil if the difference is unknown.
  package var clockOffsetSeconds: Int64?

  package init(tokens: TokenSet, profile: JSONObject, clockOffsetSeconds: Int64? = nil) {
    self.tokens = tokens
    self.profile = profile
    self.clockOffsetSeconds = clockOffsetSeconds
  }
}

extension TransactionRecord {
  /// Whether an id_token was requested, and must be verified.
  package var asksForIDToken: Bool { Scopes.contains("openid", in: scopes) }

  /// Whether an id_token in the response is used. In the flow with another app it is always used, because only the
  /// gateway knows what was requested.
  package var mayBringIDToken: Bool { if case .app2app = flow { true } else { asksForIDToken } }
}
