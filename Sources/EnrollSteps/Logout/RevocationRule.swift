// Which tokens may be revoked (R35, RFC 7009 §2.1). At most servers a revocation ends more than the token: the user's
// grant for this client, the client's session in that browser, or all grants of the user to the client. Every sign-in
// of one user with one client may depend on it. Therefore one rule decides for all tokens that EnrollKit does not keep:
//
// | tokens of | while | at a sign-out | at every other change |
// | --- | --- | --- | --- |
// | a user who has no session of this client | | revoked | revoked, once no sign-in is pending |
// | a user who has one, or may have one | the session lives | revoked when it has ended | not revoked |
// | the same, in the outbox | the user signs in again | not revoked | not revoked |
// | anybody, in an answer to another request or for another client | | | not revoked |
//
// A user whose subject is unknown may be any user. All accounts of the store with the same issuer and client count.

import EnrollRules

/// The users who have a session of one client in a store.
struct SignedInUsers {
  private var known: [String] = []
  private var hasUnknown = false
  /// Whether a sign-in is pending, after which another user may have a session.
  private(set) var hasOpenSignIn = false

  /// Adds an account whose record cannot be read: it is damaged, locked by a PIN, or locked by another process.
  mutating func addUnknown() { hasUnknown = true }

  mutating func add(_ record: AccountRecord, at moment: Moment) {
    if record.sessionEnded == nil { add(UnkeptTokens(record.confirmed, record.profile)) }
    add(UnkeptTokens(record.provisional, record.provisionalProfile))
    if record.transactions.contains(where: { $0.mayBringTokens(at: moment) }) { hasOpenSignIn = true }
  }

  private mutating func add(_ session: UnkeptTokens?) {
    // A back end's session is not a session of this client at the provider.
    guard let session, session.tokens.source == .issuer else { return }
    if let user = session.user { known.append(user) } else { hasUnknown = true }
  }

  func adding(_ record: AccountRecord, at moment: Moment) -> SignedInUsers {
    var users = self
    users.add(record, at: moment)
    return users
  }

  func mayInclude(_ user: String?) -> Bool {
    guard let user else { return hasUnknown || !known.isEmpty }
    return hasUnknown || known.contains { ASCII.equals($0, user) }
  }
}

extension TransactionRecord {
  /// An answer is awaited or being exchanged, and no other transaction has brought tokens meanwhile.
  fileprivate func mayBringTokens(at moment: Moment) -> Bool {
    guard kind != .bff else { return false }
    let left = deadline.secondsLeft(at: moment)
    switch status {
    // This also holds for an overtaken transaction: the answer may be under way.
    case .exchanging: return left > -TransactionRecord.exchangeSeconds
    case .pending: return !isOvertaken && left > 0
    case .cancelled, .succeeded, .failed: return false
    }
  }
}

extension Engine {
  /// The users of this client in all other accounts of the store. An account that cannot be read may have a session of
  /// any user.
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

  /// Queues the revocation of tokens that nobody keeps, if the rule allows it. Tokens of a record are queued before
  /// they leave the record, so that they are not lost if the process ends: the rule holds the message back while the
  /// record has them.
  /// - Parameter users: the users of all accounts, including the record that is about to be stored; nil: the users in
  ///   the store.
  func revokeUnkept(_ unkept: [UnkeptTokens?], beside users: SignedInUsers? = nil) {
    let unkept = unkept.compactMap { $0 }
    guard !unkept.isEmpty else { return }
    let users = users ?? signedInUsers()
    queue(
      unkept.filter { !users.mayInclude($0.user) }.flatMap { revocations(of: $0.tokens, user: $0.user) })
  }

  /// Removes the waiting revocations for a user whose session was stored: they may belong to that session.
  func dropRevocations(of user: String?) {
    func isOfUser(_ entry: OutboxEntry) -> Bool {
      guard isOurs(entry), case .revocation(let revocation) = entry.message else { return false }
      switch (revocation.user, user) {
      case (nil, nil): return true
      case (let left?, let right?): return ASCII.equals(left, right)
      case (nil, _?), (_?, nil): return false
      }
    }
    memory.withLock { $0.unqueued.removeAll(where: isOfUser) }
    _ = try? store.updateOutbox { outbox throws(EnrollError) in outbox.removeAll(where: isOfUser) }
  }
}
