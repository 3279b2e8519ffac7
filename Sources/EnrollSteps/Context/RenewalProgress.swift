// Facts about renewals that only this process remembers.

import EnrollRules

/// Changed by renewals; a new session and a logout end the backoff.
struct RenewalProgress: Sendable {
  private struct Fields {
    /// A backoff that could not be stored; a stored one is in the record.
    var backoff: RenewalBackoff?
    /// The epoch of tokens that this process renewed: after their check the state is `renewed` (C).
    var renewedEpoch: UInt64?
    /// The last renewal failure that was reported; nil after a success.
    var reportedFailure: EnrollError.Code?
  }

  private let fields: Guarded<Fields>

  init(lock: any Lock) { fields = Guarded(Fields(), by: lock) }

  /// A backoff that could not be stored.
  var backoff: RenewalBackoff? { fields.withLock { $0.backoff } }

  /// The backoff after earlier failures: the stored one, or one that could not be stored.
  func backoff(with record: AccountRecord?) -> RenewalBackoff? { record?.backoff ?? backoff }

  /// Delays the next request of this process.
  func keep(_ backoff: RenewalBackoff) { fields.withLock { $0.backoff = backoff } }

  func endBackoff() { fields.withLock { $0.backoff = nil } }

  /// Call this when the session's own tokens were renewed.
  func noteSuccess(epoch: UInt64?) {
    fields.withLock {
      $0.backoff = nil
      $0.reportedFailure = nil
      $0.renewedEpoch = epoch
    }
  }

  /// Whether this process renewed the tokens of this epoch.
  func hasRenewed(_ epoch: UInt64) -> Bool { fields.withLock { $0.renewedEpoch == epoch } }

  /// - Returns: false for a failure that repeats the previous one, which is not reported again.
  func noteFailure(_ code: EnrollError.Code) -> Bool {
    fields.withLock { fields in
      guard fields.reportedFailure != code else { return false }
      fields.reportedFailure = code
      return true
    }
  }
}
