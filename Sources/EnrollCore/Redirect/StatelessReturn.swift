// Returns without `state` exist in two flows only: another app's (flows.md §9), and a back end's behind the alarming switch
// (flows.md §10). They settle only the transaction that the host names, or the sole pending one of their kind (R6).

extension TransactionRecord {
  /// The transaction of that kind which a URL without `state` is about.
  /// - Parameter transactionID: the one that the host names; nil where it names none.
  /// - Throws: `.unsolicited` when none or several are pending, or the named one is of another kind; `.notFound` when no
  ///   transaction has that id.
  static func settled(
    withoutStateBy kind: TransactionKind, named transactionID: String?,
    among transactions: [TransactionRecord],
    at moment: Moment
  ) throws(EnrollError) -> TransactionRecord {
    if let transactionID {
      guard let named = transactions.first(where: { ASCII.equals($0.id, transactionID) }) else {
        throw EnrollError(.notFound, "no transaction has this id", field: "transaction")
      }
      guard named.kind == kind else {
        throw EnrollError(
          .unsolicited, "the URL has no state, and the named transaction is not of kind \(kind.rawValue) (R6)"
        )
      }
      return named
    }
    let pending = transactions.filter {
      $0.kind == kind && $0.isOpen && $0.deadline.secondsLeft(at: moment) > 0
    }
    guard pending.count == 1, let only = pending.first else {
      throw EnrollError(
        .unsolicited,
        "the URL has no state, and \(pending.count) transactions of kind \(kind.rawValue) are pending (R6)")
    }
    return only
  }
}
