// The PIN of this account (flows.md §9, store.md, PIN): setting it, using it, and asking for it as the last step of a
// registration with another app, whose tokens are shown only after a PIN is set.

public import EnrollCrypto
import EnrollJSON
public import EnrollRules

/// The PIN of the account.
public final class PINStep: StateChangingStep {
  let context: EngineContext
  let machine: StateMachine
  private let conclusion: ConclusionStep

  init(_ context: EngineContext, machine: StateMachine, conclusion: ConclusionStep) {
    self.context = context
    self.machine = machine
    self.conclusion = conclusion
  }

  /// Protects the account with a PIN. If tokens waited for the PIN (step `pin`), they are now shown for confirmation:
  /// the state is `awaitingConfirmation` (G), or `confirmed` (H) if no confirmation is required.
  /// - Throws: `.invalidArgument` for an invalid PIN; `.illegalState` if the account has a PIN, or nothing is stored
  ///   yet; `.unsupported` if the store has no PINs.
  public func setPIN(_ pin: Secret) throws(EnrollError) {
    try PINPolicy.check(pin)
    try context.pins().setPIN(pin, account)
    guard let record = try store.read(account), record.provisional != nil, record.pinTransactionID != nil
    else { return }
    // The PIN stays set even if the registration fails now. The state shows that failure.
    _ = try conclusion.show(
      record.waitingTransactionID, record.provisionalProfile ?? JSONObject(), adopted: nil)
  }

  /// Unlocks the account in this process, or changes or removes its PIN.
  /// - Returns: the result of the PIN. The last wrong try erases the account: the state is then `unregistered` (D).
  /// - Throws: `.invalidArgument` for an invalid PIN; `.illegalState` if the account has no PIN; `.unsupported`.
  public func usePIN(_ pin: Secret, to change: PINChange) throws(EnrollError) -> PINAnswer {
    try PINPolicy.check(pin)
    if case .replace(let new) = change { try PINPolicy.check(new, "newPin") }
    let answer = try context.pins().usePIN(pin, account, to: change)
    if answer.outcome == .erased { try apply(.cleared) }
    return answer
  }
}
