// The epochs of an account's access tokens: they show which token a caller saw, and whether that token was replaced
// since then.

extension AccountRecord {
  /// The epoch at which an access token was stored: the token for `audience`, or the session's own token if `audience`
  /// is nil. Returns nil if the audience has no token.
  public func epoch(for audience: TokenAudience?) -> UInt64? {
    guard let audience else { return accessEpoch ?? tokenEpoch }
    return confirmed?.audiences[audience]?.token?.epoch
  }

  /// Whether the access token is missing, or its epoch is one of `epochs`, the epochs of the tokens that
  /// callers want replaced.
  package func isUnrenewed(for audience: TokenAudience?, since epochs: [UInt64]) -> Bool {
    epoch(for: audience).map { epochs.contains($0) } ?? true
  }

  /// The last refusal of this access token.
  package func refusal(for audience: TokenAudience?) -> RenewalRefusal? {
    guard let audience else { return refusal }
    return confirmed?.audiences[audience]?.refusal
  }

  /// Call this when the confirmed tokens change or are removed.
  package mutating func advanceEpoch() {
    tokenEpoch &+= 1
    accessEpoch = nil
    isAccessRefused = false
  }

  /// Call this when the confirmed tokens change, but not the session's own access token.
  package mutating func advanceEpochBesideAccess() {
    accessEpoch = accessEpoch ?? tokenEpoch
    tokenEpoch &+= 1
  }
}
