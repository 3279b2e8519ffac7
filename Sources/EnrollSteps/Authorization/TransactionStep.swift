// The transactions of the account. Each is stored before the host knows of it, so that every process can read it (R12).

public import EnrollRules

/// The transactions of the account.
public final class TransactionStep: StateChangingStep {
  let context: EngineContext
  let machine: StateMachine
  private let requests: ClientRequests

  init(_ context: EngineContext, machine: StateMachine, requests: ClientRequests) {
    self.context = context
    self.machine = machine
    self.requests = requests
  }

  /// Stores the transaction before the host knows of it, so that every process that can get the answer knows the
  /// transaction (R12).
  /// - Parameter change: an additional change in the same save; it is made first.
  /// - Throws: `.busy` if the account has its limit of pending transactions.
  func remember(
    _ transaction: TransactionRecord,
    also change: (inout AccountRecord) throws(EnrollError) -> Void = { _ in }
  ) throws(EnrollError) {
    let moment = clock.moment()
    try store.update(account) { record throws(EnrollError) in
      // A transaction whose code is being exchanged is kept longer, because the exchange may end after the
      // transaction's deadline.
      record.transactions.removeAll {
        $0.deadline.secondsLeft(at: moment)
          <= ($0.status == .exchanging ? -TransactionRecord.exchangeSeconds : 0)
      }
      try change(&record)
      requests.keepLearned(in: &record)
      try record.makeRoom(at: moment)
      record.transactions.append(transaction)
    }
    try apply(.begun(transactionID: transaction.id, step: transaction.step))
  }

  /// If the account is at its limit of transactions, settles the transactions whose process has ended, because the
  /// listener for their redirect has ended with the process (R4, R12).
  /// - Parameter isListenedAt: whether a program listens at a loopback redirect URI.
  public func settleAbandoned(unless isListenedAt: (String) -> Bool) throws(EnrollError) {
    let transactions = try store.read(account)?.transactions ?? []
    guard transactions.count >= AccountRecord.transactionLimit else { return }
    let abandoned = transactions.filter { transaction in
      transaction.status == .pending && !transaction.survivesProcess
        && !(transaction.redirectURI.map(isListenedAt) ?? true)
    }
    guard !abandoned.isEmpty else { return }
    try store.update(account) { record throws(EnrollError) in
      for transaction in abandoned { record.settle(transaction.id, as: .failed) }
    }
  }

  /// The transaction from the store.
  /// - Throws: `.notFound`; the errors of the store.
  func transaction(_ id: TransactionID) throws(EnrollError) -> TransactionRecord {
    try (store.read(account)?.transactions ?? []).known(id)
  }

  /// The transaction from the store, with the URL that the host has to open, because the transaction continues in the
  /// browser.
  /// - Throws: `.notFound`; the errors of the store.
  package func transaction(_ id: TransactionID, goingOnAt url: String) throws(EnrollError) -> Transaction {
    Transaction(of: try transaction(id), action: .openURL(url))
  }

  /// The status of a transaction.
  /// - Throws: `.notFound`; `.transactionExpired` if its deadline passed before its redirect arrived, or if its
  ///   exchange can no longer end.
  public func transactionStatus(_ transactionID: TransactionID) throws(EnrollError)
    -> TransactionRecord.Status
  {
    let known = try transaction(transactionID)
    guard !known.isOpen || known.isLive(at: clock.moment()) else { throw known.pastDeadline }
    if known.status == .exchanging,
      known.deadline.secondsLeft(at: clock.moment()) <= -TransactionRecord.exchangeSeconds
    {
      throw Self.exchangeDied
    }
    return known.status
  }

  /// The error of a transaction if the process that accepted its redirect has ended: the tokens are lost, and the code
  /// cannot be used again.
  public static var exchangeDied: EnrollError {
    EnrollError(
      .transactionExpired,
      "the process that took the redirect of this sign-in ended before the tokens were stored; begin the sign-in again"
    )
  }

  /// Whether another transaction ended with tokens while this transaction was open. If so, nobody needs to wait for
  /// this transaction any more.
  public func isSuperseded(_ transactionID: TransactionID) throws(EnrollError) -> Bool {
    try store.read(account)?.transactions.named(transactionID)?.isSuperseded ?? false
  }

  /// Updates the state of this process if a helper process, which runs steps for it, has begun an exchange.
  package func noticeExchange() {
    guard let transactions = try? store.read(account)?.transactions,
      let begun = transactions.last(where: { $0.status == .exchanging })
    else { return }
    _ = try? apply(.advanced(transactionID: begun.id, step: .exchanging))
  }

  /// Updates the state of this process if another process has reopened a transaction.
  package func noticeReturn() {
    guard case .authenticating(let id, .exchanging) = state,
      let transaction = try? transaction(id), transaction.isOpen
    else { return }
    _ = try? apply(.advanced(transactionID: id, step: transaction.step))
  }
}
