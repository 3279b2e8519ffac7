// Whether the account has a PIN, and whether its tokens wait for a PIN (flows.md §9; store.md, PIN).

import EnrollRules

extension EngineContext {
  /// The part of the store that protects accounts with PINs.
  /// - Throws: `.unsupported` if the store has no PINs.
  func pins() throws(EnrollError) -> any PINStore {
    guard let pins = store.pins else {
      throw EnrollError(.unsupported, "a store in memory has no PIN; use a store directory", field: "store")
    }
    return pins
  }

  /// Whether the tokens of this transaction are shown only after the user has set a PIN. False if the account already
  /// has a PIN.
  func asksForPIN(_ transaction: TransactionRecord) throws(EnrollError) -> Bool {
    guard case .app2app = transaction.flow, configuration.app2app?.requiresPIN ?? false else {
      return false
    }
    return try pins().isUnlocked(account) == nil
  }

  /// The transaction whose tokens wait for the user to set a PIN.
  func transactionAwaitingPIN(_ record: AccountRecord) throws(EnrollError) -> TransactionID? {
    guard let id = record.pinTransactionID, try pins().isUnlocked(account) == nil else { return nil }
    return id
  }
}
