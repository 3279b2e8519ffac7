// Reads a transaction from the store.

import EnrollRules

extension Engine {
  /// The transaction from the store.
  /// - Throws: `.notFound`; the errors of the store.
  func transaction(_ id: TransactionID) throws(EnrollError) -> TransactionRecord {
    try (store.read(account)?.transactions ?? []).known(id)
  }
}
