// Ends the transactions of all flows. The transaction's answer is accepted once, durably, and its code is exchanged.
// Then the tokens are stored, or the transaction has failed.

import EnrollJSON
import EnrollRules

/// Ends transactions.
final class ConclusionStep: StateChangingStep {
  let context: EngineContext
  let machine: StateMachine
  private let renewals: RenewalProgress
  private let unsaved: UnsavedRenewal
  private let checkProgress: CheckProgress
  private let requests: ClientRequests
  private let backEnd: BackEndStep
  private let outbox: OutboxStep
  private let revocations: RevocationStep
  private let renewedTokens: RenewedTokensStep
  private let registration: RegistrationStep
  private let authorization: AuthorizationStep
  private let grants: GrantStep

  /// The value that ``TokenStore/identity()`` of the store had when the last exchange began.
  private let exchangeStore: Guarded<String?>

  init(
    _ context: EngineContext, machine: StateMachine, renewals: RenewalProgress, unsaved: UnsavedRenewal,
    checkProgress: CheckProgress, requests: ClientRequests, backEnd: BackEndStep, outbox: OutboxStep,
    revocations: RevocationStep, renewedTokens: RenewedTokensStep, registration: RegistrationStep,
    authorization: AuthorizationStep, grants: GrantStep, lock: any Lock
  ) {
    exchangeStore = Guarded(nil, by: lock)
    self.context = context
    self.machine = machine
    self.renewals = renewals
    self.unsaved = unsaved
    self.checkProgress = checkProgress
    self.requests = requests
    self.backEnd = backEnd
    self.outbox = outbox
    self.revocations = revocations
    self.renewedTokens = renewedTokens
    self.registration = registration
    self.authorization = authorization
    self.grants = grants
  }

  /// Accepts the transaction's answer, exchanges it, and stores the tokens or settles the transaction as failed.
  /// - Parameter mayContinueInBrowser: whether the transaction may continue in the browser instead of ending: with
  ///   another authorize request, which is without `offline_access` or has `prompt=consent`.
  /// - Throws: `.alreadySettled`, in which case nothing was exchanged; the exchange's error if nothing was sent; the
  ///   errors of the store.
  func conclude(
    _ transaction: TransactionRecord, mayContinueInBrowser: Bool = false,
    _ cancellation: (any Cancellation)? = nil,
    _ exchange: () throws(EnrollError) -> ReceivedTokens
  ) throws(EnrollError) -> Settlement {
    try beginExchange(of: transaction)
    let received: ReceivedTokens
    do throws(EnrollError) {
      received = try exchange()
    } catch {
      guard !error.isUnsent else { throw try givenBack(transaction, because: error) }
      if mayContinueInBrowser,
        let next = authorization.leaveOutOfflineAccess(
          of: transaction, after: error, cancellation: cancellation)
      {
        return Settlement(transaction.id, continuingAt: next, after: error)
      }
      let isExplained = error.isAboutScopes && transaction.codeRequest != nil
      return try settle(
        transaction, failed: isExplained ? authorization.explained(error, scopes: transaction.scopes) : error)
    }
    if mayContinueInBrowser,
      let next = authorization.askForConsent(of: transaction, insteadOf: received, cancellation: cancellation)
    {
      return Settlement(transaction.id, continuingAt: next, after: AuthorizationStep.lacksRefreshToken)
    }
    return try keep(received, of: transaction)
  }

  /// Concludes the transaction with a token response that has already arrived. If the transaction has been settled in
  /// the meantime, the tokens are revoked (R35).
  func conclude(
    _ grant: Grant, with http: HTTPResponse, sent: Moment, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Settlement {
    do throws(EnrollError) {
      try beginExchange(of: grant.transaction)
    } catch {
      revocations.revokeTokens(in: http, of: grant)
      throw error
    }
    return try finish(grant.transaction) { () throws(EnrollError) in
      try context.requireOwn(http)
      return try grants.received(in: http, sent: sent, of: grant, cancellation: cancellation)
    }
  }

  /// Concludes the transaction with an answer that has no tokens.
  /// - Parameter isReported: false if the answer is no failure, and the flow continues.
  func conclude(
    _ transaction: TransactionRecord, failed reason: EnrollError, isReported: Bool = true
  ) throws(EnrollError) -> Settlement {
    try markExchanging(transaction)
    return try settle(transaction, failed: reason, isReported: isReported)
  }

  /// The first half of ``conclude(_:_:)``. It is called alone before an exchange after which the transaction may be
  /// open again.
  func beginExchange(of transaction: TransactionRecord) throws(EnrollError) {
    let identity = try store.identity()
    // A full disk is detected here, before the code is sent, so that the transaction stays open.
    try store.requireSpace(account)
    exchangeStore.withLock { $0 = identity }
    try markExchanging(transaction)
    try apply(.advanced(transactionID: transaction.id, step: .exchanging))
  }

  /// The second half of ``conclude(_:_:)``.
  func finish(
    _ transaction: TransactionRecord, _ exchange: () throws(EnrollError) -> ReceivedTokens
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

  /// Marks the transaction as being exchanged. This is saved durably before the exchange: if two answers arrive at the
  /// same time, only one is accepted, and a code is never sent twice (R7, R15).
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
  private func keep(_ received: ReceivedTokens, of transaction: TransactionRecord) throws(EnrollError)
    -> Settlement
  {
    let hasGates = configuration.requireVerifiedEmail || configuration.registrationCheckURI != nil
    let asksForPIN = try context.asksForPIN(transaction)
    let isAdopted = !configuration.requiresConfirmation && !hasGates && !asksForPIN
    var isLate = false
    let unsavedTokens = unsaved.renewed?.tokens
    let before = try store.read(account) ?? AccountRecord()
    let others = context.usersOfOtherAccounts(
      dropping: [UnkeptTokens(before.provisional, before.provisionalProfile)]
        + (isAdopted ? before.session(unsaved: unsavedTokens) : []),
      keeping: SignedInUsers(of: UnkeptTokens(received.tokens, received.profile)))
    let record = try update(orRevoke: received) { record throws(EnrollError) in
      isLate = !record.isExchanging(transaction.id)
      guard !isLate else { return }
      var replaced = [UnkeptTokens(record.provisional, record.provisionalProfile)]
      record.settle(transaction.id, as: .succeeded)
      record.settleOrigins(of: transaction)
      record.supersedeTransactions()
      record.asksForLogin = false
      record.learnConsent(from: received.tokens, of: transaction)
      record.learnClockOffset(received.clockOffsetSeconds)
      requests.keepLearned(in: &record)
      // Provisional tokens do not change the session's tokens, so a running renewal of the session continues.
      if isAdopted {
        replaced += record.session(unsaved: unsavedTokens)
        record.adopt(
          received.tokens, profile: received.profile, registrationType: transaction.registrationType)
      } else {
        record.provisional = received.tokens
        record.provisionalProfile = received.profile
        record.provisionalTransactionID = transaction.id
        record.provisionalRegistrationType = transaction.registrationType
        record.pinTransactionID = asksForPIN ? transaction.id : nil
      }
      revocations.revokeUnkept(replaced, beside: others.adding(record, at: clock.moment()))
    }
    guard !isLate else {
      do throws(EnrollError) {
        if let identity = exchangeStore.withLock({ $0 }) { try renewedTokens.requireSame(store: identity) }
      } catch {
        return Settlement(transactionID: transaction.id, ending: .failed(error.endingAttempt()))
      }
      revocations.revokeUnkept([UnkeptTokens(received.tokens, received.profile)])
      outbox.sendOutbox(cancellation: nil)
      return Settlement(transactionID: transaction.id, ending: .failed(Self.signedOutMeanwhile))
    }
    if isAdopted { revocations.dropRevocations(of: record.user) }
    if let told = received.tokens.grantedLess { warn(told) }
    renewals.endBackoff()
    checkProgress.forget()
    let ending: Settlement.Ending =
      asksForPIN
      ? .succeeded(try apply(.advanced(transactionID: transaction.id, step: .pin)))
      : try show(transaction.id, received.profile, adopted: isAdopted ? record : nil)
    return Settlement(transactionID: transaction.id, ending: ending)
  }

  /// Sets the state `awaitingConfirmation` (G); if no confirmation is required, continues with the confirmation.
  /// - Parameter adopted: the record, if the tokens are already the session's.
  func show(
    _ transactionID: TransactionID, _ profile: JSONObject, adopted: AccountRecord?
  ) throws(EnrollError) -> Settlement.Ending {
    var state = try apply(.tokensArrived(transactionID: transactionID, profile: profile))
    guard !configuration.requiresConfirmation else { return .succeeded(state) }
    do throws(EnrollError) {
      if let adopted {
        state = try registration.confirmed(adopted)
      } else {
        state = try registration.confirm(transactionID)
      }
    } catch {
      // If the tokens were dropped, the state is `registrationFailed` (F). Otherwise they wait in
      // `awaitingConfirmation` (G) or `renewalFailed` (E), and the host may confirm later.
      state = self.state
      if state.kind == .registrationFailed { return .failed(error) }
    }
    return .succeeded(state)
  }

  /// Changes the record. If the store fails, the tokens that could not be stored are revoked.
  /// - Throws: the errors of the store.
  private func update(
    orRevoke received: ReceivedTokens, _ change: (inout AccountRecord) throws(EnrollError) -> Void
  ) throws(EnrollError) -> AccountRecord {
    do throws(EnrollError) {
      return try store.update(account, change)
    } catch {
      revocations.revokeUnkept([UnkeptTokens(received.tokens, received.profile)])
      throw error
    }
  }

  private static var signedOutMeanwhile: EnrollError {
    EnrollError(
      .cancelled,
      "the sign-in was abandoned, for example by a sign-out, while its tokens were requested; begin again")
  }

  /// Settles the transaction without tokens: the state becomes `registrationFailed` (F), or the state of the session
  /// that existed before (flows.md §6).
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
        requests.keepLearned(in: &record)
      }
    } catch {
      throw error.endingAttempt()
    }
    // A sign-out has settled the transaction earlier, and has set the state.
    guard !isLate else {
      return Settlement(transactionID: transaction.id, ending: .failed(Self.signedOutMeanwhile))
    }
    if isReported { backEnd.report(error) }
    if state.kind != .authenticating { try apply(.advanced(transactionID: transaction.id, step: .browser)) }
    if record.hasTokens {
      // A step-up that fails leaves the session as it was (flows.md §6).
      _ = try registration.returnToSession()
    } else {
      try apply(.failed(error))
    }
    return Settlement(transactionID: transaction.id, ending: .failed(error))
  }
}
