// How transactions ended, as far as this process remembers.

import EnrollRules
import EnrollSteps

/// How the last transactions of this process ended, for the callers that wait for them.
struct Settlements: Sendable {
  private var known: [Settlement] = []

  subscript(transactionID: TransactionID) -> Settlement? {
    known.first { $0.transactionID == transactionID }
  }

  mutating func add(_ settlement: Settlement) {
    known.append(settlement)
    if known.count > AccountRecord.transactionLimit { known.removeFirst() }
  }
}
