// The combined requests of the callers that share one renewal.

public import EnrollRules

/// The access tokens that callers want renewed, for one audience. A renewal includes all requests that arrive before it
/// starts; later callers get its result.
public struct RenewalRequest: Sendable {
  /// The audience of the access token; nil for the session's own access token.
  public let audience: TokenAudience?
  /// The epochs of the access tokens that the callers have. If the tokens in the store have another epoch, they were
  /// renewed already.
  public private(set) var epochs: [UInt64]
  /// Whether to renew even if the token is not due, and even if the provider could not be reached a moment ago.
  public private(set) var isForced: Bool

  public init(audience: TokenAudience? = nil, epochs: [UInt64] = [], isForced: Bool = false) {
    self.audience = audience
    self.epochs = epochs
    self.isForced = isForced
  }

  mutating func add(_ other: RenewalRequest) {
    for epoch in other.epochs where !epochs.contains(epoch) { epochs.append(epoch) }
    isForced = isForced || other.isForced
  }
}
