// One attempt at getting tokens, from the URL handed to the host until its redirect is settled. Kept in the store, so
// that the process which receives the redirect need not be the one that began (R7, R12). This record has the members
// that every transaction has, its kind and its name; `flow` has the step it waits for and the data of that step.

/// A pending or settled attempt. The secrets in it are spent once.
public struct TransactionRecord: Equatable, Sendable {
  /// Pending until settled once. A settled one is remembered until its deadline, so that a second redirect is told
  /// what happened to the first.
  public enum Status: String, Sendable, CaseIterable {
    /// Waiting for its answer.
    case pending
    /// The host said that the user gave up: a hint, a late valid redirect still wins (R12).
    case cancelled
    /// The answer arrived, the state is spent, the code is being exchanged (R7).
    case exchanging
    /// It ended with tokens.
    case succeeded
    /// It ended without.
    case failed
  }

  /// Names it to the host.
  public let id: TransactionID
  /// Whether it is settled yet.
  public var status: Status
  /// The provider that was asked, as it is configured; of a BFF transaction, the BFF.
  public let issuer: Issuer
  /// The scopes that were asked for.
  public let scopes: [String]
  /// When it began, by the device's clock.
  public let began: UnixTime
  /// When it ends by itself.
  public var deadline: Expiry
  /// Another transaction of the account brought tokens while this one was open.
  public var isOvertaken: Bool
  /// The step it waits for, with the data of that step.
  public var flow: Flow

  public init(
    id: TransactionID, status: Status = .pending, issuer: Issuer, scopes: [String] = [], began: UnixTime,
    deadline: Expiry, isOvertaken: Bool = false, flow: Flow
  ) {
    self.id = id
    self.status = status
    self.issuer = issuer
    self.scopes = scopes
    self.began = began
    self.deadline = deadline
    self.isOvertaken = isOvertaken
    self.flow = flow
  }

  /// May still be settled by a redirect.
  public var isOpen: Bool { status == .pending || status == .cancelled }

  /// It ended, with tokens or without.
  var isSettled: Bool { status == .succeeded || status == .failed }

  /// Open, and before its deadline.
  func isLive(at moment: Moment) -> Bool { isOpen && deadline.secondsLeft(at: moment) > 0 }

  /// How long ago it began, in seconds.
  func age(at moment: Moment) -> Int64 {
    max(0, deadline.lifetimeSeconds - deadline.secondsLeft(at: moment))
  }

  /// Once: what its answer would have been exchanged with is gone (R7).
  mutating func settle(as status: Status) {
    self.status = status
    flow.spend()
  }
}

/// Which way leads to tokens.
public enum TransactionKind: String, Sendable, CaseIterable {
  /// The authorize request in the browser (OpenID Connect Core §3.1).
  case signIn
  /// A registration by e-mail link (flows.md §3).
  case register
  /// A one-time code, or a link, to an address or a number (flows.md §6).
  case passwordless
  /// With the help of another app on the device (flows.md §9).
  case app2app
  /// Through a back end that signs in on the app's behalf (flows.md §10).
  case bff
  /// A code that is typed on another device (RFC 8628).
  case device
}

/// Names a transaction to the host, which may keep it for another process.
public struct TransactionID: ExactText {
  public let text: String

  public init(_ text: String) { self.text = text }

  /// A new one, of 128 random bits.
  init(from random: any RandomSource) throws(EnrollError) {
    self.init(random: try random.bytes(16))
  }

  /// A new one of 16 random bytes.
  init(random bytes: [UInt8]) { self.init(Base64URL.encode(bytes)) }
}
