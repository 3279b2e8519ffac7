// The wishes of the callers that share one renewal.

public import EnrollCore

/// The access tokens that callers want renewed, for one audience. A renewal takes all wishes that come before it starts; who
/// comes later gets its result.
public struct RenewalWish: Sendable {
  /// nil: the session's own access token.
  public let audience: TokenAudience?
  /// The epochs of the access tokens that the callers have. If the store has another epoch, nothing is left to do.
  public private(set) var epochs: [UInt64]
  /// Renew although the token is not due, and although the provider could not be reached a moment ago.
  public private(set) var isForced: Bool

  public init(audience: TokenAudience? = nil, epochs: [UInt64] = [], isForced: Bool = false) {
    self.audience = audience
    self.epochs = epochs
    self.isForced = isForced
  }

  mutating func add(_ other: RenewalWish) {
    for epoch in other.epochs where !epochs.contains(epoch) { epochs.append(epoch) }
    isForced = isForced || other.isForced
  }
}
