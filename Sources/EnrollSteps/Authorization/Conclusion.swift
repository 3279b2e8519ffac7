// The end of every transaction, whatever its flow. Its answer is accepted once, durably; the code in the answer is
// exchanged; then the tokens are stored, or the transaction has failed.

import EnrollJSON
public import EnrollRules

extension Engine {
  /// How a received URL ended its transaction.
  public struct Settlement: Equatable, Sendable {
    public var transactionID: TransactionID
    public var ending: Ending
    /// The transaction, if it was a silent fallback that found no user signed in at the provider (flows.md §4).
    var silentFallback: TransactionRecord?
    /// The URL at which the same transaction, which is open again, continues in the browser; nil if it is settled.
    public internal(set) var nextURL: String?

    package init(transactionID: TransactionID, ending: Ending) {
      self.transactionID = transactionID
      self.ending = ending
    }

    /// The conclusion of a transaction that continues in the browser.
    /// - Parameter error: why the transaction did not end with tokens. The error is not reported.
    package init(_ transactionID: TransactionID, goesOnAt url: String, after error: EnrollError) {
      self.init(transactionID: transactionID, ending: .failed(error))
      nextURL = url
    }

    public enum Ending: Equatable, Sendable {
      case succeeded(RegistrationState)
      /// The state is F; or, if the user was signed in during the transaction, the state of that session.
      case failed(EnrollError)
    }
  }

  /// Accepts the transaction's answer, exchanges it, and stores the tokens or settles the transaction as failed.
  /// - Parameter goesOn: whether the transaction may continue in the browser instead.
  /// - Throws: `.alreadySettled`, and nothing is exchanged; the exchange's error if nothing was sent; the errors of the
  ///   store.
  func conclude(
    _ transaction: TransactionRecord, goesOn: Bool = false, _ cancellation: (any Cancellation)? = nil,
    _ exchange: () throws(EnrollError) -> Arrival
  ) throws(EnrollError) -> Settlement {
    try beginExchange(of: transaction)
    let arrival: Arrival
    do throws(EnrollError) {
      arrival = try exchange()
    } catch {
      guard !error.isUnsent else { throw try givenBack(transaction, because: error) }
      if goesOn,
        let next = leaveOutOfflineAccess(of: transaction, after: error, cancellation: cancellation)
      {
        return Settlement(transaction.id, goesOnAt: next, after: error)
      }
      let isExplained = error.isAboutScopes && transaction.codeRequest != nil
      return try settle(
        transaction, failed: isExplained ? explained(error, scopes: transaction.scopes) : error)
    }
    if goesOn, let next = askForConsent(of: transaction, insteadOf: arrival, cancellation: cancellation) {
      return Settlement(transaction.id, goesOnAt: next, after: Self.lacksRefreshToken)
    }
    return try keep(arrival, of: transaction)
  }

  /// Concludes the transaction with a token response that has already arrived. If the transaction is settled
  /// by then, the tokens are revoked (R35).
  func conclude(
    _ grant: Grant, with http: HTTPResponse, sent: Moment, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Settlement {
    do throws(EnrollError) {
      try beginExchange(of: grant.transaction)
    } catch {
      revokeTokens(in: http, of: grant)
      throw error
    }
    return try finish(grant.transaction) { () throws(EnrollError) in
      try requireOwn(http)
      return try arrival(in: http, sent: sent, of: grant, cancellation: cancellation)
    }
  }

  /// Concludes the transaction with an answer without tokens.
  /// - Parameter isReported: false if the answer is no failure, and the flow continues.
  func conclude(
    _ transaction: TransactionRecord, failed reason: EnrollError, isReported: Bool = true
  ) throws(EnrollError) -> Settlement {
    try markExchanging(transaction)
    return try settle(transaction, failed: reason, isReported: isReported)
  }

  /// The first half of ``conclude(_:_:)``, for an exchange after which the transaction may be open again.
  func beginExchange(of transaction: TransactionRecord) throws(EnrollError) {
    let identity = try store.identity()
    // A full disk is detected now, before the code is sent: the transaction stays open.
    try store.requireSpace(account)
    memory.withLock { $0.exchangeStore = identity }
    try markExchanging(transaction)
    try apply(.advanced(transactionID: transaction.id, step: .exchanging))
  }

  /// Updates the state after another process began an exchange for this one.
  package func noticeExchange() {
    guard let transactions = try? store.read(account)?.transactions,
      let begun = transactions.last(where: { $0.status == .exchanging })
    else { return }
    _ = try? apply(.advanced(transactionID: begun.id, step: .exchanging))
  }

  /// Updates the state after another process reopened a transaction.
  package func noticeReturn() {
    guard case .authenticating(let id, .exchanging) = state,
      let transaction = try? transaction(id), transaction.isOpen
    else { return }
    _ = try? apply(.advanced(transactionID: id, step: transaction.step))
  }

  /// The second half of ``conclude(_:_:)``.
  func finish(
    _ transaction: TransactionRecord, _ exchange: () throws(EnrollError) -> Arrival
  ) throws(EnrollError) -> Settlement {
    do throws(EnrollError) {
      return try keep(try exchange(), of: transaction)
    } catch {
      guard !error.isUnsent else { throw try givenBack(transaction, because: error) }
      return try settle(transaction, failed: error)
    }
  }

  /// Reopens the transaction after a request that never left this machine: the same answer can be used again.
  func givenBack(
    _ transaction: TransactionRecord, because error: EnrollError
  ) throws(EnrollError) -> EnrollError {
    try store.update(account) { record throws(EnrollError) in
      record.change(transaction.id) { kept in
        if kept.status == .exchanging { kept.status = transaction.status }
      }
    }
    try apply(.advanced(transactionID: transaction.id, step: transaction.step))
    return error
  }

  /// Saved durably before anything else: of two answers at once only one counts, and a code is never sent twice (R7,
  /// R15).
  private func markExchanging(_ transaction: TransactionRecord) throws(EnrollError) {
    try store.update(account) { record throws(EnrollError) in
      let isTaken = record.change(transaction.id) { transaction in
        guard transaction.isOpen else { return false }
        transaction.status = .exchanging
        return true
      }
      guard isTaken ?? false else { throw .settledBefore }
    }
  }

  /// Stores the tokens as provisional, or as confirmed if no confirmation is required. If the transaction was settled
  /// in the meantime, for example by a sign-out, the tokens are revoked and not stored (R35).
  private func keep(_ arrival: Arrival, of transaction: TransactionRecord) throws(EnrollError) -> Settlement {
    let hasGates = configuration.requireVerifiedEmail || configuration.registrationCheckURI != nil
    let asksForPIN = try asksForPIN(transaction)
    let isAdopted = !configuration.requiresConfirmation && !hasGates && !asksForPIN
    var isLate = false
    let unsaved = memory.withLock { $0.unsaved?.tokens }
    let others = usersOfOtherAccounts()
    let record = try update(orRevoke: arrival) { record throws(EnrollError) in
      isLate = !record.isExchanging(transaction.id)
      guard !isLate else { return }
      var replaced = [UnkeptTokens(record.provisional, record.provisionalProfile)]
      record.settle(transaction.id, as: .succeeded)
      record.settleOrigins(of: transaction)
      record.overtakeTransactions()
      record.asksForLogin = false
      record.learnConsent(from: arrival.tokens, of: transaction)
      record.learnClockOffset(arrival.clockOffsetSeconds)
      keepLearned(in: &record)
      // The provisional tokens do not change the session's tokens: a running renewal of the session continues.
      if isAdopted {
        replaced += record.session(unsaved: unsaved)
        record.adopt(
          arrival.tokens, profile: arrival.profile, registrationType: transaction.registrationType)
      } else {
        record.provisional = arrival.tokens
        record.provisionalProfile = arrival.profile
        record.provisionalTransactionID = transaction.id
        record.provisionalRegistrationType = transaction.registrationType
        record.pinTransactionID = asksForPIN ? transaction.id : nil
      }
      revokeUnkept(replaced, beside: others.adding(record, at: clock.moment()))
    }
    guard !isLate else {
      do throws(EnrollError) {
        if let identity = memory.withLock({ $0.exchangeStore }) { try requireSame(store: identity) }
      } catch {
        return Settlement(transactionID: transaction.id, ending: .failed(error.endingAttempt()))
      }
      revokeUnkept([UnkeptTokens(arrival.tokens, arrival.profile)])
      sendOutbox(cancellation: nil)
      return Settlement(transactionID: transaction.id, ending: .failed(Self.signedOutMeanwhile))
    }
    if isAdopted { dropRevocations(of: record.user) }
    if let told = arrival.tokens.grantedLess { warn(told) }
    memory.withLock {
      $0.backoff = nil
      $0.check = .none
    }
    let ending: Settlement.Ending =
      asksForPIN
      ? .succeeded(try apply(.advanced(transactionID: transaction.id, step: .pin)))
      : try show(transaction.id, arrival.profile, adopted: isAdopted ? record : nil)
    return Settlement(transactionID: transaction.id, ending: ending)
  }

  /// Sets the state G; if no confirmation is required, continues with the confirmation.
  /// - Parameter adopted: the record, if the tokens are already the session's.
  func show(
    _ transactionID: TransactionID, _ profile: JSONObject, adopted: AccountRecord?
  ) throws(EnrollError) -> Settlement.Ending {
    var state = try apply(.tokensArrived(transactionID: transactionID, profile: profile))
    guard !configuration.requiresConfirmation else { return .succeeded(state) }
    do throws(EnrollError) {
      if let adopted { state = try confirmed(adopted) } else { state = try confirm(transactionID) }
    } catch {
      // If the tokens were dropped, the state is F. Otherwise they wait in G or E, and the host may confirm later.
      state = self.state
      if state.kind == .registrationFailed { return .failed(error) }
    }
    return .succeeded(state)
  }

  /// - Throws: the errors of the store; the tokens that could not be stored are revoked.
  private func update(
    orRevoke arrival: Arrival, _ change: (inout AccountRecord) throws(EnrollError) -> Void
  ) throws(EnrollError) -> AccountRecord {
    do throws(EnrollError) {
      return try store.update(account, change)
    } catch {
      revokeUnkept([UnkeptTokens(arrival.tokens, arrival.profile)])
      throw error
    }
  }

  private static var signedOutMeanwhile: EnrollError {
    EnrollError(
      .cancelled,
      "the sign-in was abandoned, for example by a sign-out, while its tokens were requested; begin again")
  }

  /// Settles the transaction without tokens: the state becomes F, or the state of the session that existed
  /// before (flows.md §6).
  /// - Parameter isReported: false if the answer is no failure, and the flow continues.
  func settle(
    _ transaction: TransactionRecord, failed reason: EnrollError, isReported: Bool = true
  ) throws(EnrollError) -> Settlement {
    let error = reason.endingAttempt()
    var isLate = false
    let record: AccountRecord
    do throws(EnrollError) {
      record = try store.update(account) { record throws(EnrollError) in
        isLate = !record.isExchanging(transaction.id)
        record.settle(transaction.id, as: .failed)
        keepLearned(in: &record)
      }
    } catch {
      throw error.endingAttempt()
    }
    // A sign-out came first, and has set the state.
    guard !isLate else {
      return Settlement(transactionID: transaction.id, ending: .failed(Self.signedOutMeanwhile))
    }
    if isReported { report(error) }
    if state.kind != .authenticating { try apply(.advanced(transactionID: transaction.id, step: .browser)) }
    if record.hasTokens {
      // A step-up that fails leaves the session as it was (flows.md §6).
      _ = try returnToSession()
    } else {
      try apply(.failed(error))
    }
    return Settlement(transactionID: transaction.id, ending: .failed(error))
  }
}
