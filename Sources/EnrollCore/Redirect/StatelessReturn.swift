// Returns without `state` exist in two flows only: another app's (flows.md §9), and a BFF's behind the alarming switch
// (flows.md §10). They settle only the transaction that the host names, or the sole pending one of their kind (R6).

extension TransactionRecord {
  /// The transaction which a URL without `state` is about, and what it waits for.
  /// - Parameters:
  ///   - kind: the word for its flow.
  ///   - transactionID: the one that the host names; nil where it names none.
  ///   - awaited: what a flow of that kind waits for; nil for the others.
  /// - Throws: `.unsolicited` when none or several are pending, or the named one is of another kind; `.notFound` when no
  ///   transaction has that id.
  static func answeredWithoutState<Awaited>(
    _ kind: TransactionKind, named transactionID: TransactionID?, among transactions: [TransactionRecord],
    at moment: Moment, _ awaited: (Flow) -> Awaited?
  ) throws(EnrollError) -> (TransactionRecord, Awaited) {
    if let transactionID {
      let named = try transactions.known(transactionID)
      guard let awaited = awaited(named.flow) else {
        throw EnrollError(
          .unsolicited, "the URL has no state, and the named transaction is not of kind \(kind.rawValue)"
        )
      }
      return (named, awaited)
    }
    let pending = transactions.filter { $0.isLive(at: moment) && awaited($0.flow) != nil }
    guard pending.count == 1, let only = pending.first, let awaited = awaited(only.flow) else {
      throw EnrollError(
        .unsolicited,
        "the URL has no state, and \(pending.count) transactions of kind \(kind.rawValue) are pending")
    }
    return (only, awaited)
  }
}
