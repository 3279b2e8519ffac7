// The names of the accounts in a store, for programs that list them.

public import EnrollRules
public import EnrollSteps
import EnrollPosix

extension FileTokenStore {
  /// The names of the accounts, sorted. Each name appears once, although an account may have tokens of
  /// several providers.
  /// - Returns: an empty list if there is no such directory. The directory is not created.
  /// - Throws: as ``existing(path:keys:clock:system:)`` and ``accounts()``.
  public static func accountNames(path: String, keys: KeyPlan) throws(EnrollError) -> [String] {
    var names: [String] = []
    // The list is sorted, so the accounts that have the same name at several providers follow each other.
    for account in try existing(path: path, keys: keys, clock: SystemClock())?.accounts() ?? []
    where !(names.last.map { ASCII.equals($0, account.text) } ?? false) {
      names.append(account.text)
    }
    return names
  }
}
