// The users who have a session of this client in the store (RevocationRule.swift).

import EnrollRules

extension EngineContext {
  /// The users of this client in all other accounts of the store. An account that cannot be read counts as an account
  /// that may have a session of any user.
  func usersOfOtherAccounts() -> SignedInUsers {
    let moment = clock.moment()
    var users = SignedInUsers()
    let all: [AccountName]
    do throws(EnrollError) {
      all = try store.accountsWithAttempts()
    } catch {
      users.addUnknown()
      return users
    }
    for other in all where other != account && other.isOfSameClient(as: account) {
      do throws(EnrollError) {
        if let record = try store.read(other) { users.add(record, at: moment) }
      } catch {
        users.addUnknown()
      }
    }
    return users
  }

  /// The users of this client in all accounts of the store.
  func signedInUsers() -> SignedInUsers {
    let others = usersOfOtherAccounts()
    guard let record = try? store.read(account) else { return others }
    return others.adding(record, at: clock.moment())
  }
}
