// The note that the store keeps while the outcome of a renewal is unknown.

/// A note that is stored before a refresh token is sent (reliability.md, One renewal, step by step).
public struct RenewalIntent: Equatable, Sendable {
  /// A random id of this renewal: 128 bits, base64url.
  public var attempt: String
  /// The record's epoch when the renewal began.
  public var tokenEpoch: UInt64
  /// SHA-256 of the refresh token that is sent, base64url.
  public var refreshTokenHash: String
  /// The boot in which the renewal began.
  public var bootID: String
  /// When the renewal began, by the device's clock.
  public var began: UnixTime

  public init(attempt: String, tokenEpoch: UInt64, refreshTokenHash: String, bootID: String, began: UnixTime)
  {
    self.attempt = attempt
    self.tokenEpoch = tokenEpoch
    self.refreshTokenHash = refreshTokenHash
    self.bootID = bootID
    self.began = began
  }
}
