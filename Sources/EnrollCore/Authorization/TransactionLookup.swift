// Finding a transaction by its id. The three ways in which that fails, and their words, are here alone.

extension [TransactionRecord] {
  /// nil when none has that id.
  func named(_ id: TransactionID) -> TransactionRecord? {
    first { $0.id == id }
  }

  /// - Throws: `.notFound`.
  func known(_ id: TransactionID) throws(EnrollError) -> TransactionRecord {
    guard let known = named(id) else { throw .unknownTransaction }
    return known
  }
}

extension AccountRecord {
  /// Changes the transaction of that id in place.
  /// - Returns: nil when none has it.
  @discardableResult
  mutating func change<Result, Failure: Error>(
    _ id: TransactionID, _ body: (inout TransactionRecord) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard let index = transactions.firstIndex(where: { $0.id == id }) else { return nil }
    return try body(&transactions[index])
  }

  /// Whether the answer that is being processed for that transaction is still wanted.
  func isExchanging(_ id: TransactionID) -> Bool { transactions.named(id)?.status == .exchanging }

  /// Settles it, once.
  mutating func settle(_ id: TransactionID, as status: TransactionRecord.Status) {
    change(id) { $0.settle(as: status) }
  }
}

extension Engine {
  /// The transaction as the store has it.
  /// - Throws: `.notFound`, store errors.
  func transaction(_ id: TransactionID) throws(EnrollError) -> TransactionRecord {
    try (store.read(account)?.transactions ?? []).known(id)
  }
}

extension TransactionRecord {
  /// - Throws: `.alreadySettled`, `.transactionExpired`.
  func requireLive(at moment: Moment) throws(EnrollError) {
    guard isOpen else { throw .settledBefore }
    guard isLive(at: moment) else { throw .pastDeadline }
  }
}

extension EnrollError {
  static var unknownTransaction: EnrollError {
    EnrollError(.notFound, "no transaction has this id", field: "transaction")
  }

  static var settledBefore: EnrollError {
    EnrollError(.alreadySettled, "this transaction was settled before")
  }

  static var pastDeadline: EnrollError {
    EnrollError(.transactionExpired, "the transaction's deadline has passed")
  }
}
