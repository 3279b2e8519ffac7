// The action that the host must take for a transaction to continue.

/// The next move is the host's.
public enum HostAction: Equatable, Sendable {
  /// Open this URL in the external browser, and hand back what it redirects to.
  case openURL(String)
  /// Ask the user for the one-time code that was sent to this address or number (flows.md §6).
  case enterCode(recipient: String)
  /// Tell the user to open the link in the e-mail that was sent to this address (flows.md §6); it comes back as a redirect.
  case awaitLink(recipient: String)
  /// Open this link of another app, which comes back by an app link (flows.md §9).
  case openOtherApp(String)
  /// Show the user a code to be typed in a browser elsewhere (RFC 8628 §3.3).
  case showDeviceCode(DeviceCode)

  /// The URL to open, or to show to the user as an address; nil if there is none.
  public var url: String? {
    switch self {
    case .openURL(let url), .openOtherApp(let url): url
    case .enterCode, .awaitLink: nil
    case .showDeviceCode(let code): code.verificationURIComplete ?? code.verificationURI
    }
  }
}

/// The code that a user without a browser on this device types on another one (RFC 8628 §3.2).
public struct DeviceCode: Equatable, Sendable {
  /// The code to be typed, with the provider's own separators.
  public var userCode: String
  /// The page where it is typed, short enough to be copied by hand.
  public var verificationURI: String
  /// The same with the code in it, for a QR code.
  public var verificationURIComplete: String?

  public init(userCode: String, verificationURI: String, verificationURIComplete: String? = nil) {
    self.userCode = userCode
    self.verificationURI = verificationURI
    self.verificationURIComplete = verificationURIComplete
  }
}

/// A transaction that has begun.
public struct Transaction: Equatable, Sendable {
  /// Names it to later calls, in this process or another: 128 random bits, base64url.
  public var transactionID: TransactionID
  /// The action that the host takes now.
  public var action: HostAction
  /// The redirect URI that was sent: with a loopback redirect, the port that was chosen. nil when nothing redirects.
  public var redirectURI: String?
  /// When it ends by itself.
  public var expiresAt: UnixTime
  /// False for a loopback redirect: its listener dies with this process (R4).
  public var survivesProcess: Bool

  public init(
    transactionID: TransactionID, action: HostAction, redirectURI: String?, expiresAt: UnixTime,
    survivesProcess: Bool
  ) {
    self.transactionID = transactionID
    self.action = action
    self.redirectURI = redirectURI
    self.expiresAt = expiresAt
    self.survivesProcess = survivesProcess
  }
}
