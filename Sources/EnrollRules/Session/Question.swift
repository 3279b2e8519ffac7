// The properties of a record that describe the tokens that wait for the user's confirmation (flows.md §7, state G
// `awaitingConfirmation`).

import EnrollJSON

extension AccountRecord {
  /// The event of the state machine for tokens that wait for confirmation.
  package var question: RegistrationEvent {
    .tokensArrived(transactionID: waitingTransactionID, profile: provisionalProfile ?? JSONObject())
  }

  /// The sign-in that waits for confirmation, in the form that the host gets; nil if no sign-in waits.
  package var waiting: WaitingSignIn? {
    guard provisional != nil else { return nil }
    return WaitingSignIn(
      transactionID: waitingTransactionID, profile: provisionalProfile ?? JSONObject(),
      registrationType: provisionalRegistrationType)
  }

  /// - Throws: `.illegalState` if no tokens wait, or if the tokens of another transaction wait.
  package func requireQuestion(_ transactionID: TransactionID) throws(EnrollError) {
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

  /// The transaction that brought the waiting tokens. A record in an older format does not store the id, and
  /// has tokens of only one transaction.
  package var waitingTransactionID: TransactionID {
    provisionalTransactionID ?? pinTransactionID ?? TransactionID("unnamed")
  }
}
