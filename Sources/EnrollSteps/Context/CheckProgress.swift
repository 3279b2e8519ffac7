// The result of the registration check, as this process knows it.

import EnrollRules

/// Changed by the check, by a confirmation, and when the session that was checked has gone.
struct CheckProgress: Sendable {
  private let fields: Guarded<CheckState>

  init(lock: any Lock) { fields = Guarded(.none, by: lock) }

  var state: CheckState { fields.withLock { $0 } }

  func note(_ state: CheckState) { fields.withLock { $0 = state } }

  /// The session starts without a result.
  func forget() { fields.withLock { $0 = .none } }
}
