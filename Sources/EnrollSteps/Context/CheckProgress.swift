// The result of the registration check, as this process knows it.

import EnrollRules

/// The result of the registration check of the current session. A check and a confirmation set the result; a sign-in
/// and a logout clear it.
struct CheckProgress: Sendable {
  private let fields: Guarded<CheckState>

  init(lock: any Lock) { fields = Guarded(.none, by: lock) }

  var state: CheckState { fields.withLock { $0 } }

  func note(_ state: CheckState) { fields.withLock { $0 = state } }

  /// Forgets the result, because it is about an earlier session. Call this when the session ends or another session
  /// begins.
  func forget() { fields.withLock { $0 = .none } }
}
