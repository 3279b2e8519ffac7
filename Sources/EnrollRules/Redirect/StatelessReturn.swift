// Redirects without `state`. Only two flows have such redirects: the flow with another app (flows.md §9), and the flow
// of a BFF with the option ``BFFSettings/dangerouslyAcceptsTokenInRedirect`` (flows.md §10). Such a redirect settles
// only the transaction that the host names, or the only pending transaction of its kind (R6).

extension TransactionRecord {
  /// The transaction to which a URL without `state` belongs, and the part of its flow that waits for the URL.
  /// - Parameters:
  ///   - kind: the kind of the flow.
  ///   - transactionID: the transaction that the host names; nil if the host names no transaction.
  ///   - awaited: returns the part of the flow that waits for the URL; nil for a flow of another kind.
  /// - Throws: `.unsolicited` if not exactly one transaction of this kind is pending, or if the named transaction is of
  ///   another kind; `.notFound` if no transaction has that id.
  package static func answeredWithoutState<Awaited>(
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
