// Facts about renewals that only this process remembers.

import EnrollRules

/// What this process remembers about its renewals. Renewals change it; a new session and a logout end the backoff.
struct RenewalProgress: Sendable {
  private struct Fields {
    /// A backoff that could not be stored in the account's record.
    var backoff: RenewalBackoff?
    /// The epoch of tokens that this process renewed: after the registration check of these tokens the state is
    /// `renewed` (C).
    var renewedEpoch: UInt64?
    /// The last renewal failure that was reported; nil after a success.
    var reportedFailure: EnrollError.Code?
  }

  private let fields: Guarded<Fields>

  init(lock: any Lock) { fields = Guarded(Fields(), by: lock) }

  /// A backoff that could not be stored.
  var backoff: RenewalBackoff? { fields.withLock { $0.backoff } }

  /// The backoff after earlier failures: the stored backoff or, if none is stored, a backoff that could not be stored.
  func backoff(with record: AccountRecord?) -> RenewalBackoff? { record?.backoff ?? backoff }

  /// Keeps a backoff that could not be stored, so that it delays the next renewal in this process.
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

  /// Notes the code of a renewal failure that is about to be reported.
  /// - Returns: false if the previous failure had the same code. Such a failure is not reported again.
  func noteFailure(_ code: EnrollError.Code) -> Bool {
    fields.withLock { fields in
      guard fields.reportedFailure != code else { return false }
      fields.reportedFailure = code
      return true
    }
  }
}
