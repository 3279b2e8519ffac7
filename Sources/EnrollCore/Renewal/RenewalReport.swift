// How a renewal ended, told to all who care: the patience that bars the next one, the state machine, the observers.

extension Engine {
  /// Patience, state machine and observers learn how it ended.
  func report(_ result: RenewalResult) throws(EnrollError) {
    let moment = clock.moment()
    let jitter = (try? random.bytes(1).first) ?? 0
    let record = try store.read(account)
    let isUsable = record?.confirmed?.isUsable(at: moment) ?? false
    switch result {
    case .renewed:
      memory.withLock {
        $0.patience.succeeded()
        $0.reportedRenewal = nil
        $0.renewedEpoch = record?.tokenEpoch
      }
      // C waits for the registration check where one is required.
      if !requiresCheck { applyIfSession(.tokenRenewed) }
      if let tokens = record?.confirmed { notify(.tokenRenewed(expiresAt: tokens.expiry.expiresAt)) }
    case .unavailable(let error):
      let isNew = memory.withLock { memory -> Bool in
        guard memory.patience.secondsToWait(at: moment) == nil else { return false }
        memory.patience.failed(error, at: moment, jitter: jitter)
        return true
      }
      if isNew { failed(error, .wait, isUsable) }
    case .rejected(let error): failed(error, .retry, isUsable)
    case .reauthenticate(let reason):
      if record?.confirmed == nil {
        applyIfSession(.tokenMissing)
      } else {
        failed(EnrollError(.reauthenticate, "the session is over: \(reason)"), .registerAgain, isUsable)
      }
    }
  }

  private func failed(
    _ error: EnrollError, _ remedy: RegistrationState.RenewalFailure.Remedy, _ isTokenUsable: Bool
  ) {
    applyIfSession(.renewalFailed(.init(error: error, remedy: remedy, isTokenUsable: isTokenUsable)))
    notify(.tokenRenewalFailed(error))
    // Who asks again within the pause hears of the same failure again; it is reported once.
    let isNew = memory.withLock { memory -> Bool in
      let isRepeated = memory.reportedRenewal == error.code || error.code == .rejected
      guard memory.reportedRenewal == nil || !isRepeated else { return false }
      memory.reportedRenewal = error.code
      return true
    }
    if isNew { self.report(error) }
  }

  /// A renewal beside a transaction under way, or beside tokens that wait for confirmation, leaves the state alone.
  private func applyIfSession(_ event: RegistrationEvent) {
    _ = try? apply(event)
  }
}
