// The registration state machine: one table, from which the documentation's table and diagram are drawn.
// No `default`: a new event does not compile until its row is there. A test holds every pair of state and event against
// docs/states.md.

/// The transitions of flows.md §7.
public enum TransitionTable {
  private typealias Kind = RegistrationState.Kind

  /// The effect of an event.
  private struct Row {
    let target: Kind
    /// Where the event leads to `target`.
    let origins: [Kind]
    /// Where it changes nothing. In every other state it is illegal.
    let unchanged: [Kind]

    init(_ target: Kind, from origins: [Kind], unchanged: [Kind] = []) {
      (self.target, self.origins, self.unchanged) = (target, origins, unchanged)
    }
  }

  /// Where `event` leads from `state`; nil when it is illegal there.
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
    // Another process signed in or renewed, or a step-up ended beside a session that lives on.
    case .tokenValid:
      return Row(
        .valid, from: [.starting, .unregistered, .awaitingConfirmation, .authenticating] + failed,
        unchanged: active)
    case .tokenRenewed: return Row(.renewed, from: [.starting, .unregistered] + active + failed)
    // A failed registration stays until somebody tries again: an answer that vanished by itself would never be read.
    case .tokenMissing:
      return Row(
        .unregistered,
        from: [.starting, .unregistered, .renewalFailed, .awaitingConfirmation, .authenticating] + active,
        unchanged: [.registrationFailed])
    case .renewalFailed: return Row(.renewalFailed, from: [.starting, .unregistered] + active + failed)
    case .begun: return Row(.authenticating, from: [.unregistered, .authenticating] + active + failed)
    // A redirect can reach a process that did not begin, or come after the user seemed to give up.
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
    // From unregistered and authenticating the answer comes too late: a logout or a sign-in came first.
    case .checkRefused:
      return Row(.renewalFailed, from: [.starting, .awaitingConfirmation] + active + failed)
    case .checkMismatched:
      return Row(.registrationFailed, from: [.starting, .awaitingConfirmation] + active + failed)
    // Also when another process of this user received the redirect.
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
  /// - Throws: `.illegalState` when the table has no such transition; the state is untouched.
  public func after(_ event: RegistrationEvent) throws(EnrollError) -> RegistrationState {
    guard let target = TransitionTable.target(from: kind, on: event.kind) else { throw illegal(event) }
    switch event {
    case .standInUsed: return .active(.notNative)
    case .tokenValid: return target == kind ? self : .active(.valid)
    case .tokenRenewed: return .active(.renewed)
    case .tokenMissing: return target == kind ? self : .unregistered
    case .renewalFailed(let failure): return .renewalFailed(failure)
    case .begun(let transactionID, let step):
      // As in G: tokens are there, and wait for the user.
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
      // A code that was sent cannot be unsent: its answer comes first (R15).
      if case .authenticating(_, .exchanging) = self { throw illegal(event) }
      return .unregistered
    case .dismissed: return .unregistered
    case .cleared: return target == kind ? self : .unregistered
    }
  }

  private func illegal(_ event: RegistrationEvent) -> EnrollError {
    EnrollError(.illegalState, "\(event.kind.rawValue) is not possible while \(describedKind)")
  }

  private var describedKind: String {
    if case .authenticating(_, let step) = self { return "authenticating, step \(step.rawValue)" }
    return kind.rawValue
  }
}
