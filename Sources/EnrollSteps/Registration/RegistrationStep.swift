// Answers the host's request for the registration state, which follows from the store's content (flows.md §7).

public import EnrollRules

/// The registration state, and the user's decisions about it.
public final class RegistrationStep: StateChangingStep {
  let context: EngineContext
  let machine: StateMachine
  private let checkProgress: CheckProgress
  private let unsaved: UnsavedRenewal
  private let backEnd: BackEndStep
  private let outbox: OutboxStep
  private let revocations: RevocationStep
  private let check: CheckStep

  init(
    _ context: EngineContext, machine: StateMachine, checkProgress: CheckProgress, unsaved: UnsavedRenewal,
    backEnd: BackEndStep, outbox: OutboxStep, revocations: RevocationStep, check: CheckStep
  ) {
    self.context = context
    self.machine = machine
    self.checkProgress = checkProgress
    self.unsaved = unsaved
    self.backEnd = backEnd
    self.outbox = outbox
    self.revocations = revocations
    self.check = check
  }

  /// Reads the store and sets the state machine to the state that follows from it. Sends no request.
  public func adoptStoredState() throws(EnrollError) -> StoredState {
    guard context.isNative else { return .known(try apply(.standInUsed)) }
    let record = try store.read(account) ?? AccountRecord()
    let moment = clock.moment()

    if case .authenticating(let id, _) = state, record.isUnderWay(transactionID: id, at: moment) {
      return .known(state)
    }
    _ = try leaveTransaction(record, at: moment)
    if record.provisional != nil {
      if state.kind == .renewalFailed, checkProgress.state == .provisionalRefused {
        return .known(state)
      }
      if let id = try context.transactionAwaitingPIN(record) {
        return .known(try apply(.advanced(transactionID: id, step: .pin)))
      }
      return .known(try apply(record.question))
    }
    if let tokens = record.confirmed {
      if let failure = record.sessionOver(at: moment) { return .known(try apply(.renewalFailed(failure))) }
      let band = tokens.expiry.band(at: moment, graceSeconds: configuration.graceSeconds)
      let isDue = band != .fresh || tokens.isRefreshDue(at: moment, graceSeconds: configuration.graceSeconds)
      if isDue, tokens.refreshToken != nil { return .needsRenewal }
      // No renewal is possible: the token is used until it expires, and then the user signs in again.
      if band == .expired { return .known(try apply(.renewalFailed(.expiredForGood))) }
      if let state = check.storedState(epoch: record.accessEpoch ?? record.tokenEpoch) { return state }
      return .known(try apply(.tokenValid))
    }
    // A sign-in that began before this process started continues (R12). A registration by e-mail now only waits for
    // the link in the e-mail, because its browser step ended with the earlier process.
    if state == .starting, let waiting = record.transactions.last(where: { $0.awaitsAnswer(at: moment) }) {
      let step = waiting.isRegistration ? .emailPending : waiting.step
      return .known(try apply(.advanced(transactionID: waiting.id, step: step)))
    }
    // The sign-in that a link started has ended without tokens. The registration waits again, because another link may
    // arrive.
    if state.kind == .authenticating, let waiting = record.linkWait(at: moment) {
      return .known(try apply(.advanced(transactionID: waiting.id, step: .emailPending)))
    }
    return .known(try apply(.tokenMissing))
  }

  /// Runs the check if the state `renewed` (C) requires it. Call this after a renewal.
  public func checkIfNeeded(cancellation: (any Cancellation)? = nil) {
    guard context.requiresCheck, case .needsCheck? = try? adoptStoredState() else { return }
    _ = try? check.checkSession(cancellation: cancellation)
  }

  /// The user confirms the profile: provisional tokens become the session, and the state changes from
  /// `awaitingConfirmation` (G) to `confirmed` (H). If the configuration requires a verified address or the
  /// registration check, both must succeed first.
  /// - Parameter transactionID: the transaction of the question that the user was asked; nil for the only question that
  ///   this client has shown.
  /// - Throws: `.illegalState` if nothing waits for confirmation, or if the sign-in that waits is not the sign-in that
  ///   was shown to the user; `.emailNotVerified`, `.unknownAccount`, or the error that prevented the check: the state
  ///   stays `awaitingConfirmation`; `.profileMismatch`: the state is `registrationFailed` (F); `.oauth`, because the
  ///   check refuses the access token: the state is `renewalFailed` (E).
  public func confirm(
    _ transactionID: TransactionID? = nil, cancellation: (any Cancellation)? = nil
  ) throws(EnrollError) -> RegistrationState {
    let asked = machine.shown
    if state == .starting { _ = try settleBesideSession(cancellation: cancellation) }
    try require(.confirmed)
    let shown = if let transactionID { transactionID } else { try Self.only(asked) }
    return try backEnd.reporting { () throws(EnrollError) in
      let waiting = try store.read(account) ?? AccountRecord()
      try waiting.requireQuestion(shown)
      let (passed, profile) = try check.passGates(waiting, cancellation: cancellation)
      let unsavedTokens = unsaved.renewed?.tokens
      let others = context.usersOfOtherAccounts(
        dropping: waiting.session(unsaved: unsavedTokens),
        keeping: SignedInUsers(of: UnkeptTokens(passed, profile)))
      let record = try store.update(account) { record throws(EnrollError) in
        try record.requireQuestion(shown)
        // The tokens are read from the store again, because a renewal may have replaced the refresh token in the
        // meantime. Nothing else may have changed.
        guard let tokens = record.provisional, tokens.accessToken == passed.accessToken else {
          throw EnrollError(.illegalState, "the tokens changed while they were confirmed")
        }
        let replaced = record.session(unsaved: unsavedTokens)
        record.adopt(tokens, profile: profile, registrationType: record.provisionalRegistrationType)
        revocations.revokeUnkept(replaced, beside: others.adding(record, at: clock.moment()))
      }
      revocations.dropRevocations(of: record.user)
      return try confirmed(record)
    }
  }

  /// Sets the state `confirmed` (H), and queues the profile for the back end.
  func confirmed(_ record: AccountRecord) throws(EnrollError) -> RegistrationState {
    checkProgress.note(.passed(epoch: record.tokenEpoch))
    backEnd.tellProfile()
    return try apply(.confirmed)
  }

  /// Starts over: provisional tokens are deleted, and revoked unless the same user has a session (R35). A confirmed
  /// session stays. The next authorize request lets the user choose another account. The state changes from
  /// `awaitingConfirmation` (G), `renewalFailed` (E), `registrationFailed` (F) or a transaction in progress to
  /// `unregistered` (D), or to the state of the session.
  /// - Parameter transactionID: the transaction of the question that the user declined; nil to start over in any case.
  /// - Parameter startsOver: false if another sign-in of the same user follows at once: the next authorize request then
  ///   does not let the user choose another account, and sign-ins that are in progress stay open.
  /// - Throws: `.illegalState`, also if the sign-in that waits is not the sign-in that was shown to the user.
  public func retry(
    _ transactionID: TransactionID? = nil, startsOver: Bool = true, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> RegistrationState {
    if state == .starting { _ = try settleBesideSession(cancellation: cancellation) }
    try require(.retried)
    let others = context.usersBesideDroppedProvisional()
    let record = try store.update(account) { record throws(EnrollError) in
      if let transactionID { try record.requireQuestion(transactionID) }
      let dropped = UnkeptTokens(record.provisional, record.provisionalProfile)
      record.dropProvisional()
      if startsOver {
        record.asksForLogin = true
        record.dismissOpenTransactions()
      }
      revocations.revokeUnkept([dropped], beside: others.adding(record, at: clock.moment()))
    }
    checkProgress.forget()
    try apply(.retried)
    outbox.sendOutbox(cancellation: cancellation)
    let survives = record.confirmed != nil && record.sessionEnded == nil
    return survives ? try settleBesideSession(cancellation: cancellation) : state
  }

  /// The host reports that the user cancelled. This is a hint: a late valid redirect still counts until the
  /// transaction's deadline. A registration whose browser was closed then waits for the link in the user's e-mail
  /// (flows.md §3); only ``retry(cancellation:)`` ends that.
  /// - Parameter transactionID: nil for every open transaction.
  public func cancel(transactionID: TransactionID?) throws(EnrollError) -> RegistrationState {
    let record = try store.update(account) { record throws(EnrollError) in
      if let transactionID {
        guard record.change(transactionID, { $0.leaveBrowser() }) != nil else { throw .unknownTransaction }
      } else {
        for index in record.transactions.indices { record.transactions[index].leaveBrowser() }
      }
    }
    if case .authenticating(let id, let step) = state, step != .exchanging,
      transactionID == nil || transactionID == id
    {
      if record.hasTokens { return try returnToSession() }
      if let waiting = record.linkWait(at: clock.moment()) {
        return try apply(.advanced(transactionID: waiting.id, step: .emailPending))
      }
      return try apply(.dismissed)
    }
    return state
  }

  /// Sets the state that follows from the store.
  func settleBesideSession(cancellation: (any Cancellation)? = nil) throws(EnrollError) -> RegistrationState {
    switch try adoptStoredState() {
    case .known(let state): return state
    // The token is due, so the session exists. The next caller that needs the token renews it.
    case .needsRenewal: return try apply(.tokenValid)
    case .needsCheck: return try check.checkSession(cancellation: cancellation)
    }
  }

  /// Returns to the state of the session, after a transaction that ran during the session and got no tokens
  /// (flows.md §6).
  func returnToSession() throws(EnrollError) -> RegistrationState {
    let record = try store.read(account) ?? AccountRecord()
    if let state = try leaveTransaction(record, at: clock.moment()) { return state }
    return try settleBesideSession()
  }

  /// Leaves a transaction that is no longer in progress, and returns to the session during which it ran.
  /// - Returns: nil if there is no such transaction or no such session; nothing has changed then.
  private func leaveTransaction(
    _ record: AccountRecord, at moment: Moment
  ) throws(EnrollError) -> RegistrationState? {
    let (state, before) = machine.stateAndBefore
    guard case .authenticating(let id, _) = state, !record.isUnderWay(transactionID: id, at: moment),
      record.confirmed != nil, record.provisional == nil
    else { return nil }
    if let failure = record.sessionOver(at: moment) { return try apply(.returnedFailed(failure)) }
    switch before {
    case .active(.renewed): return try apply(.returnedRenewed)
    case .active(.confirmed): return try apply(.returnedConfirmed)
    case .renewalFailed(let failure): return try apply(.returnedFailed(failure))
    // If the earlier state is nil, another process began the transaction.
    case .active(.valid), nil, .starting, .unregistered, .authenticating, .awaitingConfirmation,
      .active(.notNative), .registrationFailed:
      return try apply(.returnedValid)
    }
  }
}
