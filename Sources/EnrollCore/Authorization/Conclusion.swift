// How every transaction ends, whatever its flow: its answer is taken once, durably; what the answer brings is exchanged;
// the tokens are kept, or the transaction has failed.

import EnrollCrypto
import EnrollJSON

extension Engine {
  /// How a URL that came back ended its transaction.
  public struct Settlement: Equatable, Sendable {
    public var transactionID: TransactionID
    public var ending: Ending
    /// The transaction, where it was a fallback that found nobody signed in at the provider (flows.md §4).
    var silentFallback: TransactionRecord?
    /// Where the browser goes on with the same transaction, which is open again; nil where it is settled.
    public internal(set) var nextURL: String?

    package init(transactionID: TransactionID, ending: Ending) {
      self.transactionID = transactionID
      self.ending = ending
    }

    /// A transaction that goes on in the browser.
    /// - Parameter error: why it did not end with tokens; not reported.
    package init(_ transactionID: TransactionID, goesOnAt url: String, after error: EnrollError) {
      self.init(transactionID: transactionID, ending: .failed(error))
      nextURL = url
    }

    public enum Ending: Equatable, Sendable {
      case succeeded(RegistrationState)
      /// The state is F, or the session beside which the transaction ran.
      case failed(EnrollError)
    }
  }

  /// Takes the transaction's answer, exchanges it, and keeps the tokens or settles the transaction as failed.
  /// - Parameter goesOn: whether the transaction may go on in the browser instead.
  /// - Throws: `.alreadySettled`, and nothing is exchanged; store errors.
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
    return try keep(arrival, of: transaction)
  }

  /// The same for a grant whose answer has come already: tokens that come too late are revoked (R35).
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

  /// The same for an answer that brings no tokens.
  /// - Parameter isReported: false where it is no failure, but an answer that the flow goes on from.
  func conclude(
    _ transaction: TransactionRecord, failed reason: EnrollError, isReported: Bool = true
  ) throws(EnrollError) -> Settlement {
    try markExchanging(transaction)
    return try settle(transaction, failed: reason, isReported: isReported)
  }

  /// The first half of ``conclude(_:_:)``, for an exchange that may give the transaction back.
  func beginExchange(of transaction: TransactionRecord) throws(EnrollError) {
    let identity = try store.identity()
    // A full disk shows now, before the code is spent: the transaction waits.
    try store.requireSpace(account)
    memory.withLock { $0.exchangeStore = identity }
    try markExchanging(transaction)
    try apply(.advanced(transactionID: transaction.id, step: .exchanging))
  }

  /// Takes note of an exchange that another process began for this one.
  package func noticeExchange() {
    guard let transactions = try? store.read(account)?.transactions,
      let begun = transactions.last(where: { $0.status == .exchanging })
    else { return }
    _ = try? apply(.advanced(transactionID: begun.id, step: .exchanging))
  }

  /// Takes note of a transaction that another process gave back.
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

  /// The request that spends the transaction's answer never left this machine: the transaction waits, and the same answer may be
  /// tried again.
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

  /// Durably, before anything else happens: of two answers at once one wins, and a code is never sent twice (R7, R15).
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

  /// Tokens into the store, as provisional or, where no confirmation is asked for, confirmed.
  /// Tokens of a transaction that was settled meanwhile, by a sign-out say, are revoked and not stored (R35).
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
      record.learnClockOffset(arrival.clockOffsetSeconds)
      keepNonces(in: &record)
      // Not a change of the session's tokens: a renewal of theirs that is under way goes on.
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

  /// G; and, where the user's word is not asked for, what it would lead to.
  /// - Parameter adopted: the record whose tokens are the session's already.
  func show(
    _ transactionID: TransactionID, _ profile: JSONObject, adopted: AccountRecord?
  ) throws(EnrollError) -> Settlement.Ending {
    var state = try apply(.tokensArrived(transactionID: transactionID, profile: profile))
    guard !configuration.requiresConfirmation else { return .succeeded(state) }
    do throws(EnrollError) {
      if let adopted { state = try confirmed(adopted) } else { state = try confirm(transactionID) }
    } catch {
      // Not taken for good: F. Else the tokens wait in G, or E, and the host may confirm later.
      state = self.state
      if state.kind == .registrationFailed { return .failed(error) }
    }
    return .succeeded(state)
  }

  /// - Throws: store errors: what cannot be kept is revoked.
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

  /// The transaction is over without tokens: the state is F, or the session beside which it ran (flows.md §6).
  /// - Parameter isReported: false where it is no failure, but an answer that the flow goes on from.
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
      }
    } catch {
      throw error.endingAttempt()
    }
    // A sign-out came first, and the state is its business.
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

extension AccountRecord {
  /// Tokens came by another transaction: those that still wait may never hear of an answer (a provider that resumes the
  /// older of two attempts in one browser), and need not.
  fileprivate mutating func overtakeTransactions() {
    for index in transactions.indices where transactions[index].isOpen {
      transactions[index].isOvertaken = true
    }
  }
}
