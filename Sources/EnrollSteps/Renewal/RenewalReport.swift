// Reports the result of a renewal to the state machine and the observers.

package import EnrollRules

/// Reports results of renewals.
public final class RenewalReport: StateChangingStep {
  let context: EngineContext
  let machine: StateMachine
  private let renewals: RenewalProgress
  private let backEnd: BackEndStep

  init(_ context: EngineContext, machine: StateMachine, renewals: RenewalProgress, backEnd: BackEndStep) {
    self.context = context
    self.machine = machine
    self.renewals = renewals
    self.backEnd = backEnd
  }

  /// Applies the result of a renewal that another process ran for this process, and reported to it.
  package func learn(_ result: RenewalResult, for audience: TokenAudience?) throws(EnrollError) {
    try report(result, isNew: false, for: audience)
  }

  /// - Parameter isNew: false for a result that was reported before: an earlier failure whose pause has not ended, or
  ///   the result of another process's renewal.
  /// - Parameter audience: the audience of the access token. A renewal for an audience changes the state only if it
  ///   ends the session.
  func report(
    _ result: RenewalResult, isNew: Bool, for audience: TokenAudience? = nil
  ) throws(EnrollError) {
    if audience != nil {
      switch result {
      case .renewed: return renewals.endBackoff()
      case .unavailable(let error), .rejected(let error):
        if isNew { notify(.tokenRenewalFailed(error)) }
        return
      case .reauthenticate: break
      }
    }
    let record = try store.read(account)
    let moment = clock.moment()
    let isUsable = record?.confirmed?.isUsable(at: moment) ?? false
    switch result {
    case .renewed:
      renewals.noteSuccess(epoch: record?.epoch(for: nil))
      // If the registration check is required, the state is `renewed` (C) only after the check.
      if !context.requiresCheck { applyIfSession(.tokenRenewed) }
      if let expiry = record?.confirmed?.expiry { notify(.tokenRenewed(expiresAt: expiry.date(at: moment))) }
    case .unavailable(let error): failed(error, .wait, isUsable, isNew: isNew)
    case .rejected(let error): failed(error, error.remedy ?? .retry, isUsable, isNew: isNew)
    case .reauthenticate(let reason, let words):
      if record?.confirmed == nil {
        applyIfSession(.tokenMissing)
      } else {
        failed(.sessionEnded(reason, words), .registerAgain, isUsable, isNew: true)
      }
    }
  }

  private func failed(
    _ reason: EnrollError, _ remedy: RegistrationState.RenewalFailure.Remedy, _ isTokenUsable: Bool,
    isNew: Bool
  ) {
    let error = reason.helped(by: remedy)
    applyIfSession(.renewalFailed(.init(error: error, remedy: remedy, isTokenUsable: isTokenUsable)))
    guard isNew else { return }
    notify(.tokenRenewalFailed(error))
    if renewals.noteFailure(error.code) { backEnd.report(error) }
  }

  /// Applies the event of a renewal. During a transaction, or while tokens wait for confirmation, the event is illegal
  /// and does not change the state.
  private func applyIfSession(_ event: RegistrationEvent) {
    _ = try? apply(event)
  }
}
