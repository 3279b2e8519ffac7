// The registration state machine as one table, from which the documentation's table and diagram are generated. The
// table's `switch` has no `default`, so the code does not compile if a new event has no row. A test compares the table
// with docs/states.md, for every pair of state and event.

/// The transitions of flows.md §7.
public enum TransitionTable {
  private typealias Kind = RegistrationState.Kind

  /// One row of the table: the effect of one event.
  private struct Row {
    let target: Kind
    /// The states from which the event leads to `target`.
    let origins: [Kind]
    /// The states in which the event changes nothing. In every other state it is illegal.
    let unchanged: [Kind]

    init(_ target: Kind, from origins: [Kind], unchanged: [Kind] = []) {
      (self.target, self.origins, self.unchanged) = (target, origins, unchanged)
    }
  }

  /// The state to which `event` leads from `state`; nil if the event is illegal there.
  public static func target(
    from state: RegistrationState.Kind, on event: RegistrationEvent.Kind
  ) -> RegistrationState.Kind? {
    let row = row(of: event)
    if row.origins.contains(state) { return row.target }
    return row.unchanged.contains(state) ? state : nil
  }

  private static func row(of event: RegistrationEvent.Kind) -> Row {
    let active: [Kind] = [.valid, .renewed, .confirmed]
    let failed: [Kind] = [.renewalFailed, .registrationFailed]
    switch event {
    case .standInUsed: return Row(.notNative, from: [.starting, .notNative])
    // Why a valid token may be found in these states: another process signed in or renewed, or a step-up ended and the
    // session continues.
    case .tokenValid:
      return Row(
        .valid, from: [.starting, .unregistered, .awaitingConfirmation, .authenticating] + failed,
        unchanged: active)
    case .tokenRenewed: return Row(.renewed, from: [.starting, .unregistered] + active + failed)
    // The state of a failed registration stays until the host or the user tries again: otherwise nobody might read its
    // error.
    case .tokenMissing:
      return Row(
        .unregistered,
        from: [.starting, .unregistered, .renewalFailed, .awaitingConfirmation, .authenticating] + active,
        unchanged: [.registrationFailed])
    case .renewalFailed: return Row(.renewalFailed, from: [.starting, .unregistered] + active + failed)
    case .begun: return Row(.authenticating, from: [.unregistered, .authenticating] + active + failed)
    // A redirect can reach a process that did not begin the transaction, or arrive after the user seemed to give up.
    case .advanced:
      return Row(
        .authenticating,
        from: [.starting, .unregistered, .authenticating, .awaitingConfirmation] + active + failed)
    case .dismissed: return Row(.unregistered, from: [.authenticating])
    case .failed: return Row(.registrationFailed, from: [.authenticating])
    case .returnedValid: return Row(.valid, from: [.authenticating])
    case .returnedRenewed: return Row(.renewed, from: [.authenticating])
    case .returnedConfirmed: return Row(.confirmed, from: [.authenticating])
    case .returnedFailed: return Row(.renewalFailed, from: [.authenticating])
    // In the states unregistered and authenticating the result arrives too late: the user has logged out, or
    // signs in again.
    case .checkRefused:
      return Row(.renewalFailed, from: [.starting, .awaitingConfirmation] + active + failed)
    case .checkMismatched:
      return Row(.registrationFailed, from: [.starting, .awaitingConfirmation] + active + failed)
    // The tokens may also arrive after another process of this user received the redirect.
    case .tokensArrived:
      return Row(
        .awaitingConfirmation,
        from: [.starting, .unregistered, .authenticating, .awaitingConfirmation] + active + failed)
    case .confirmed: return Row(.confirmed, from: [.awaitingConfirmation])
    case .retried: return Row(.unregistered, from: [.awaitingConfirmation, .authenticating] + failed)
    case .cleared:
      return Row(
        .unregistered,
        from: [.starting, .unregistered, .awaitingConfirmation, .authenticating] + active + failed,
        unchanged: [.notNative])
    }
  }
}

extension RegistrationState {
  /// The state after `event`.
  /// - Throws: `.illegalState` if the table has no such transition; the state then stays the same.
  public func after(_ event: RegistrationEvent) throws(EnrollError) -> RegistrationState {
    guard let target = TransitionTable.target(from: kind, on: event.kind) else { throw illegal(event) }
    switch event {
    case .standInUsed: return .active(.notNative)
    case .tokenValid: return target == kind ? self : .active(.valid)
    case .tokenRenewed: return .active(.renewed)
    case .tokenMissing: return target == kind ? self : .unregistered
    case .renewalFailed(let failure): return .renewalFailed(failure)
    case .begun(let transactionID, let step):
      // In the step `pin`, tokens wait for the user, as they do in the state `awaitingConfirmation` (G), so no other
      // sign-in may begin.
      if case .authenticating(_, .pin) = self { throw illegal(event) }
      return .authenticating(transactionID: transactionID, step: step)
    case .advanced(let transactionID, let step):
      return .authenticating(transactionID: transactionID, step: step)
    case .failed(let error), .checkMismatched(let error): return .registrationFailed(error)
    case .returnedValid: return .active(.valid)
    case .returnedRenewed: return .active(.renewed)
    case .returnedConfirmed: return .active(.confirmed)
    case .returnedFailed(let failure), .checkRefused(let failure): return .renewalFailed(failure)
    case .tokensArrived(let transactionID, let profile):
      return .awaitingConfirmation(transactionID: transactionID, profile: profile)
    case .confirmed: return .active(.confirmed)
    case .retried:
      // After a code was sent, the user cannot stop its exchange: the state waits for the provider's response to the
      // code (R15).
      if case .authenticating(_, .exchanging) = self { throw illegal(event) }
      return .unregistered
    case .dismissed: return .unregistered
    case .cleared: return target == kind ? self : .unregistered
    }
  }

  /// The error for an illegal event. It names what was requested, the actual state, and what to do.
  private func illegal(_ event: RegistrationEvent) -> EnrollError {
    let words =
      switch event.kind {
      case .confirmed:
        "there is nothing to confirm: expected a sign-in that waits for confirmation, but \(inWords). Begin a sign-in, and "
          + "confirm in the state awaitingConfirmation"
      case .begun where kind == .starting || kind == .notNative:
        "no sign-in can begin, because \(inWords)"
      case .begun:
        "no other sign-in can begin, because \(inWords). Confirm it (registration.confirm), or give it up "
          + "(registration.retry)"
      case .retried:
        "there is nothing to try again, because \(inWords). "
          + (kind == .authenticating
            ? "Wait for its outcome (registration.awaitOutcome)" : "Begin a sign-in (registration.begin)")
      default: "\(event.kind.rawValue) is not possible, because \(inWords)"
      }
    return EnrollError(.illegalState, words)
  }

  private var inWords: String {
    switch self {
    case .starting: "the registration has not started"
    case .active(.notNative): "the platform is not native, and a stand-in token is in use"
    case .unregistered: "no user is signed in (state unregistered)"
    case .authenticating(_, .exchanging): "a sign-in waits for the provider's answer (state authenticating)"
    case .authenticating(_, .pin): "a sign-in waits for the PIN (state authenticating)"
    case .authenticating: "a sign-in is in progress (state authenticating)"
    case .awaitingConfirmation: "a sign-in waits for confirmation (state awaitingConfirmation)"
    case .active: "a user is signed in (state active)"
    case .renewalFailed: "the session could not be renewed (state failed)"
    case .registrationFailed: "the last sign-in failed (state failed)"
    }
  }
}
