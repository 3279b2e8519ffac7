// Tokens of providers that wait to be revoked. A token comes here in the transaction that deletes its account or takes its identity away,
// so that no crash and no provider that is away loses it.

public import EnrollCore

/// A token that was taken to be revoked.
public struct TakenRevocation: Sendable, Equatable {
  /// The store's own number.
  public var id: Int64
  /// The gateway's name for the provider.
  public var provider: String
  /// By ``KeyRing/Purpose/providerToken``.
  public var sealed: String
  /// The account that had it.
  public var account: String
  /// Afterwards nobody tries any more.
  public var expires: UnixTime
  /// This one included.
  public var attempts: Int64

  public init(
    id: Int64, provider: String, sealed: String, account: String, expires: UnixTime, attempts: Int64
  ) {
    self.id = id
    self.provider = provider
    self.sealed = sealed
    self.account = account
    self.expires = expires
    self.attempts = attempts
  }
}

/// How long revocations are tried.
public enum RevocationTimes {
  /// A token whose provider did not take it in so many seconds is dropped: 7 days.
  public static let triedSeconds: Int64 = 7 * 86_400
  static let leaseSeconds: Int64 = 120
  static let firstPauseSeconds: Int64 = 60
  /// Six hours.
  public static let longestPauseSeconds: Int64 = 21_600

  /// - Parameter attempts: that failed, at least 1.
  static func pause(after attempts: Int64) -> Int64 {
    min(firstPauseSeconds << min(max(attempts - 1, 0), 10), longestPauseSeconds)
  }
}

public protocol RevocationStore: AnyObject, Sendable {
  /// Takes tokens that are due: nobody else gets them before `leaseSeconds` have passed.
  func takeRevocations(
    _ most: Int, leaseSeconds: Int64, at now: UnixTime
  ) throws(StoreFailure) -> [TakenRevocation]

  /// Removes one that the provider took.
  func removeRevocation(_ id: Int64) throws(StoreFailure)

  /// Tries one again later.
  func putOffRevocation(_ id: Int64, until due: UnixTime) throws(StoreFailure)

  /// Removes one that the provider did not take, and notes that in the audit, in one change.
  func dropRevocation(_ taken: TakenRevocation, at now: UnixTime) throws(StoreFailure)
}
