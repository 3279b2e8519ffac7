// The question whether the profile is the user's own (state `awaitingConfirmation`, G), and its answer. Between the
// question and the answer another sign-in can complete: in another window or process, or by another person on this
// device. So an answer belongs to one transaction, and has no effect if the tokens of another transaction wait when the
// answer arrives.

public import EnrollRules

extension RegistrationStep {
  /// The transaction to which the user's answer belongs, if the call does not name it: the only transaction whose
  /// profile this client has shown.
  /// - Throws: `.illegalState` if this client has shown no profile, or several: in both cases it is unclear which
  ///   question the user answered.
  static func only(_ shown: [TransactionID]) throws(EnrollError) -> TransactionID {
    if shown.count == 1 { return shown[0] }
    throw EnrollError(
      .illegalState,
      shown.isEmpty
        ? "no profile was shown to confirm: read the state, and show the profile that waits for confirmation"
        : "several profiles were shown to confirm: name the transaction of the one that the user confirms",
      field: "transaction")
  }

  /// Whether the tokens that wait for confirmation would replace a session that may be another user's.
  public func waitsBesideAnotherUser() throws(EnrollError) -> Bool {
    guard let record = try store.read(account), record.confirmed != nil,
      let waiting = UnkeptTokens(record.provisional, record.provisionalProfile)
    else { return false }
    guard let user = record.user, let arrived = waiting.user else { return true }
    return !ASCII.equals(user, arrived)
  }
}
