// The result of a sign-out: whether the provider knows of the sign-out, and the URL to open. The tokens on this device
// are erased in any case.

/// Whether the provider knows that a session is over (RFC 7009).
public enum ProviderTold: Equatable, Sendable {
  /// The provider revoked the refresh token, or the access token of a session without a refresh token.
  case told
  /// The message to the provider is queued. Either the provider could not be reached or failed, and the
  /// message is sent again within 7 days; or it is sent when the browser returns from the logout page
  /// (flows.md §5).
  case queued
  /// The provider cannot be informed, for this reason. The tokens work until they expire.
  case notPossible(reason: String)

  /// The name in JSON.
  public var name: String {
    switch self {
    case .told: "told"
    case .queued: "queued"
    case .notPossible: "notPossible"
    }
  }

  /// The names of all cases.
  public static let names = ["told", "queued", "notPossible"]

  /// The reason why the provider cannot be informed; nil for ``told`` and ``queued``.
  public var reason: String? {
    if case .notPossible(let reason) = self { reason } else { nil }
  }

  /// Combines the results of two sign-outs: returns the result that matters more to the user.
  package func joined(_ other: ProviderTold?) -> ProviderTold {
    switch (self, other) {
    case (_, nil), (.notPossible, _), (_, .told): self
    case (.queued, .queued): self
    case (.queued, .some(.notPossible(let reason))), (.told, .some(.notPossible(let reason))):
      .notPossible(reason: reason)
    case (.told, .some(.queued)): .queued
    }
  }
}

/// The answer to a logout, a revocation or a deregistration.
public struct SignOut: Equatable, Sendable {
  /// The URL at which the browser ends the provider's own session. Open this URL; nil if there is nothing to open.
  public var url: String?
  /// Whether the provider knows of the sign-out; nil if there was nothing to report, because nobody was signed in, or
  /// only this device was signed out.
  public var providerTold: ProviderTold?

  public init(url: String? = nil, providerTold: ProviderTold? = nil) {
    self.url = url
    self.providerTold = providerTold
  }
}
