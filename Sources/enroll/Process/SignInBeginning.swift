// The beginning of a sign-in. An account can have only a limited number of pending transactions, and killed commands
// may have left so many that no further transaction is possible.

import EnrollRules
import EnrollHost

extension CommandSession {
  /// Begins a sign-in. If too many transactions are pending, they are cancelled first, because the user is now busy
  /// with this sign-in. A cancelled transaction can still complete, if its redirect arrives first.
  func beginSignIn(_ client: Client, _ options: SignInOptions) throws(Failure) -> Transaction {
    do throws(Failure) {
      return try begin(client, options)
    } catch {
      guard let cause = error.error, cause.code == .busy, cause.field == EnrollError.transactionField else {
        throw error
      }
      _ = try cancel(client, nil)
      return try begin(client, options)
    }
  }

  /// Cancels a pending transaction.
  /// - Parameter transactionID: nil for all pending transactions.
  func cancel(_ client: Client, _ transactionID: TransactionID?) throws(Failure) -> RegistrationState {
    try run { _ throws(EnrollError) in try client.cancel(transactionID) }
  }

  private func begin(_ client: Client, _ options: SignInOptions) throws(Failure) -> Transaction {
    let begun = try run(saying: "Asking the provider") { cancellation throws(EnrollError) in
      try client.begin(options, until: client.usualDeadline, cancellation: cancellation)
    }
    // The client is observed only from here on, because an earlier error is reported by the step that fails.
    observe(client)
    return begun
  }
}
