// The queue of provider tokens to revoke. A token is queued in the transaction that deletes its account or unlinks its
// identity, so that it is not lost if the program crashes or the provider is unavailable.

public import EnrollRules

/// A token that a gateway took from the queue.
public struct TakenRevocation: Sendable, Equatable {
  /// The store's number of the entry.
  public var id: Int64
  /// The gateway's name for the provider.
  public var provider: String
  /// The token, sealed for ``KeyRing/Purpose/providerToken``.
  public var sealed: String
  /// The account that had the token.
  public var account: AccountID
  /// The time after which the token is dropped, even if it was not revoked.
  public var expires: UnixTime
  /// The number of attempts, including this one.
  public var attempts: Int64

  public init(
    id: Int64, provider: String, sealed: String, account: AccountID, expires: UnixTime, attempts: Int64
  ) {
    self.id = id
    self.provider = provider
    self.sealed = sealed
    self.account = account
    self.expires = expires
    self.attempts = attempts
  }
}

/// The times of retries.
public enum RevocationTimes {
  /// A token that its provider has not revoked within this many seconds is dropped: 7 days.
  public static let retrySeconds: Int64 = 7 * 86_400
  static let leaseSeconds: Int64 = 120
  static let firstPauseSeconds: Int64 = 60
  /// The longest pause between two attempts: six hours.
  public static let longestPauseSeconds: Int64 = 21_600

  /// The pause in seconds before the next attempt.
  /// - Parameter attempts: the number of failed tries, at least 1.
  static func pause(after attempts: Int64) -> Int64 {
    min(firstPauseSeconds << min(max(attempts - 1, 0), 10), longestPauseSeconds)
  }
}

public protocol RevocationStore: AnyObject, Sendable {
  /// Takes tokens that are due: no other caller gets them within `leaseSeconds`.
  func takeRevocations(
    _ most: Int, leaseSeconds: Int64, at now: UnixTime
  ) throws(StoreFailure) -> [TakenRevocation]

  /// Removes a token that the provider has revoked.
  func removeRevocation(_ id: Int64) throws(StoreFailure)

  /// Sets the time of the next try to revoke a token.
  func putOffRevocation(_ id: Int64, until due: UnixTime) throws(StoreFailure)

  /// Removes a token that was not revoked, and records that in the audit, in one transaction.
  func dropRevocation(_ taken: TakenRevocation, at now: UnixTime) throws(StoreFailure)
}
