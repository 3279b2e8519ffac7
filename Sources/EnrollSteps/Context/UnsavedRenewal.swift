// Renewed tokens that could not be stored yet. Until they are stored, the refresh token on the disk is spent, and no
// other process may send it.

import EnrollRules

/// Changed when renewed tokens arrive, and when they are stored or no longer needed.
struct UnsavedRenewal: Sendable {
  private let fields: Guarded<RenewedTokens?>
  private let context: EngineContext

  init(_ context: EngineContext, lock: any Lock) {
    fields = Guarded(nil, by: lock)
    self.context = context
  }

  var renewed: RenewedTokens? { fields.withLock { $0 } }

  /// Keeps the tokens, and keeps other processes from renewing.
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
