// The result of a sign-out: whether the provider knows of it, and which URL is left to open. The tokens on this device
// are erased in any case.

/// Whether the provider was told that a session is over (RFC 7009).
public enum ProviderTold: Equatable, Sendable {
  /// It revoked the refresh token, or the access token of a session that has no other.
  case told
  /// It could not be reached, or is in trouble: it is told later, for at most 7 days.
  case queued
  /// It cannot be told, and its tokens work until they end by themselves: why.
  case notPossible(reason: String)

  /// As the JSON interface spells it.
  public var name: String {
    switch self {
    case .told: "told"
    case .queued: "queued"
    case .notPossible: "notPossible"
    }
  }

  /// Every ``name``.
  public static let names = ["told", "queued", "notPossible"]

  /// Why it cannot be told; nil for the others.
  public var reason: String? {
    if case .notPossible(let reason) = self { reason } else { nil }
  }

  /// Of several sessions: the news that the user most needs to hear.
  func joined(_ other: ProviderTold?) -> ProviderTold {
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
  /// The URL at which the browser ends the provider's own session: open it. nil if there is none.
  public var url: String?
  /// nil where there was nothing to tell: nobody was signed in, or the sign-out was this device's alone.
  public var providerTold: ProviderTold?

  public init(url: String? = nil, providerTold: ProviderTold? = nil) {
    self.url = url
    self.providerTold = providerTold
  }
}
