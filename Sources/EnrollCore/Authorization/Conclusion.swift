// How every transaction ends, whatever its kind: with tokens that are kept, or with a reason.

import EnrollCrypto
import EnrollJSON

extension Engine {
  /// How a URL that came back ended its transaction.
  public struct Settlement: Equatable, Sendable {
    public var transactionID: String
    public var ending: Ending
    /// The transaction, where it was a fallback that found nobody signed in at the provider (flows.md §4).
    var silentFallback: TransactionRecord?

    public enum Ending: Equatable, Sendable {
      case succeeded(RegistrationState)
      /// The state is F, or the session beside which the transaction ran.
      case failed(EnrollError)
    }
  }

  /// Tokens that a transaction brought, and whom they are about.
  struct Arrival {
    var tokens: TokenSet
    var profile: JSONObject
    var clockOffsetSeconds: Int64?
  }

  /// Marks the transaction as being exchanged, durably, before anything else happens: of two redirects at once one
  /// wins, and a code is never sent twice (R7, R15).
  func markExchanging(_ transaction: TransactionRecord) throws(EnrollError) {
    try store.update(account) { record throws(EnrollError) in
      guard
        let index = record.transactions.firstIndex(where: { ASCII.equals($0.id, transaction.id) }),
        record.transactions[index].isOpen
      else {
        throw EnrollError(.alreadySettled, "another answer, or a sign-out, settled this transaction first")
      }
      record.transactions[index].status = .exchanging
    }
  }

  /// As ``markExchanging(_:)``, for a grant whose answer has come already: the tokens of one that comes too late are
  /// revoked (R35).
  func markExchanging(_ transaction: TransactionRecord, holding http: HTTPResponse) throws(EnrollError) {
    do throws(EnrollError) {
      try markExchanging(transaction)
    } catch {
      revokeTokens(in: http, of: transaction.dpopKey)
      throw error
    }
  }

  /// Tokens into the store, as provisional or, where no confirmation is asked for, confirmed.
  /// Tokens of a transaction that was settled meanwhile, by a sign-out say, are revoked and not stored (R35).
  func keep(_ arrival: Arrival, of transaction: TransactionRecord) throws(EnrollError) -> Settlement {
    let hasGates = configuration.requireVerifiedEmail || configuration.registrationCheckURI != nil
    let asksForPIN = try asksForPIN(transaction)
    let isAdopted = !configuration.requiresConfirmation && !hasGates && !asksForPIN
    var isLate = false
    var replaced = ReplacedTokens()
    let unsaved = memory.withLock { $0.unsaved?.tokens }
    let record = try update(orRevoke: arrival.tokens) { record throws(EnrollError) in
      (isLate, replaced) = (!record.isExchanging(transaction.id), ReplacedTokens())
      guard !isLate else { return }
      record.settle(transaction.id, as: .succeeded)
      record.settleOrigins(of: transaction)
      record.overtakeTransactions()
      record.asksForLogin = false
      record.learnClockOffset(arrival.clockOffsetSeconds)
      replaced.add(record.provisional, record.provisionalProfile)
      // Not a change of the session's tokens: a renewal of theirs that is under way goes on.
      if isAdopted {
        replaced.addSession(of: record, unsaved: unsaved)
        record.adopt(
          arrival.tokens, profile: arrival.profile, registrationType: transaction.registrationType)
      } else {
        record.provisional = arrival.tokens
        record.provisionalProfile = arrival.profile
        record.provisionalRegistrationType = transaction.registrationType
        record.pinTransactionID = asksForPIN ? transaction.id : nil
      }
    }
    guard !isLate else { return discard(arrival, of: transaction) }
    revoke(replaced, by: arrival.tokens, arrival.profile)
    memory.withLock {
      $0.backoff = nil
      $0.check = .none
    }
    let ending: Settlement.Ending =
      asksForPIN
      ? .succeeded(try apply(.advanced(transactionID: transaction.id, step: .pin)))
      : try show(arrival.profile, adopted: isAdopted ? record : nil)
    return Settlement(transactionID: transaction.id, ending: ending)
  }

  /// G; and, where the user's word is not asked for, what it would lead to.
  /// - Parameter adopted: the record whose tokens are the session's already.
  func show(_ profile: JSONObject, adopted: AccountRecord?) throws(EnrollError) -> Settlement.Ending {
    var state = try apply(.tokensArrived(profile: profile))
    guard !configuration.requiresConfirmation else { return .succeeded(state) }
    do throws(EnrollError) {
      if let adopted { state = try confirmed(adopted) } else { state = try confirm() }
    } catch {
      // Not taken for good: F. Else the tokens wait in G, or E, and the host may confirm later.
      state = self.state
      if state.kind == .registrationFailed { return .failed(error) }
    }
    return .succeeded(state)
  }

  /// - Throws: store errors: what cannot be kept is revoked.
  private func update(
    orRevoke tokens: TokenSet, _ change: (inout AccountRecord) throws(EnrollError) -> Void
  ) throws(EnrollError) -> AccountRecord {
    do throws(EnrollError) {
      return try store.update(account, change)
    } catch {
      revokeLater(tokens)
      throw error
    }
  }

  private func discard(_ arrival: Arrival, of transaction: TransactionRecord) -> Settlement {
    revokeLater(arrival.tokens)
    sendOutbox(cancellation: nil)
    return Settlement(transactionID: transaction.id, ending: .failed(Self.signedOutMeanwhile))
  }

  private static var signedOutMeanwhile: EnrollError {
    EnrollError(
      .cancelled,
      "the sign-in was given up, by a sign-out say, while its tokens were on their way; begin again")
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
  /// Whether the answer that is being processed for that transaction is still wanted.
  func isExchanging(_ transactionID: String) -> Bool {
    transactions.contains { ASCII.equals($0.id, transactionID) && $0.status == .exchanging }
  }

  /// Tokens came by another transaction: those that still wait may never hear of an answer (a provider that resumes the
  /// older of two attempts in one browser), and need not.
  fileprivate mutating func overtakeTransactions() {
    for index in transactions.indices where transactions[index].isOpen {
      transactions[index].isOvertaken = true
    }
  }

  /// Settled once: its secrets are gone, only the state stays, to know a second redirect by (R7).
  mutating func settle(_ transactionID: String, as status: TransactionRecord.Status) {
    guard let index = transactions.firstIndex(where: { ASCII.equals($0.id, transactionID) }) else { return }
    transactions[index].status = status
    transactions[index].nonce = Secret([])
    transactions[index].codeVerifier = Secret([])
    transactions[index].dpopKey = nil
    transactions[index].details = transactions[index].details.remains
  }
}

extension TransactionRecord {
  /// The registration type that is stored (flows.md §7, Captured values); nil for the other kinds.
  var registrationType: String? {
    switch kind {
    case .passwordless: "PASSWORDLESS"
    // Whom a back end signs in with is a connection that the user chose.
    case .bff: "SOCIAL"
    case .signIn, .register: isSocial ? "SOCIAL" : nil
    case .app2app, .device: nil
    }
  }
}
