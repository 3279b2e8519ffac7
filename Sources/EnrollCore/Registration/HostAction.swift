// What the host has to do so that a transaction goes on.

/// The next move is the host's.
public enum HostAction: Equatable, Sendable {
  /// Open this URL in the external browser, and hand back what it redirects to.
  case openURL(String)
}

/// A transaction that has begun.
public struct BegunTransaction: Equatable, Sendable {
  public var transactionID: String
  public var action: HostAction
  /// The redirect URI that was sent: with a loopback redirect, the port that was chosen.
  public var redirectURI: String
  /// When it ends by itself.
  public var expiresAt: UnixTime
  /// False for a loopback redirect: its listener dies with this process (R4).
  public var survivesProcess: Bool

  public init(
    transactionID: String, action: HostAction, redirectURI: String, expiresAt: UnixTime, survivesProcess: Bool
  ) {
    self.transactionID = transactionID
    self.action = action
    self.redirectURI = redirectURI
    self.expiresAt = expiresAt
    self.survivesProcess = survivesProcess
  }
}
