// The question whether the user is the one of the profile (G), and its answer. Between the two another sign-in can arrive: in
// another window, in another process, or on this device by somebody else. An answer is therefore about one transaction,
// and changes nothing once another one waits.

import EnrollJSON

extension Engine {
  /// The transaction of an answer that does not name one: of the only question that this client has shown.
  /// - Throws: `.illegalState` when it has shown none, or several: the user's answer can be about any of them.
  static func only(_ shown: [TransactionID]) throws(EnrollError) -> TransactionID {
    if shown.count == 1 { return shown[0] }
    throw EnrollError(
      .illegalState,
      shown.isEmpty
        ? "no profile was shown to confirm: read the state, and show the profile that waits for confirmation"
        : "several profiles were shown to confirm: name the transaction of the one that the user confirms",
      field: "transaction")
  }

  /// Whether the tokens that wait for confirmation would take the place of a session that is not known to be the same user's.
  public func waitsBesideAnotherUser() throws(EnrollError) -> Bool {
    guard let record = try store.read(account), record.confirmed != nil,
      let waiting = UnkeptTokens(record.provisional, record.provisionalProfile)
    else { return false }
    guard let user = record.user, let arrived = waiting.user else { return true }
    return !ASCII.equals(user, arrived)
  }
}

extension Engine.Memory {
  /// Keeps which questions the host has seen: a state that it is told of, by whatever call or event.
  mutating func noteQuestion(in state: RegistrationState) {
    switch state {
    case .awaitingConfirmation(let transactionID, _):
      if !shown.contains(transactionID) { shown.append(transactionID) }
    // The exchange of another sign-in leaves the question open.
    case .authenticating: break
    case .starting, .unregistered, .active, .renewalFailed, .registrationFailed: shown = []
    }
  }
}

extension AccountRecord {
  /// The event by which the state machine learns of the tokens that wait for confirmation.
  var question: RegistrationEvent {
    .tokensArrived(transactionID: waitingTransactionID, profile: provisionalProfile ?? JSONObject())
  }

  /// The sign-in that waits, as the host may see it.
  var waiting: WaitingSignIn? {
    guard provisional != nil else { return nil }
    return WaitingSignIn(
      transactionID: waitingTransactionID, profile: provisionalProfile ?? JSONObject(),
      registrationType: provisionalRegistrationType)
  }

  /// - Throws: `.illegalState` when other tokens wait than those of that transaction, or none.
  func requireQuestion(_ transactionID: TransactionID) throws(EnrollError) {
    guard provisional != nil else {
      throw EnrollError(.illegalState, "no tokens wait for confirmation; another process settled them")
    }
    guard waitingTransactionID == transactionID else {
      throw EnrollError(
        .illegalState,
        "another sign-in waits for confirmation than the one that was shown, and nothing has changed: read the state, and show the profile that waits now",
        field: "transaction")
    }
  }

  /// The transaction that brought the tokens that wait. An older form of the record does not tell it; no other tokens can be
  /// waiting then.
  var waitingTransactionID: TransactionID {
    provisionalTransactionID ?? pinTransactionID ?? TransactionID("unnamed")
  }
}
