// A PIN over this account (flows.md §9, reliability.md PIN).

public import EnrollCrypto

extension Engine {
  /// Guards the account with a PIN.
  /// - Throws: `.invalidArgument` for what is no PIN; `.illegalState` when it has one, or nothing is kept yet;
  ///   `.unsupported` when the store has no PINs.
  public func setPIN(_ pin: Secret) throws(EnrollError) {
    try PINPolicy.check(pin)
    try pins().setPIN(pin, account)
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

  private func pins() throws(EnrollError) -> any PINKeeper {
    guard let pins = store.pins else {
      throw EnrollError(.unsupported, "this store keeps no PINs; a directory does", field: "store")
    }
    return pins
  }
}
