// The registration state machine: one table, from which the documentation's table and diagram are drawn.
// No `default`: a new state or event does not compile until every pair is decided.

/// The transitions of flows.md §7.
public enum TransitionTable {
  /// Where `event` leads from `state`; nil when it is illegal there.
  public static func target(
    from state: RegistrationState.Kind, on event: RegistrationEvent.Kind
  ) -> RegistrationState.Kind? {
    switch event {
    case .standInUsed:
      switch state {
      case .starting, .notNative: .notNative
      case .valid, .renewed, .unregistered, .renewalFailed, .registrationFailed, .awaitingConfirmation,
        .confirmed, .authenticating:
        nil
      }
    case .tokenValid:
      switch state {
      // Another process signed in or renewed, or a step-up ended beside a session that lives on.
      case .starting, .unregistered, .renewalFailed, .registrationFailed, .authenticating: .valid
      case .awaitingConfirmation: .valid
      case .valid, .renewed, .confirmed: state
      case .notNative: nil
      }
    case .tokenRenewed:
      switch state {
      case .starting, .valid, .renewed, .confirmed, .unregistered, .renewalFailed, .registrationFailed:
        .renewed
      case .notNative, .awaitingConfirmation, .authenticating: nil
      }
    case .tokenMissing:
      switch state {
      case .starting, .valid, .renewed, .confirmed, .unregistered, .renewalFailed, .awaitingConfirmation,
        .authenticating:
        .unregistered
      // F stays until somebody tries again: an answer that vanished by itself would never be read.
      case .registrationFailed: .registrationFailed
      case .notNative: nil
      }
    case .renewalFailed:
      switch state {
      case .starting, .valid, .renewed, .confirmed, .unregistered, .renewalFailed, .registrationFailed:
        .renewalFailed
      case .notNative, .awaitingConfirmation, .authenticating: nil
      }
    case .begun:
      switch state {
      case .valid, .renewed, .confirmed, .unregistered, .renewalFailed, .registrationFailed, .authenticating:
        .authenticating
      case .starting, .notNative, .awaitingConfirmation: nil
      }
    case .advanced:
      switch state {
      // A redirect can reach a process that did not begin, or come after the user seemed to give up.
      case .starting, .valid, .renewed, .confirmed, .unregistered, .renewalFailed, .registrationFailed,
        .authenticating, .awaitingConfirmation:
        .authenticating
      case .notNative: nil
      }
    case .dismissed:
      switch state {
      case .authenticating: .unregistered
      case .starting, .notNative, .valid, .renewed, .unregistered, .renewalFailed, .registrationFailed,
        .awaitingConfirmation, .confirmed:
        nil
      }
    case .failed:
      switch state {
      case .authenticating: .registrationFailed
      case .starting, .notNative, .valid, .renewed, .unregistered, .renewalFailed, .registrationFailed,
        .awaitingConfirmation, .confirmed:
        nil
      }
    case .returnedValid:
      switch state {
      case .authenticating: .valid
      case .starting, .notNative, .valid, .renewed, .unregistered, .renewalFailed, .registrationFailed,
        .awaitingConfirmation, .confirmed:
        nil
      }
    case .returnedRenewed:
      switch state {
      case .authenticating: .renewed
      case .starting, .notNative, .valid, .renewed, .unregistered, .renewalFailed, .registrationFailed,
        .awaitingConfirmation, .confirmed:
        nil
      }
    case .returnedConfirmed:
      switch state {
      case .authenticating: .confirmed
      case .starting, .notNative, .valid, .renewed, .unregistered, .renewalFailed, .registrationFailed,
        .awaitingConfirmation, .confirmed:
        nil
      }
    case .returnedFailed:
      switch state {
      case .authenticating: .renewalFailed
      case .starting, .notNative, .valid, .renewed, .unregistered, .renewalFailed, .registrationFailed,
        .awaitingConfirmation, .confirmed:
        nil
      }
    case .checkRefused:
      switch state {
      // From unregistered and authenticating the answer comes too late: a logout or a sign-in came first.
      case .starting, .valid, .renewed, .renewalFailed, .registrationFailed, .awaitingConfirmation,
        .confirmed:
        .renewalFailed
      case .notNative, .unregistered, .authenticating: nil
      }
    case .checkMismatched:
      switch state {
      // As above.
      case .starting, .valid, .renewed, .renewalFailed, .registrationFailed, .awaitingConfirmation,
        .confirmed:
        .registrationFailed
      case .notNative, .unregistered, .authenticating: nil
      }
    case .tokensArrived:
      switch state {
      // Also when another process of this user received the redirect.
      case .authenticating, .starting, .awaitingConfirmation, .unregistered, .valid, .renewed, .renewalFailed,
        .registrationFailed, .confirmed:
        .awaitingConfirmation
      case .notNative: nil
      }
    case .confirmed:
      switch state {
      case .awaitingConfirmation: .confirmed
      case .starting, .notNative, .valid, .renewed, .unregistered, .renewalFailed, .registrationFailed,
        .confirmed, .authenticating:
        nil
      }
    case .retried:
      switch state {
      case .awaitingConfirmation, .registrationFailed, .renewalFailed, .authenticating: .unregistered
      case .starting, .notNative, .valid, .renewed, .unregistered, .confirmed: nil
      }
    case .cleared:
      switch state {
      case .notNative: .notNative
      case .starting, .valid, .renewed, .unregistered, .renewalFailed, .registrationFailed,
        .awaitingConfirmation, .confirmed, .authenticating:
        .unregistered
      }
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
    case .tokensArrived(let profile): return .awaitingConfirmation(profile: profile)
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
