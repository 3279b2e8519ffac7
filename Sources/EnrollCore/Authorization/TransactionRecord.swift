// One attempt at getting tokens, from the URL handed to the host until its redirect is settled. Kept in the store, so
// that the process which receives the redirect need not be the one that began (R7, R12). This record has the members
// that every transaction has; `flow` has the step it waits for and the data of that step.

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
