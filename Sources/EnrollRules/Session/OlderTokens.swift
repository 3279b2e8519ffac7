// Records whether a renewal may have ended the older access tokens of a session.

extension TokenSet {
  /// Whether a later renewal may have ended this access token.
  package func isSuperseded(for audience: TokenAudience?) -> Bool {
    guard let audience else { return isSuperseded }
    return audiences[audience]?.token?.isSuperseded ?? false
  }

  /// Marks all access tokens as possibly ended, except the token of `audience`.
  mutating func supersede(except audience: TokenAudience?) {
    isSuperseded = audience != nil
    audiences.changeTokens { entry in
      if entry.audience != audience { entry.token?.isSuperseded = true }
    }
  }

  /// Marks all access tokens as still valid: no renewal has ended them.
  package mutating func keepAll() {
    isSuperseded = false
    audiences.changeTokens { $0.token?.isSuperseded = false }
  }
}
