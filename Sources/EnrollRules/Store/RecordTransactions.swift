// The transactions in an account's record: found by id, changed, settled, and limited in number.

extension AccountRecord {
  /// Marks the open transactions after another transaction got tokens. Nobody needs to wait for the answers of the
  /// marked transactions, which may never come: a provider may resume the older of two attempts in one browser.
  package mutating func supersedeTransactions() {
    for index in transactions.indices where transactions[index].isOpen {
      transactions[index].isSuperseded = true
    }
  }
}

extension AccountRecord {
  /// - Throws: `.busy` if every stored transaction waits for its answer.
  package mutating func makeRoom(at moment: Moment) throws(EnrollError) {
    guard transactions.count >= AccountRecord.transactionLimit else { return }
    let index =
      transactions.firstIndex { $0.isSettled } ?? transactions.firstIndex { $0.status == .cancelled }
    guard let index else {
      throw EnrollError(
        .busy,
        "\(transactions.count) sign-ins of this account are pending, which is the limit; cancel them (registration.cancel)",
        field: EnrollError.transactionField,
        retryAfterSeconds: transactions.map { $0.deadline.secondsLeft(at: moment) }.min())
    }
    transactions.remove(at: index)
  }
}

extension AccountRecord {
  /// Changes the transaction with this id in place.
  /// - Returns: nil if no transaction has this id.
  @discardableResult
  package mutating func change<Result, Failure: Error>(
    _ id: TransactionID, _ body: (inout TransactionRecord) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard let index = transactions.firstIndex(where: { $0.id == id }) else { return nil }
    return try body(&transactions[index])
  }

  /// Whether the transaction's exchange is in progress, and its answer is still wanted.
  package func isExchanging(_ id: TransactionID) -> Bool { transactions.named(id)?.status == .exchanging }

  /// Settles the transaction.
  package mutating func settle(_ id: TransactionID, as status: TransactionRecord.Status) {
    change(id) { $0.settle(as: status) }
  }
}
