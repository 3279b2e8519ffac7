// Finds a transaction by its id, and makes the errors for a transaction that is unknown, settled or expired.

extension [TransactionRecord] {
  /// The transaction with this id; nil if there is no such transaction.
  package func named(_ id: TransactionID) -> TransactionRecord? {
    first { $0.id == id }
  }

  /// - Throws: `.notFound`.
  package func known(_ id: TransactionID) throws(EnrollError) -> TransactionRecord {
    guard let known = named(id) else { throw .unknownTransaction }
    return known
  }
}

extension TransactionRecord {
  /// - Throws: `.alreadySettled`, `.transactionExpired`.
  package func requireLive(at moment: Moment) throws(EnrollError) {
    guard isOpen else { throw .settledBefore }
    guard isLive(at: moment) else { throw pastDeadline }
  }
}

extension EnrollError {
  package static var unknownTransaction: EnrollError {
    EnrollError(.notFound, "no transaction has this id", field: "transaction")
  }

  package static var settledBefore: EnrollError {
    EnrollError(.alreadySettled, "this transaction was settled before")
  }

  static var pastDeadline: EnrollError {
    EnrollError(.transactionExpired, "the transaction's deadline has passed")
  }
}

extension TransactionRecord {
  /// The error for a transaction whose deadline has passed. For a device transaction the error contains the provider's
  /// last response.
  package var pastDeadline: EnrollError {
    guard case .device(let device?) = flow, let answer = device.lastAnswer else { return .pastDeadline }
    guard !device.hasLostAnswer else {
      return EnrollError(
        .transactionExpired,
        "the code expired, and the last poll got \(answer). If the code was approved, the tokens are lost: begin the sign-in again, with a new code"
      )
    }
    return EnrollError(
      .transactionExpired,
      "the code was not approved before it expired; the provider's last answer to a poll: \(answer)")
  }

  /// The time by which the user has to finish. A device transaction polls somewhat longer, until the provider says that
  /// the code has expired.
  var shownEnd: UnixTime {
    guard case .device = flow else { return deadline.expiresAt }
    return deadline.expiresAt + -Device.extraSeconds
  }
}
