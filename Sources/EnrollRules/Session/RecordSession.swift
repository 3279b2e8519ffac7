// The session in an account's record: how it begins, changes and ends.

package import EnrollJSON

extension AccountRecord {
  /// Stores whether consent leads to a refresh token at this provider, as the tokens of a transaction show.
  package mutating func learnConsent(from tokens: TokenSet, of transaction: TransactionRecord) {
    guard transaction.lacksOfflineAccess(tokens) else { return }
    if transaction.canAskForConsent {
      offlineConsent = offlineConsent ?? .needed
    } else if Scopes.contains("consent", in: Scopes.split(transaction.codeRequest?.prompt ?? "")) {
      offlineConsent = .useless
    }
  }
}

extension AccountRecord {
  /// Whether the transaction still decides the state, because its answer is awaited.
  package func isUnderWay(transactionID: TransactionID, at moment: Moment) -> Bool {
    guard let transaction = transactions.named(transactionID) else { return false }
    // If there is a session, the state shows the session and does not wait for an e-mail. A link is still
    // accepted.
    if hasTokens, transaction.isRegistration, transaction.step == .emailPending { return false }
    // If another transaction has brought tokens since this transaction began, the state does not wait for this one.
    if hasTokens, transaction.isSuperseded { return false }
    return transaction.isAwaited(at: moment)
  }

  /// The tokens of the confirmed session.
  /// - Parameter unsaved: the tokens of a renewal of this session that could not be saved.
  package func session(unsaved: TokenSet?) -> [UnkeptTokens?] {
    guard confirmed != nil else { return [] }
    return [UnkeptTokens(confirmed, profile), UnkeptTokens(unsaved, profile)]
  }

  /// The subject of the confirmed session's user; nil if it is unknown.
  package var user: String? { UnkeptTokens(confirmed, profile)?.user }

  /// Makes these tokens and their profile the confirmed session.
  package mutating func adopt(_ tokens: TokenSet, profile: JSONObject?, registrationType: String?) {
    confirmed = tokens
    self.profile = profile
    self.registrationType = registrationType
    dropProvisional()
    sessionEnded = nil
    sessionEndedDescription = nil
    refusal = nil
    backoff = nil
    renewalIntent = nil
    advanceEpoch()
  }

  /// Deletes the tokens that wait for confirmation, and their data.
  package mutating func dropProvisional() {
    provisional = nil
    provisionalProfile = nil
    provisionalTransactionID = nil
    provisionalRegistrationType = nil
    pinTransactionID = nil
  }

  /// Deletes the six values of flows.md §7, and the other data of the session.
  package mutating func eraseSession() {
    confirmed = nil
    profile = nil
    registrationType = nil
    dropProvisional()
    renewalIntent = nil
    refusal = nil
    backoff = nil
    sessionEnded = nil
    sessionEndedDescription = nil
    advanceEpoch()
  }

  /// Settles all open transactions, so that none of them can still end in a sign-in. A running exchange detects that
  /// its transaction was settled (R35).
  package mutating func settleTransactions() {
    for transaction in transactions where !transaction.isSettled { settle(transaction.id, as: .failed) }
  }

  package mutating func dismissOpenTransactions() {
    for index in transactions.indices where transactions[index].status == .pending {
      transactions[index].status = .cancelled
    }
  }
}

extension AccountRecord {
  /// Why only a sign-in can get tokens; nil if the session continues.
  package func sessionOver(at moment: Moment) -> RegistrationState.RenewalFailure? {
    guard let confirmed else { return nil }
    let error =
      sessionEnded.map { EnrollError.sessionEnded($0, sessionEndedDescription) }
      ?? accessRefused.map { EnrollError(.reauthenticate, "the session is over: \($0)") }
    return error.map {
      RegistrationState.RenewalFailure(
        error: $0, remedy: .registerAgain,
        isTokenUsable: confirmed.isUsable(at: moment))
    }
  }
}

extension AccountRecord {
  /// Why the session's own access token is not returned although it has not expired: a resource server
  /// rejected it, and it cannot be renewed. nil in every other case.
  package var accessRefused: String? {
    isAccessRefused && confirmed != nil && confirmed?.refreshToken == nil
      ? "the access token was refused, and the provider gave no refresh token" : nil
  }
}
