// How a renewal ended, told to the state machine and to the observers.

extension Engine {
  /// Takes note of a renewal that another process ran for this one, and told of where it has to be told.
  package func learn(_ result: RenewalResult, for audience: TokenAudience?) throws(EnrollError) {
    try report(result, isNew: false, for: audience)
  }

  /// - Parameter isNew: false for a result that was told before: the pause after a failure, another process's renewal.
  /// - Parameter audience: for whom the access token was to be. Only the end of the session concerns the state then.
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
      // C waits for the registration check where one is required.
      if !requiresCheck { applyIfSession(.tokenRenewed) }
      if let tokens = record?.confirmed { notify(.tokenRenewed(expiresAt: tokens.expiry.expiresAt)) }
    case .unavailable(let error): failed(error, .wait, isUsable, isNew: isNew)
    case .rejected(let error): failed(error, error.remedy ?? .retry, isUsable, isNew: isNew)
    case .reauthenticate(let reason):
      if record?.confirmed == nil {
        applyIfSession(.tokenMissing)
      } else {
        failed(
          EnrollError(.reauthenticate, "the session is over: \(reason)"), .registerAgain, isUsable,
          isNew: true)
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
    // The same failure again is one report.
    let isUnreported = memory.withLock { memory -> Bool in
      guard memory.reportedRenewal != error.code else { return false }
      memory.reportedRenewal = error.code
      return true
    }
    if isUnreported { self.report(error) }
  }

  /// A renewal beside a transaction under way, or beside tokens that wait for confirmation, leaves the state alone.
  private func applyIfSession(_ event: RegistrationEvent) {
    _ = try? apply(event)
  }
}
