// The client's calls for a registration: they begin a sign-in, process its redirect however it arrives, and return the
// state.

public import EnrollRules
public import EnrollSteps
public import EnrollCrypto
import EnrollPosix

extension Client {
  /// The registration state. With `wait`, returns once the state is settled, even if an earlier process began the
  /// sign-in. Renews a token that is due, so that the answer is `renewed` (C) or `renewalFailed` (E) and not a
  /// preliminary state (flows.md §7).
  public func registrationState(
    wait: Bool, until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> RegistrationState {
    try requireOpen()
    try waitForPlatform(until: deadline, cancellation)
    outbox.sendAtStart()
    var state = try decidedState(until: deadline, cancellation: cancellation)
    guard wait, !state.isSettled else { return state }
    do throws(EnrollError) {
      try self.wait(until: deadline, cancellation) { () throws(EnrollError) in
        state = try decidedState(until: deadline, cancellation: cancellation)
        return state.isSettled
      }
    } catch {
      guard error.code == .deadlineExceeded, case .authenticating(_, let step) = state else { throw error }
      throw EnrollError(
        .deadlineExceeded,
        "a sign-in is in progress (step \(step.rawValue)) and did not end before the timeout")
    }
    return state
  }

  private func decidedState(
    until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> RegistrationState {
    let stored = try CallTimeout.until(deadline, by: clock, cancellation: cancellation) {
      () throws(EnrollError) in
      try engine.registration.adoptStoredState()
    }
    switch stored {
    case .known(let state): return state
    case .needsRenewal:
      _ = try access(minimumLifetimeSeconds: 0, until: deadline, cancellation: cancellation)
      guard case .needsCheck = try engine.registration.adoptStoredState() else { return engine.state }
      return try checked(until: deadline, cancellation: cancellation)
    case .needsCheck: return try checked(until: deadline, cancellation: cancellation)
    }
  }

  private func checked(
    until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> RegistrationState {
    defer { outbox.sendToBackEnd() }
    return try bounded(until: deadline, cancellation) { cancellation throws(EnrollError) in
      try engine.check.checkSession(cancellation: cancellation)
    }
  }

  /// Begins a sign-in. With a loopback redirect, also opens a listener, which closes once the transaction is settled
  /// (R4).
  /// - Throws: as ``SignInStep/begin(_:loopbackRedirectURI:cancellation:)``; `.busy` if the loopback port is taken;
  ///   `.configuration` if `caFile` or the client's key cannot be used.
  public func begin(
    _ options: SignInOptions, until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Transaction {
    try requireOpen()
    try waitForPlatform(until: deadline, cancellation)
    defer { outbox.sendToBackEnd() }
    return try engine.backEnd.reporting { () throws(EnrollError) in
      try begun(options, until: deadline, cancellation: cancellation)
    }
  }

  private func begun(
    _ options: SignInOptions, until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Transaction {
    // With configured endpoints, the first request may be the exchange of the code, after the user has signed in. So
    // the certificates are checked here.
    try ownTransport?.requireCertificates()
    return try bounded(until: deadline, cancellation) { cancellation throws(EnrollError) in
      guard configuration.usesLoopbackRedirect, options.redirects(configuration) else {
        try engine.transactions.settleAbandoned { LoopbackAddress.isListened(at: $0) }
        return try engine.signIn.begin(options, cancellation: cancellation)
      }
      try freeConfiguredPort(until: deadline, cancellation)
      let listener = try LoopbackListener(
        redirectURI: configuration.redirectURI, returnPage: configuration.returnPage)
      do throws(EnrollError) {
        // This must come after the listener was opened: the listener also serves earlier sign-ins with the same
        // configured port, so their transactions do not count as abandoned.
        try engine.transactions.settleAbandoned { LoopbackAddress.isListened(at: $0) }
        let begun = try engine.signIn.begin(
          options, loopbackRedirectURI: listener.redirectURI, cancellation: cancellation)
        try listen(on: listener, for: begun)
        return begun
      } catch {
        listener.close()
        throw error
      }
    }
  }

  /// Processes a redirect URL, whichever process received it, and completes its transaction.
  /// - Parameter transactionID: the transaction that the host expects; needed only for a redirect without `state` while
  ///   several transactions are pending (R6).
  /// - Returns: the state `awaitingConfirmation` (G), or `confirmed` (H) if no confirmation is required.
  /// - Throws: why the URL settles no transaction (``SignInStep/resume(_:cancellation:)``), or why its transaction
  ///   failed. After a failed transaction the state is `registrationFailed` (F), or the state of the session that
  ///   existed before.
  public func resume(
    _ url: String, transactionID: TransactionID? = nil, until deadline: Instant,
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> RegistrationState {
    try requireOpen()
    try waitForPlatform(until: deadline, cancellation)
    return try remember(
      try settlement(of: url, transactionID: transactionID, until: deadline, cancellation: cancellation))
  }

  private func settlement(
    of url: String, transactionID: TransactionID? = nil, mayContinueInBrowser: Bool = false,
    until deadline: Instant,
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Settlement {
    try runOneTimeStep(until: deadline, cancellation) { [self] cancellation throws(EnrollError) in
      try resumed(
        url, transactionID, isReported: true, mayContinueInBrowser: mayContinueInBrowser, cancellation)
    } afterwards: { [self] settlement in
      if settlement.nextURL == nil { _ = try? remember(settlement) }
    }
  }

  /// Submits the one-time code that the user typed (flows.md §6).
  /// - Returns: the state `awaitingConfirmation` (G), or `confirmed` (H) if no confirmation is required.
  /// - Throws: as ``PasswordlessStep/submitCode(_:transactionID:cancellation:)``, or why the transaction failed. After
  ///   `.codeRejected`, which means a wrong code, the transaction waits for another code.
  public func submitCode(
    _ code: Secret, transactionID: TransactionID, until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> RegistrationState {
    try requireOpen()
    let settlement = try runOneTimeStep(until: deadline, cancellation) {
      [engine] cancellation throws(EnrollError) in
      try engine.passwordless.submitCode(code, transactionID: transactionID, cancellation: cancellation)
    } afterwards: { [self] settlement in
      _ = try? remember(settlement)
    }
    return try remember(settlement)
  }

  /// Waits until a transaction is settled: by its loopback redirect, by ``resume(_:until:cancellation:)`` on another
  /// thread, or by another process. For a device transaction, this call polls the provider as often as the provider
  /// allows. The call also returns once another transaction of the account has ended with tokens: if one browser runs
  /// two sign-ins, some providers resume the older one, and the newer one never gets an answer.
  /// - Throws: `.notFound` for an unknown transaction; `.transactionExpired`; the error that made the transaction fail;
  ///   `.deadlineExceeded` if the deadline passes first; the transaction then stays pending.
  public func awaitTransaction(
    _ transactionID: TransactionID, until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> RegistrationState {
    do throws(EnrollError) {
      return try settledState(of: transactionID, until: deadline, cancellation: cancellation)
    } catch {
      guard error.code == .deadlineExceeded else { throw error }
      if case .exchanging? = try? engine.transactions.transactionStatus(transactionID) {
        throw EnrollError(
          .deadlineExceeded,
          "the user came back, and the tokens did not arrive in time; await the transaction again, or begin the sign-in "
            + "again where the process that took the redirect has ended")
      }
      if let postponement = loopbacks.withLock({ $0.postponement(of: transactionID) }) {
        throw EnrollError(
          .deadlineExceeded,
          "the user came back, and the sign-in goes on when the provider answers: \(postponement.message). Await the transaction again"
        )
      }
      throw EnrollError(
        .deadlineExceeded,
        "the timeout passed before the user returned; the transaction is still pending, so await it again or cancel it. If "
          + "the browser shows an error page, the URL may have been opened after its time (urlExpiresAt): begin again. Or compare "
          + "client id and redirect URI with those registered at the provider"
      )
    }
  }

  private func settledState(
    of transactionID: TransactionID, until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> RegistrationState {
    try requireOpen()
    var state: RegistrationState?
    var exchangeEnds: Instant?
    try wait(until: deadline, cancellation) { () throws(EnrollError) in
      if loopbacks.withLock({ $0.isAnswering(transactionID) }) { return false }
      // `isPolled` is read before the settlement is looked up. A poll stores its settlement before the poll ends, so a
      // poll that ends between the two reads has already stored its settlement.
      let isPolled = devicePolls.withLock { $0.isUnderWay(transactionID) }
      if let settlement = settlements.withLock({ $0[transactionID] }) {
        state = try outcome(of: settlement)
        return true
      }
      if isPolled { return false }
      switch try engine.transactions.transactionStatus(transactionID) {
      case .pending, .cancelled:
        if try engine.transactions.isSuperseded(transactionID) {
          // The browser must get its page before this call returns, because the program may end then.
          if loopbacks.withLock({ $0.isAnsweringAny }) { return false }
          state = try decidedState(until: deadline, cancellation: cancellation)
          return true
        }
        try pollDevice(transactionID)
        return false
      case .exchanging:
        // Another process may be exchanging the code, or may have died while it did so. No other process may send the
        // code (R15).
        let end = exchangeEnds ?? clock.instant().advanced(bySeconds: TransactionRecord.exchangeSeconds)
        exchangeEnds = end
        guard clock.instant().since(end) < 0 else { throw TransactionStep.exchangeDied }
        return false
      case .succeeded:
        state = try decidedState(until: deadline, cancellation: cancellation)
        return true
      case .failed:
        throw EnrollError(
          .alreadySettled, "the transaction failed in another process, or a sign-out ended it")
      }
    }
    return state ?? engine.state
  }

  /// Handles any URL that reaches the app: a redirect, a logout callback, an activation link, a fallback link, or none
  /// of these.
  /// - Throws: as ``resume(_:until:cancellation:)`` and ``handleLink(_:until:cancellation:)``, but `.unsolicited` and
  ///   `.redirectMismatch` are returned, not thrown; so are `.loginRequired` and related errors in a fallback link.
  public func handle(
    _ url: String, until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HandledURL {
    try requireOpen()
    do throws(EnrollError) {
      try bounded(until: deadline, cancellation) { _ throws(EnrollError) in
        try engine.logout.finishLogout(url)
      }
      outbox.send()
      return .logoutFinished
    } catch {
      guard error.code == .unsolicited || error.code == .redirectMalformed else { throw error }
    }
    try waitForPlatform(until: deadline, cancellation)
    switch try linkOutcome(of: url, until: deadline, cancellation: cancellation) {
    case .begun(let begun): return .begun(begun)
    case .refused(let refusal): return .refused(refusal)
    case nil: break
    }
    let settlement: Settlement
    do throws(EnrollError) {
      settlement = try self.settlement(
        of: url, mayContinueInBrowser: true, until: deadline, cancellation: cancellation)
    } catch {
      guard error.code == .unsolicited || error.code == .redirectMismatch else { throw error }
      return .unsolicited
    }
    if let next = settlement.nextURL {
      return .begun(try engine.transactions.transaction(settlement.transactionID, goingOnAt: next))
    }
    guard let begun = try signIn(after: settlement, until: deadline, cancellation: cancellation) else {
      return .registration(try remember(settlement))
    }
    _ = try? remember(settlement)
    return .begun(begun)
  }

  /// Moves the registration from `awaitingConfirmation` (G) to `confirmed` (H), as
  /// ``RegistrationStep/confirm(_:cancellation:)``.
  public func confirm(
    _ transactionID: TransactionID? = nil, until deadline: Instant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> RegistrationState {
    try requireOpen()
    defer {
      tokens.forget()
      outbox.send()
    }
    return try bounded(until: deadline, cancellation) { cancellation throws(EnrollError) in
      try engine.registration.confirm(transactionID, cancellation: cancellation)
    }
  }

  /// Moves the registration back to the choice of how to register. Provisional tokens are revoked and erased. A
  /// confirmed session stays.
  /// - Parameters: as for ``RegistrationStep/retry(_:startsOver:cancellation:)``.
  public func retry(
    _ transactionID: TransactionID? = nil, startsOver: Bool = true, until deadline: Instant,
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> RegistrationState {
    try requireOpen()
    defer { tokens.forget() }
    return try bounded(until: deadline, cancellation) { cancellation throws(EnrollError) in
      try engine.registration.retry(
        transactionID, startsOver: startsOver, cancellation: cancellation)
    }
  }

  /// Whether the tokens that wait for confirmation would replace a session that may be another user's.
  public func waitsBesideAnotherUser() throws(EnrollError) -> Bool {
    try requireOpen()
    return try engine.registration.waitsBesideAnotherUser()
  }

  /// Reports that the user cancelled. This is only a hint: a valid redirect that arrives later still succeeds.
  public func cancel(_ transactionID: TransactionID?) throws(EnrollError) -> RegistrationState {
    try requireOpen()
    let state = try engine.registration.cancel(transactionID: transactionID)
    stopListening(for: transactionID)
    return state
  }

  /// Reports that the host could not open the link to the other app. The transaction fails.
  /// - Returns: the state `registrationFailed` (F), or the state of the session that existed before the transaction.
  /// - Throws: as ``App2AppStep/otherAppMissing(transactionID:)``.
  public func otherAppMissing(_ transactionID: TransactionID) throws(EnrollError) -> RegistrationState {
    try requireOpen()
    let settlement = try engine.app2app.otherAppMissing(transactionID: transactionID)
    settlements.withLock { $0.add(settlement) }
    hub.announceChange()
    return engine.state
  }

  /// Erases the local state without a request to any server.
  public func clear() throws(EnrollError) -> RegistrationState {
    try requireOpen()
    defer { tokens.forget() }
    stopListening(for: nil)
    return try engine.logout.clear()
  }

  /// Stores how a transaction ended, for the callers that wait for it.
  func remember(_ settlement: Settlement) throws(EnrollError) -> RegistrationState {
    tokens.forget()
    settlements.withLock { $0.add(settlement) }
    // The outbox may now have revocations of tokens that were refused or replaced.
    outbox.send()
    hub.announceChange()
    return try outcome(of: settlement)
  }

  private func outcome(of settlement: Settlement) throws(EnrollError) -> RegistrationState {
    switch settlement.ending {
    case .succeeded(let state): return state
    case .failed(let error): throw error
    }
  }
}
