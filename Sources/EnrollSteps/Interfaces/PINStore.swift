// The interface to a store that protects accounts with PINs.

public import EnrollCrypto
public import EnrollRules

/// A store that can protect an account with a PIN.
public protocol PINStore: AnyObject, Sendable {
  /// Whether this process has unlocked the account; nil if the account has no PIN.
  func isUnlocked(_ account: AccountName) throws(EnrollError) -> Bool?

  /// Seals the account with a separate key, which the PIN opens.
  /// - Throws: `.illegalState` if the account has a PIN, or no record; the errors of the store.
  func setPIN(_ pin: Secret, _ account: AccountName) throws(EnrollError)

  /// Unlocks the account in this process.
  /// - Parameter change: the operation that the right PIN allows.
  /// - Throws: `.illegalState` if the account has no PIN; the errors of the store.
  func usePIN(_ pin: Secret, _ account: AccountName, to change: PINChange) throws(EnrollError) -> PINAnswer
}
