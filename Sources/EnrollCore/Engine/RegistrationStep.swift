// Asking for the registration state: what the store holds decides (flows.md §7).

import EnrollJSON

extension Engine {
  /// What the store says about the state, and whether a renewal has to be tried before it can be told.
  public enum Standing: Equatable, Sendable {
    case known(RegistrationState)
    /// The confirmed token is due or expired: renew, and the state is C or E.
    case needsRenewal
  }

  /// Reads the store and moves the state machine to what it says. Does no network IO.
  public func standing() throws(EnrollError) -> Standing {
    guard isNative else { return .known(try apply(.standInUsed)) }
    let record = try store.read(account) ?? AccountRecord()
    let moment = clock.moment()

    if case .authenticating(let id, _) = state, record.isUnderWay(transactionID: id, at: moment) {
      return .known(state)
    }
    if record.provisional != nil {
      return .known(try apply(.tokensArrived(profile: record.provisionalProfile ?? JSONObject())))
    }
    if let tokens = record.confirmed {
      if let reason = record.sessionEnded {
        return .known(try apply(.renewalFailed(.sessionOver(reason, tokens.isUsable(at: moment)))))
      }
      let band = tokens.expiry.band(at: moment, graceSeconds: configuration.graceSeconds)
      if band == .fresh { return .known(try apply(.tokenValid)) }
      if tokens.refreshToken == nil {
        // Nothing renews it: it serves until its end, and then the user signs in again.
        if band == .due { return .known(try apply(.tokenValid)) }
        return .known(try apply(.renewalFailed(.expiredForGood)))
      }
      return .needsRenewal
    }
    // A login that was begun before this process started goes on (R12).
    if state == .starting, let waiting = record.transactions.last(where: { $0.awaitsRedirect(at: moment) }) {
      return .known(try apply(.advanced(transactionID: waiting.id, step: waiting.step)))
    }
    return .known(try apply(.tokenMissing))
  }

  /// The user's yes to the profile: provisional tokens become the session (G to H).
  /// - Throws: `.illegalState` when nothing waits for confirmation.
  public func confirm() throws(EnrollError) -> RegistrationState {
    if state == .starting { _ = try settleBesideSession() }
    try require(.confirmed)
    try store.update(account) { record throws(EnrollError) in
      guard let tokens = record.provisional else {
        throw EnrollError(.illegalState, "no tokens wait for confirmation; another process settled them")
      }
      record.adopt(tokens, profile: record.provisionalProfile)
    }
    return try apply(.confirmed)
  }

  /// Another try: provisional tokens are revoked and cleared, a confirmed set survives, the next authorize request
  /// lets the user choose another account (G, E, F or a transaction under way, to D).
  public func retry(cancellation: (any Cancellation)?) throws(EnrollError) -> RegistrationState {
    if state == .starting { _ = try settleBesideSession() }
    try require(.retried)
    var dropped: TokenSet?
    let record = try store.update(account) { record throws(EnrollError) in
      dropped = record.provisional
      record.provisional = nil
      record.provisionalProfile = nil
      record.asksForLogin = true
      record.dismissOpenTransactions()
    }
    try apply(.retried)
    if let dropped { revokeLater(dropped) }
    sendOutbox(cancellation: cancellation)
    let survives = record.confirmed != nil && record.sessionEnded == nil
    return survives ? try settleBesideSession() : state
  }

  /// The host says that the user gave up. A hint: a late valid redirect still wins until the transaction's deadline.
  /// - Parameter transactionID: nil for every open transaction.
  public func cancel(transactionID: String?) throws(EnrollError) -> RegistrationState {
    try store.update(account) { record throws(EnrollError) in
      if let transactionID {
        guard let index = record.transactions.firstIndex(where: { ASCII.equals($0.id, transactionID) }) else {
          throw EnrollError(.notFound, "no transaction has this id", field: "transaction")
        }
        if record.transactions[index].isOpen { record.transactions[index].status = .cancelled }
      } else {
        record.dismissOpenTransactions()
      }
    }
    if case .authenticating(let id, let step) = state, step != .exchanging,
      transactionID.map({ ASCII.equals($0, id) }) ?? true
    {
      try apply(.dismissed)
      return try settleBesideSession()
    }
    return state
  }

  /// Empties local state alone: no server is told (flows.md §5).
  public func clear() throws(EnrollError) -> RegistrationState {
    try store.update(account) { record throws(EnrollError) in
      record.eraseSession()
      record.transactions = []
    }
    return try apply(.cleared)
  }

  /// After a transaction ended beside a session that lives on, the session is the state again (flows.md §6).
  func settleBesideSession() throws(EnrollError) -> RegistrationState {
    switch try standing() {
    case .known(let state): return state
    // Due: the session is there, and whoever needs its token will renew it.
    case .needsRenewal: return try apply(.tokenValid)
    }
  }
}

extension AccountRecord {
  /// Whether that transaction still decides the state: open before its deadline, or in the middle of its exchange.
  func isUnderWay(transactionID: String, at moment: Moment) -> Bool {
    guard let transaction = transactions.first(where: { ASCII.equals($0.id, transactionID) }) else {
      return false
    }
    return (transaction.status == .pending || transaction.status == .exchanging)
      && transaction.deadline.secondsLeft(at: moment) > 0
  }

  /// The profile that concerns the user now: the one that waits for confirmation, else the session's.
  var shownProfile: JSONObject? { provisional != nil ? provisionalProfile : profile }

  /// Provisional tokens become the session.
  mutating func adopt(_ tokens: TokenSet, profile: JSONObject?) {
    confirmed = tokens
    self.profile = profile
    provisional = nil
    provisionalProfile = nil
    sessionEnded = nil
    refusal = nil
    renewalIntent = nil
    tokenEpoch &+= 1
  }

  /// The six captured values of flows.md §7, and all that belongs to them.
  mutating func eraseSession() {
    confirmed = nil
    provisional = nil
    profile = nil
    provisionalProfile = nil
    registrationType = nil
    renewalIntent = nil
    refusal = nil
    sessionEnded = nil
    tokenEpoch &+= 1
  }

  mutating func dismissOpenTransactions() {
    for index in transactions.indices where transactions[index].status == .pending {
      transactions[index].status = .cancelled
    }
  }
}

extension Transaction {
  /// Open, before its deadline, and with a redirect that can still reach this device (not another process's loopback).
  func awaitsRedirect(at moment: Moment) -> Bool {
    status == .pending && !listensOnLoopback && deadline.secondsLeft(at: moment) > 0
  }
}

extension TokenSet {
  func isUsable(at moment: Moment) -> Bool { expiry.secondsLeft(at: moment) > 0 }
}

extension RegistrationState.RenewalFailure {
  static var expiredForGood: Self {
    Self(
      error: EnrollError(.reauthenticate, "the token expired, and no refresh token came with it"),
      remedy: .registerAgain, isTokenUsable: false)
  }

  static func sessionOver(_ reason: String, _ isTokenUsable: Bool) -> Self {
    Self(
      error: EnrollError(.reauthenticate, "the provider ended the session: \(reason)"),
      remedy: .registerAgain,
      isTokenUsable: isTokenUsable)
  }
}
