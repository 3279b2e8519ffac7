// Which tokens may be revoked (R35, RFC 7009 §2.1). At most servers a revocation ends more than its token: the grant of the user for this
// client, the client's session in that browser, or all that the user ever granted to the client. Every sign-in of one user with
// one client may depend on that. So one rule decides for all tokens that EnrollKit does not keep:
//
// | tokens of | while | at a sign-out | at every other change |
// | --- | --- | --- | --- |
// | a user who has no session of this client | | revoked | revoked, once no sign-in is open |
// | a user who has one, or may have one | it lives | revoked when it has ended | not revoked |
// | the same, in the outbox | the user signs in again | not revoked | not revoked |
// | anybody, in an answer to another request or for another client | | | not revoked |
//
// A user whose subject is not known may be any other one. Every account of the store counts that belongs to the same issuer and
// client.

import EnrollCrypto
import EnrollJSON

/// Tokens that leave the store, or never came into it, and their user.
struct UnkeptTokens {
  let tokens: TokenSet
  /// nil where no proven id_token and no profile names a subject.
  let user: String?

  init(_ tokens: TokenSet, user: String?) {
    self.tokens = tokens
    self.user = user
  }

  /// - Returns: nil without tokens.
  init?(_ tokens: TokenSet?, _ profile: JSONObject?) {
    guard let tokens else { return nil }
    self.init(tokens, user: tokens.identity?.subject ?? profile?["sub"]?.string)
  }
}

/// The users who have a session of one client in a store.
struct SignedInUsers {
  private var known: [String] = []
  private var hasUnknown = false
  /// Somebody may be about to have one.
  private(set) var hasOpenSignIn = false

  /// An account whose record cannot be read: damaged, sealed with a PIN, or held by somebody.
  mutating func addUnknown() { hasUnknown = true }

  mutating func add(_ record: AccountRecord, at moment: Moment) {
    if record.sessionEnded == nil { add(UnkeptTokens(record.confirmed, record.profile)) }
    add(UnkeptTokens(record.provisional, record.provisionalProfile))
    if record.transactions.contains(where: { $0.mayBringTokens(at: moment) }) { hasOpenSignIn = true }
  }

  private mutating func add(_ session: UnkeptTokens?) {
    // The session of a back end is no session of this client at the provider.
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
    // Also of an overtaken one: the answer may be under way.
    case .exchanging: return left > -Engine.exchangeSeconds
    case .pending: return !isOvertaken && left > 0
    case .cancelled, .succeeded, .failed: return false
    }
  }
}

extension Engine {
  /// The users of this client in all accounts of the store but this one. Anybody may have a session in one that cannot be read.
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

  /// Queues the revocation of tokens that nobody keeps, where the rule allows it. Those of a record are queued before they leave
  /// it, so that no end of the process loses them: the rule holds the message back as long as they are there.
  /// - Parameter users: those of all accounts, with the record that is about to be stored; nil: as the store has them.
  func revokeUnkept(_ unkept: [UnkeptTokens?], beside users: SignedInUsers? = nil) {
    let unkept = unkept.compactMap { $0 }
    guard !unkept.isEmpty else { return }
    let users = users ?? signedInUsers()
    queue(
      unkept.filter { !users.mayInclude($0.user) }.flatMap { revocations(of: $0.tokens, user: $0.user) })
  }

  /// A session of that user is stored: what waits to be revoked may belong to it.
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

extension AccountName {
  /// Whether both belong to one client of one provider, for whatever resource.
  fileprivate func isOfSameClient(as other: AccountName) -> Bool {
    clientRealm.elementsEqual(other.clientRealm)
  }

  private var clientRealm: Substring.UTF8View { realm.utf8.prefix { $0 != UInt8(ascii: "\n") } }
}
