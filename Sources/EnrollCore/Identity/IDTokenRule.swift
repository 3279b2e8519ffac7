// The rules about claims, one per file in Rules/. Each looks at one thing and knows nothing of the others.

import EnrollCrypto

/// One rule about the claims of an id_token whose signature is proven.
struct IDTokenRule: Sendable {
  /// - Throws: `.idTokenInvalid` with the rule's number, what was expected and what came.
  let check: @Sendable (IDTokenClaims, SignatureAlgorithm, IDTokenExpectations) throws(EnrollError) -> Void

  init(
    _ check:
      @escaping @Sendable (
        IDTokenClaims, SignatureAlgorithm, IDTokenExpectations
      ) throws(EnrollError) -> Void
  ) {
    self.check = check
  }

  /// In the order of OpenID Connect Core §3.1.3.7.
  static let all: [IDTokenRule] = [
    .issuer, .audience, .authorizedParty, .expiry, .issueTime, .nonce, .authenticationClass,
    .authenticationTime,
    .accessTokenHash, .continuity,
  ]
}
