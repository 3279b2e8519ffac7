// The action that the host must take so that a transaction continues.

/// The host's next action in a transaction.
public enum HostAction: Equatable, Sendable {
  /// Open this URL in the external browser, never in a web view (R1), and pass on the URL to which it redirects.
  case openURL(String)
  /// Ask the user for the one-time code that was sent to this address or number (flows.md §6).
  case enterCode(recipient: String)
  /// Tell the user to open the link in the e-mail that was sent to this address (flows.md §6); the link returns as a
  /// redirect.
  case awaitLink(recipient: String)
  /// Open this link, which starts another app. That app returns by an app link (flows.md §9).
  case openOtherApp(String)
  /// Show the user a code to type in a browser on another device (RFC 8628 §3.3).
  case showDeviceCode(DeviceCode)

  /// The URL to open, or to show to the user as an address; nil if the action has no URL.
  public var url: String? {
    switch self {
    case .openURL(let url), .openOtherApp(let url): url
    case .enterCode, .awaitLink: nil
    case .showDeviceCode(let code): code.verificationURIComplete ?? code.verificationURI
    }
  }
}

/// The code that a user without a browser on this device types on another device (RFC 8628 §3.2).
public struct DeviceCode: Equatable, Sendable {
  /// The code to type, with the provider's own separators.
  public var userCode: String
  /// The page on which the user types the code, short enough to be copied by hand.
  public var verificationURI: String
  /// ``verificationURI`` with the code in it, for a QR code.
  public var verificationURIComplete: String?

  public init(userCode: String, verificationURI: String, verificationURIComplete: String? = nil) {
    self.userCode = userCode
    self.verificationURI = verificationURI
    self.verificationURIComplete = verificationURIComplete
  }
}

/// A transaction that has begun.
public struct Transaction: Equatable, Sendable {
  /// Identifies the transaction in later calls, in this process or another: 128 random bits, base64url.
  public var transactionID: TransactionID
  /// The action that the host takes now.
  public var action: HostAction
  /// The redirect URI that was sent; for a loopback redirect, with the chosen port. nil for a flow without a redirect.
  public var redirectURI: String?
  /// When the transaction expires.
  public var expiresAt: UnixTime
  /// Whether the transaction can continue after this process has ended. False for a loopback redirect: its listener
  /// ends with this process (R4).
  public var survivesProcess: Bool
  /// How long the URL of ``action`` can be opened, if the provider keeps the pushed request for a shorter time than the
  /// transaction lasts (`RFC 9126 §2.2`); nil otherwise.
  public var urlExpiresAt: UnixTime?

  public init(
    transactionID: TransactionID, action: HostAction, redirectURI: String?, expiresAt: UnixTime,
    survivesProcess: Bool, urlExpiresAt: UnixTime? = nil
  ) {
    self.transactionID = transactionID
    self.action = action
    self.redirectURI = redirectURI
    self.expiresAt = expiresAt
    self.survivesProcess = survivesProcess
    self.urlExpiresAt = urlExpiresAt
  }
}
