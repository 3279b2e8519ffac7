// A PIN over this account (flows.md §9, store.md, PIN): set, used, and as the last step of a registration with
// another app, whose tokens are shown only behind it.

public import EnrollCrypto
import EnrollJSON

extension Engine {
  /// Guards the account with a PIN. Where tokens waited for it (step `pin`), they are shown then: the state is G or,
  /// without confirmation, H.
  /// - Throws: `.invalidArgument` for what is no PIN; `.illegalState` when it has one, or nothing is kept yet;
  ///   `.unsupported` when the store has no PINs.
  public func setPIN(_ pin: Secret) throws(EnrollError) {
    try PINPolicy.check(pin)
    try pins().setPIN(pin, account)
    guard let record = try store.read(account), record.provisional != nil, record.pinTransactionID != nil
    else { return }
    // The PIN is set, whatever becomes of the registration: the state tells.
    _ = try show(record.waitingTransactionID, record.provisionalProfile ?? JSONObject(), adopted: nil)
  }

  /// Opens the account in this process, or changes its PIN, or takes it away.
  /// - Returns: how the PIN was taken. The last wrong try erases the account: the state is D then.
  /// - Throws: `.invalidArgument` for what is no PIN; `.illegalState` when the account has none; `.unsupported`.
  public func usePIN(_ pin: Secret, to change: PINChange) throws(EnrollError) -> PINAnswer {
    try PINPolicy.check(pin)
    if case .replace(let new) = change { try PINPolicy.check(new, "newPin") }
    let answer = try pins().usePIN(pin, account, to: change)
    if answer.outcome == .erased { try apply(.cleared) }
    return answer
  }

  func pins() throws(EnrollError) -> any PINKeeper {
    guard let pins = store.pins else {
      throw EnrollError(.unsupported, "a store in memory has no PIN; use a store directory", field: "store")
    }
    return pins
  }

  /// Whether tokens of that transaction are shown only once the user has set a PIN: never when there is one.
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
