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

  /// The users of this client in all other accounts, for a change that drops tokens from this account's record. The
  /// accounts are read only if the decision about these tokens depends on them, because that takes seconds in a large
  /// store. Otherwise the result is a user who is unknown: if the record has changed meanwhile, nothing is revoked.
  /// - Parameters:
  ///   - dropped: the tokens that leave the record.
  ///   - kept: the users of the sessions that the record still has after the change.
  func usersOfOtherAccounts(dropping dropped: [UnkeptTokens?], keeping kept: SignedInUsers) -> SignedInUsers {
    if kept.permitRevoking(any: dropped) { return usersOfOtherAccounts() }
    var users = SignedInUsers()
    users.addUnknown()
    return users
  }

  /// The users of this client in all other accounts, for a change that drops the tokens that wait for confirmation.
  func usersBesideDroppedProvisional() -> SignedInUsers {
    guard var record = try? store.read(account) else { return usersOfOtherAccounts() }
    let dropped = UnkeptTokens(record.provisional, record.provisionalProfile)
    record.dropProvisional()
    return usersOfOtherAccounts(
      dropping: [dropped], keeping: SignedInUsers().adding(record, at: clock.moment()))
  }

  /// The users of this client in all accounts of the store.
  func signedInUsers() -> SignedInUsers {
    let others = usersOfOtherAccounts()
    guard let record = try? store.read(account) else { return others }
    return others.adding(record, at: clock.moment())
  }
}
