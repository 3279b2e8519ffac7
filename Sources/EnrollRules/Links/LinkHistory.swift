// The links that were used for the transactions of an account (flows.md §3, §4).

extension AccountRecord {
  /// The newest registration that waits for a link and was not cancelled.
  package func linkWait(at moment: Moment) -> TransactionRecord? {
    transactions.last { $0.isRegistration && $0.status == .pending && $0.isLive(at: moment) }
  }

  /// Settles the transactions that led to `transaction`, directly or indirectly: the registration that waited for the
  /// e-mail's link, or the sign-in before the fallback link.
  package mutating func settleOrigins(of transaction: TransactionRecord) {
    var origin = transaction.cause?.origin
    for _ in 0..<AccountRecord.transactionLimit {
      guard let before = origin.flatMap({ transactions.named($0) }), before.isOpen else { return }
      origin = before.cause?.origin
      settle(before.id, as: .succeeded)
    }
  }
}

extension AccountRecord {
  /// Marks a link, by its hash, as used by the transaction.
  /// - Throws: `.alreadySettled` if the link was used in the meantime.
  package mutating func spend(_ hash: String, on transactionID: TransactionID) throws(EnrollError) {
    guard !transactions.contains(where: { $0.hasSpent(hash) }) else {
      throw EnrollError(.alreadySettled, "the link was used before")
    }
    change(transactionID) { $0.spend(hash) }
  }

  /// Marks the fallback link of the transaction as used.
  /// - Throws: `.alreadySettled` if the fallback link was used in the meantime.
  package mutating func fallBack(from transactionID: TransactionID) throws(EnrollError) {
    guard let pending = transactions.named(transactionID), pending.isOpen, pending.hasFallenBack == false
    else {
      throw EnrollError(.alreadySettled, "the fallback link was used before")
    }
    change(transactionID) { $0.fallBack() }
  }

  /// Removes the open sign-ins that earlier links of a registration began, because only the newest link of a
  /// registration may have an open sign-in. So a forged link can replace the sign-in of that registration, but no other
  /// transaction.
  /// - Parameter origin: the registration.
  package mutating func removeOpenSignIns(ofRegistration origin: TransactionID) {
    // Each transaction is stored after the transaction that led to it.
    var chain = [origin]
    for transaction in transactions {
      guard let before = transaction.cause?.origin, chain.contains(before)
      else { continue }
      chain.append(transaction.id)
    }
    let attempts = chain.dropFirst()
    transactions.removeAll { $0.isOpen && attempts.contains($0.id) }
  }
}
