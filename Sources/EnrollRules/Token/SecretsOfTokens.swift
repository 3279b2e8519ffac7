// The tokens of a session, as secrets that were sent to a server and must not appear in texts (R40).

package import EnrollCrypto

extension SentSecrets {
  /// The secrets of a session.
  /// - Parameter others: the tokens that `tokens` replaced.
  /// - Parameter clientSecret: the client's secret, which every request for tokens sends.
  package init(of tokens: TokenSet, and others: TokenSet? = nil, clientSecret: Secret? = nil) {
    self.init((clientSecret.map { [$0] } ?? []) + tokens.secrets + (others?.secrets ?? []))
  }
}

extension TokenSet {
  /// All tokens of the session, also those for other audiences.
  var secrets: [Secret] {
    [accessToken] + [refreshToken, idToken, unprovenIDToken].compactMap { $0 }
      + audiences.entries.compactMap { $0.token?.accessToken }
  }
}
