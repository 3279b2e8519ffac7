// The registration state that follows from the store.

public import EnrollRules

/// The state according to the store, or the step that is needed to find the state.
public enum StoredState: Equatable, Sendable {
  case known(RegistrationState)
  /// The confirmed token is due for renewal, or has expired. The renewal decides between the states `renewed`
  /// (C) and `renewalFailed` (E).
  case needsRenewal
  /// There are tokens that require the registration check: ``CheckStep/checkSession(cancellation:)``.
  case needsCheck
}
