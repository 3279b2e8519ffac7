// Makes the id of a new transaction.

import EnrollRules

extension TransactionID {
  /// Makes an id of 128 random bits.
  init(from random: any RandomSource) throws(EnrollError) {
    self.init(random: try random.bytes(16))
  }
}
