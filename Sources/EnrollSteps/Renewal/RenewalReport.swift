// Reports the result of a renewal to the state machine and the observers.

package import EnrollRules

extension Engine {
  /// Applies the result of a renewal that another process ran, and reported, for this one.
  package func learn(_ result: RenewalResult, for audience: TokenAudience?) throws(EnrollError) {
    try report(result, isNew: false, for: audience)
  }

  /// - Parameter isNew: false for a result that was reported before: the pause after a failure, or another process's
  ///   renewal.
  /// - Parameter audience: the audience of the access token. For an audience only the end of the session changes the
  ///   state.
  func report(
    _ result: RenewalResult, isNew: Bool, for audience: TokenAudience? = nil
  ) throws(EnrollError) {
    if audience != nil {
      switch result {
      case .renewed: return memory.withLock { $0.backoff = nil }
      case .unavailable(let error), .rejected(let error):
        if isNew { notify(.tokenRenewalFailed(error)) }
        return
      case .reauthenticate: break
      }
    }
    let record = try store.read(account)
    let isUsable = record?.confirmed?.isUsable(at: clock.moment()) ?? false
    switch result {
    case .renewed:
      memory.withLock {
        $0.backoff = nil
        $0.reportedRenewal = nil
        $0.renewedEpoch = record?.epoch(for: nil)
      }
      // If the registration check is required, the state is C only after the check.
      if !requiresCheck { applyIfSession(.tokenRenewed) }
      if let tokens = record?.confirmed { notify(.tokenRenewed(expiresAt: tokens.expiry.expiresAt)) }
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
    // A failure that repeats the previous one is not reported again.
    let isUnreported = memory.withLock { memory -> Bool in
      guard memory.reportedRenewal != error.code else { return false }
      memory.reportedRenewal = error.code
      return true
    }
    if isUnreported { self.report(error) }
  }

  /// During a transaction, or while tokens wait for confirmation, a renewal does not change the state.
  private func applyIfSession(_ event: RegistrationEvent) {
    _ = try? apply(event)
  }
}
