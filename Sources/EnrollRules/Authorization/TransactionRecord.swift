// One attempt to get tokens, from the URL that the host gets until the redirect is settled. The record of the attempt
// is stored, because the process that receives the redirect may not be the process that began the transaction (R7,
// R12). This record has the members that every transaction has; `flow` has the kind, the step that the transaction
// waits for, and the data of that step.

/// A pending or settled transaction. Its secrets are used once.
public struct TransactionRecord: Equatable, Sendable {
  /// The status of a transaction, which is pending until it is settled, once. A settled transaction is kept until its
  /// deadline, so that a second redirect gets an error that says that the transaction was settled before.
  public enum Status: String, Sendable, CaseIterable {
    /// The transaction waits for its answer.
    case pending
    /// The host said that the user gave up. This is a hint: a late valid redirect still counts (R12).
    case cancelled
    /// The answer arrived, the state is spent, and the code is being exchanged (R7).
    case exchanging
    /// The transaction ended with tokens.
    case succeeded
    /// The transaction ended without tokens.
    case failed
  }

  /// Identifies the transaction to the host.
  public let id: TransactionID
  /// The status of the transaction.
  public var status: Status
  /// The configured provider; in a BFF transaction, the BFF instead.
  public let issuer: Issuer
  /// The requested scopes.
  public let scopes: [String]
  /// When the transaction began, by the device's clock.
  public let began: UnixTime
  /// When the transaction expires.
  public var deadline: Expiry
  /// Whether another transaction of the account brought tokens while this transaction was open.
  public var isSuperseded: Bool
  /// The step that the transaction waits for, with the data of that step.
  public var flow: Flow

  public init(
    id: TransactionID, status: Status = .pending, issuer: Issuer, scopes: [String] = [], began: UnixTime,
    deadline: Expiry, isSuperseded: Bool = false, flow: Flow
  ) {
    self.id = id
    self.status = status
    self.issuer = issuer
    self.scopes = scopes
    self.began = began
    self.deadline = deadline
    self.isSuperseded = isSuperseded
    self.flow = flow
  }

  /// The longest duration of an exchange: at most six requests, one after the other.
  public static let exchangeSeconds: Int64 = 6 * HTTPRequest.totalTimeoutSeconds

  /// Whether the transaction still waits for an answer. It waits until its deadline or, while a code is being
  /// exchanged, until the exchange has ended.
  package func isAwaited(at moment: Moment) -> Bool {
    let left = deadline.secondsLeft(at: moment)
    switch status {
    case .pending: return left > 0
    case .exchanging: return left > -Self.exchangeSeconds
    case .cancelled, .succeeded, .failed: return false
    }
  }

  /// Whether a redirect can still settle the transaction.
  public var isOpen: Bool { status == .pending || status == .cancelled }

  /// Whether the transaction ended, with tokens or without.
  package var isSettled: Bool { status == .succeeded || status == .failed }

  /// Whether the transaction is open, and before its deadline.
  package func isLive(at moment: Moment) -> Bool { isOpen && deadline.secondsLeft(at: moment) > 0 }

  /// How long ago the transaction began, in seconds.
  func age(at moment: Moment) -> Int64 {
    max(0, deadline.lifetimeSeconds - deadline.secondsLeft(at: moment))
  }

  /// Settles the transaction: the secrets with which its answer would be exchanged are removed (R7).
  mutating func settle(as status: Status) {
    self.status = status
    flow.spend()
  }
}

/// The ways to get tokens.
public enum TransactionKind: String, Sendable, CaseIterable {
  /// The authorize request in the browser (OpenID Connect Core §3.1).
  case signIn
  /// A registration by e-mail link (flows.md §3).
  case register
  /// A sign-in with a one-time code or a link, which is sent to an e-mail address or a phone number (flows.md §6).
  case passwordless
  /// A sign-in with the help of another app on the device (flows.md §9).
  case app2app
  /// A sign-in through a back end that acts on the app's behalf (flows.md §10).
  case bff
  /// A sign-in with a code that the user types on another device (RFC 8628).
  case device
}

extension TransactionRecord {
  /// Whether the transaction is pending before its deadline, and its answer can still reach this device. The answer is
  /// a link, or a redirect that does not go to another process's loopback listener.
  package func awaitsAnswer(at moment: Moment) -> Bool {
    status == .pending && (isRegistration || survivesProcess) && isLive(at: moment)
  }

  /// Handles the host's hint that the browser was closed.
  package mutating func leaveBrowser() {
    guard isOpen else { return }
    if isRegistration { setInBrowser(false) } else { status = .cancelled }
  }
}
