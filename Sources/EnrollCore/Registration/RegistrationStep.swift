// Asking for the registration state: what the store holds decides (flows.md §7).

import EnrollJSON

extension Engine {
  /// The state according to the store, and whether a renewal must be tried first to find it out.
  public enum Standing: Equatable, Sendable {
    case known(RegistrationState)
    /// The confirmed token is due or expired: renew, and the state is C or E.
    case needsRenewal
    /// Tokens are there, and the registration check has to be asked about them: ``checkSession(cancellation:)``.
    case needsCheck
  }

  /// Reads the store and moves the state machine to what it says. Does no network IO.
  public func standing() throws(EnrollError) -> Standing {
    guard isNative else { return .known(try apply(.standInUsed)) }
    let record = try store.read(account) ?? AccountRecord()
    let moment = clock.moment()

    if case .authenticating(let id, _) = state, record.isUnderWay(transactionID: id, at: moment) {
      return .known(state)
    }
    _ = try leaveTransaction(record, at: moment)
    if record.provisional != nil {
      if state.kind == .renewalFailed, memory.withLock({ $0.check == .provisionalRefused }) {
        return .known(state)
      }
      if let id = try transactionAwaitingPIN(record) {
        return .known(try apply(.advanced(transactionID: id, step: .pin)))
      }
      return .known(try apply(record.question))
    }
    if let tokens = record.confirmed {
      if let failure = record.sessionOver(at: moment) { return .known(try apply(.renewalFailed(failure))) }
      let band = tokens.expiry.band(at: moment, graceSeconds: configuration.graceSeconds)
      let isDue = band != .fresh || tokens.isRefreshDue(at: moment, graceSeconds: configuration.graceSeconds)
      if isDue, tokens.refreshToken != nil { return .needsRenewal }
      // Nothing renews it: it serves until its end, and then the user signs in again.
      if band == .expired { return .known(try apply(.renewalFailed(.expiredForGood))) }
      if let standing = checkStanding(epoch: record.accessEpoch ?? record.tokenEpoch) { return standing }
      return .known(try apply(.tokenValid))
    }
    // A login that was begun before this process started goes on (R12). Of a registration only the link is still
    // expected: its browser was left with the process.
    if state == .starting, let waiting = record.transactions.last(where: { $0.awaitsAnswer(at: moment) }) {
      let step = waiting.isRegistration ? .emailPending : waiting.step
      return .known(try apply(.advanced(transactionID: waiting.id, step: step)))
    }
    // The sign-in that a link began came to nothing: another link may come.
    if state.kind == .authenticating, let waiting = record.linkWait(at: moment) {
      return .known(try apply(.advanced(transactionID: waiting.id, step: .emailPending)))
    }
    return .known(try apply(.tokenMissing))
  }

  /// The user's yes to the profile: provisional tokens become the session (G to H), if the verified address and the
  /// registration check that the configuration asks for are there.
  /// - Parameter transactionID: of the question that the user was asked; nil for the only one that this client has shown.
  /// - Throws: `.illegalState` when nothing waits for confirmation, or another sign-in than the one that was shown;
  ///   `.emailNotVerified`, `.unknownAccount`, or why the check could not be asked: the state stays G; `.profileMismatch`: F;
  ///   `.oauth`, the access token is not taken: E.
  public func confirm(
    _ transactionID: TransactionID? = nil, cancellation: (any Cancellation)? = nil
  ) throws(EnrollError) -> RegistrationState {
    let asked = memory.withLock { $0.shown }
    if state == .starting { _ = try settleBesideSession(cancellation: cancellation) }
    try require(.confirmed)
    let shown = if let transactionID { transactionID } else { try Self.only(asked) }
    return try reporting { () throws(EnrollError) in
      let waiting = try store.read(account) ?? AccountRecord()
      try waiting.requireQuestion(shown)
      let (passed, profile) = try passGates(waiting, cancellation: cancellation)
      let unsaved = memory.withLock { $0.unsaved?.tokens }
      let others = usersOfOtherAccounts()
      let record = try store.update(account) { record throws(EnrollError) in
        try record.requireQuestion(shown)
        // As they are stored: a renewal may have brought a new refresh token meanwhile, and nothing else.
        guard let tokens = record.provisional, tokens.accessToken == passed.accessToken else {
          throw EnrollError(.illegalState, "the tokens changed while they were confirmed")
        }
        let replaced = record.session(unsaved: unsaved)
        record.adopt(tokens, profile: profile, registrationType: record.provisionalRegistrationType)
        revokeUnkept(replaced, beside: others.adding(record, at: clock.moment()))
      }
      dropRevocations(of: record.user)
      return try confirmed(record)
    }
  }

  /// H, and what follows from it.
  func confirmed(_ record: AccountRecord) throws(EnrollError) -> RegistrationState {
    memory.withLock { $0.check = .passed(epoch: record.tokenEpoch) }
    tellProfile()
    return try apply(.confirmed)
  }

  /// Another try: provisional tokens are cleared, and revoked unless the same user has a session (R35); a confirmed set survives;
  /// the next authorize request lets the user choose another account (G, E, F or a transaction under way, to D).
  /// - Parameter transactionID: of the question to which the user said no; nil to start over, whatever waits.
  /// - Throws: `.illegalState` also when another sign-in waits than the one that was shown.
  public func retry(
    _ transactionID: TransactionID? = nil, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> RegistrationState {
    if state == .starting { _ = try settleBesideSession(cancellation: cancellation) }
    try require(.retried)
    let others = usersOfOtherAccounts()
    let record = try store.update(account) { record throws(EnrollError) in
      if let transactionID { try record.requireQuestion(transactionID) }
      let dropped = UnkeptTokens(record.provisional, record.provisionalProfile)
      record.dropProvisional()
      record.asksForLogin = true
      record.dismissOpenTransactions()
      revokeUnkept([dropped], beside: others.adding(record, at: clock.moment()))
    }
    memory.withLock { $0.check = .none }
    try apply(.retried)
    sendOutbox(cancellation: cancellation)
    let survives = record.confirmed != nil && record.sessionEnded == nil
    return survives ? try settleBesideSession(cancellation: cancellation) : state
  }

  /// The host says that the user gave up. A hint: a late valid redirect still wins until the transaction's deadline.
  /// A registration whose browser was left waits for the link in the user's e-mail from then on (flows.md §3); only
  /// ``retry(cancellation:)`` gives that up.
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

  /// Empties local state alone: no server is told (flows.md §5).
  public func clear() throws(EnrollError) -> RegistrationState {
    try store.update(account) { record throws(EnrollError) in
      record.eraseSession()
      record.transactions = []
    }
    forgetSession()
    return try apply(.cleared)
  }

  /// Sets the state to the one that follows from the store.
  func settleBesideSession(cancellation: (any Cancellation)? = nil) throws(EnrollError) -> RegistrationState {
    switch try standing() {
    case .known(let state): return state
    // Due: the session is there, and whoever needs its token will renew it.
    case .needsRenewal: return try apply(.tokenValid)
    case .needsCheck: return try checkSession(cancellation: cancellation)
    }
  }

  /// After a transaction ended without tokens beside a session that lives on, the state is the one before (flows.md §6).
  func returnToSession() throws(EnrollError) -> RegistrationState {
    let record = try store.read(account) ?? AccountRecord()
    if let state = try leaveTransaction(record, at: clock.moment()) { return state }
    return try settleBesideSession()
  }

  /// Back from a transaction that is not under way any more to the session beside which it ran.
  /// - Returns: nil, and nothing changed, when there is no such transaction or no such session.
  private func leaveTransaction(
    _ record: AccountRecord, at moment: Moment
  ) throws(EnrollError) -> RegistrationState? {
    let (state, before) = memory.withLock { ($0.state, $0.before) }
    guard case .authenticating(let id, _) = state, !record.isUnderWay(transactionID: id, at: moment),
      record.confirmed != nil, record.provisional == nil
    else { return nil }
    if let failure = record.sessionOver(at: moment) { return try apply(.returnedFailed(failure)) }
    switch before {
    case .active(.renewed): return try apply(.returnedRenewed)
    case .active(.confirmed): return try apply(.returnedConfirmed)
    case .renewalFailed(let failure): return try apply(.returnedFailed(failure))
    // Without a state before, another process began it.
    case .active(.valid), nil, .starting, .unregistered, .authenticating, .awaitingConfirmation,
      .active(.notNative), .registrationFailed:
      return try apply(.returnedValid)
    }
  }
}

extension AccountRecord {
  /// Whether that transaction still decides the state: open before its deadline, or in the middle of its exchange.
  func isUnderWay(transactionID: TransactionID, at moment: Moment) -> Bool {
    guard let transaction = transactions.named(transactionID) else { return false }
    // Beside a session nobody waits for an e-mail: the session is the state, and a link is taken all the same.
    if hasTokens, transaction.isRegistration, transaction.step == .emailPending { return false }
    // Nor for an answer once another transaction brought tokens.
    if hasTokens, transaction.isOvertaken { return false }
    return (transaction.status == .pending || transaction.status == .exchanging)
      && transaction.deadline.secondsLeft(at: moment) > 0
  }

  /// The tokens of the confirmed session.
  /// - Parameter unsaved: the tokens that its renewal brought and the disk would not take.
  func session(unsaved: TokenSet?) -> [UnkeptTokens?] {
    guard confirmed != nil else { return [] }
    return [UnkeptTokens(confirmed, profile), UnkeptTokens(unsaved, profile)]
  }

  /// The subject of the confirmed session's user; nil where it is not known.
  var user: String? { UnkeptTokens(confirmed, profile)?.user }

  /// Tokens become the session.
  mutating func adopt(_ tokens: TokenSet, profile: JSONObject?, registrationType: String?) {
    confirmed = tokens
    self.profile = profile
    self.registrationType = registrationType
    dropProvisional()
    sessionEnded = nil
    refusal = nil
    backoff = nil
    renewalIntent = nil
    advanceEpoch()
  }

  /// Tokens that wait for confirmation, and all that belongs to them.
  mutating func dropProvisional() {
    provisional = nil
    provisionalProfile = nil
    provisionalTransactionID = nil
    provisionalRegistrationType = nil
    pinTransactionID = nil
  }

  /// The six captured values of flows.md §7, and all that belongs to them.
  mutating func eraseSession() {
    confirmed = nil
    profile = nil
    registrationType = nil
    dropProvisional()
    renewalIntent = nil
    refusal = nil
    backoff = nil
    sessionEnded = nil
    advanceEpoch()
  }

  /// Nothing that was begun before brings anybody in any more; what is on its way finds that out (R35).
  mutating func settleTransactions() {
    for transaction in transactions where !transaction.isSettled { settle(transaction.id, as: .failed) }
  }

  mutating func dismissOpenTransactions() {
    for index in transactions.indices where transactions[index].status == .pending {
      transactions[index].status = .cancelled
    }
  }
}

extension TransactionRecord {
  /// Open, before its deadline, and with an answer that can still reach this device: a link, or a redirect that does
  /// not go to another process's loopback.
  func awaitsAnswer(at moment: Moment) -> Bool {
    status == .pending && (isRegistration || survivesProcess) && isLive(at: moment)
  }

  /// The host's hint that the browser was closed.
  mutating func leaveBrowser() {
    guard isOpen else { return }
    if isRegistration { setInBrowser(false) } else { status = .cancelled }
  }
}

extension TokenSet {
  func isUsable(at moment: Moment) -> Bool { !expiry.isOver(at: moment) }
}

extension AccountRecord {
  /// Why nothing but a sign-in brings tokens; nil for a session that goes on.
  fileprivate func sessionOver(at moment: Moment) -> RegistrationState.RenewalFailure? {
    guard let confirmed else { return nil }
    let reason =
      sessionEnded.map { "the provider ended the session: \($0)" }
      ?? accessRefused.map { "the session is over: \($0)" }
    return reason.map {
      RegistrationState.RenewalFailure(
        error: EnrollError(.reauthenticate, $0), remedy: .registerAgain,
        isTokenUsable: confirmed.isUsable(at: moment))
    }
  }
}

extension RegistrationState.RenewalFailure {
  static var expiredForGood: Self {
    Self(
      error: EnrollError(.reauthenticate, "the token expired, and the provider gave no refresh token"),
      remedy: .registerAgain, isTokenUsable: false)
  }
}
