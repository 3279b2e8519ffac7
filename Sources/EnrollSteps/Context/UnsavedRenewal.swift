// Renewed tokens that could not be stored yet. While they are not stored, the disk has only the spent refresh token,
// which no other process may send.

import EnrollRules

/// The renewed tokens that wait to be stored. The value changes when renewed tokens arrive, and when they are stored or
/// no longer needed.
struct UnsavedRenewal: Sendable {
  private let fields: Guarded<RenewedTokens?>
  private let context: EngineContext

  init(_ context: EngineContext, lock: any Lock) {
    fields = Guarded(nil, by: lock)
    self.context = context
  }

  var renewed: RenewedTokens? { fields.withLock { $0 } }

  /// Keeps the tokens in memory, and prevents renewals by other processes.
  func keep(_ renewed: RenewedTokens) {
    fields.withLock { $0 = renewed }
    context.store.keepRenewalLock(context.account, true)
  }

  /// Call this when the tokens are saved, or no longer needed: other processes may then renew again.
  func forget() {
    fields.withLock { $0 = nil }
    context.store.keepRenewalLock(context.account, false)
  }
}
