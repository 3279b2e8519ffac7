// How a transaction ended.

public import EnrollRules

/// How a received URL ended its transaction.
public struct Settlement: Equatable, Sendable {
  public var transactionID: TransactionID
  public var ending: Ending
  /// The transaction, if it was a silent sign-in after a fallback link, and no user was signed in at the provider
  /// (flows.md §4).
  var silentFallback: TransactionRecord?
  /// The URL at which the same transaction, which is open again, continues in the browser; nil if it is settled.
  public internal(set) var nextURL: String?

  package init(transactionID: TransactionID, ending: Ending) {
    self.transactionID = transactionID
    self.ending = ending
  }

  /// Describes a transaction that is open again and continues in the browser.
  /// - Parameter error: why the transaction did not end with tokens. The error is not reported.
  package init(_ transactionID: TransactionID, continuingAt url: String, after error: EnrollError) {
    self.init(transactionID: transactionID, ending: .failed(error))
    nextURL = url
  }

  public enum Ending: Equatable, Sendable {
    case succeeded(RegistrationState)
    /// The state is `registrationFailed` (F); or, if the user was signed in during the transaction, the state of the
    /// session.
    case failed(EnrollError)
  }
}
