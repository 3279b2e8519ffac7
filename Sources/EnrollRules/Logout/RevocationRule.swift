// Which tokens may be revoked (R35, RFC 7009 §2.1). At most servers a revocation ends more than the token: the user's
// grant for this client, the client's session in that browser, or all grants of the user to the client. All sign-ins of
// one user with one client may depend on what the revocation ends. Therefore one rule decides for all tokens that
// EnrollKit does not keep:
//
// | tokens of | while | at a sign-out | at every other change |
// | --- | --- | --- | --- |
// | a user who has no session of this client | | revoked | revoked, once no sign-in is pending |
// | a user who has a session, or may have one | the session lives | revoked once the session has ended | not revoked |
// | such a user, if the tokens wait in the outbox | the user signs in again | not revoked | not revoked |
// | anybody, if the tokens came in an answer to another request or for another client | | | not revoked |
//
// A user whose subject is unknown may be any user. All accounts of the store with the same issuer and client count.

/// The users who have a session of one client in a store.
package struct SignedInUsers {
  private var known: [String] = []
  private var hasUnknown = false
  /// Whether a sign-in is pending, after which another user may have a session.
  package private(set) var hasOpenSignIn = false

  package init() {}

  /// The user of one session; empty without a session.
  package init(of session: UnkeptTokens?) { add(session) }

  /// Adds an account whose record cannot be read: it is damaged, locked by a PIN, or locked by another process.
  package mutating func addUnknown() { hasUnknown = true }

  package mutating func add(_ record: AccountRecord, at moment: Moment) {
    if record.sessionEnded == nil { add(UnkeptTokens(record.confirmed, record.profile)) }
    add(UnkeptTokens(record.provisional, record.provisionalProfile))
    if record.transactions.contains(where: { $0.mayBringTokens(at: moment) }) { hasOpenSignIn = true }
  }

  private mutating func add(_ session: UnkeptTokens?) {
    // A back end's session is not a session of this client at the provider.
    guard let session, session.tokens.source == .issuer else { return }
    if let user = session.user { known.append(user) } else { hasUnknown = true }
  }

  package func adding(_ record: AccountRecord, at moment: Moment) -> SignedInUsers {
    var users = self
    users.add(record, at: moment)
    return users
  }

  /// Whether R35 leaves any of these tokens to be revoked, if these are all signed-in users.
  package func permitRevoking(any tokens: [UnkeptTokens?]) -> Bool {
    tokens.contains { $0.map { !mayInclude($0.user) } ?? false }
  }

  package func mayInclude(_ user: String?) -> Bool {
    guard let user else { return hasUnknown || !known.isEmpty }
    return hasUnknown || known.contains { ASCII.equals($0, user) }
  }
}

extension TransactionRecord {
  /// Whether the answer is being exchanged, or is awaited and no other transaction has brought tokens meanwhile.
  fileprivate func mayBringTokens(at moment: Moment) -> Bool {
    guard kind != .bff, isAwaited(at: moment) else { return false }
    // A superseded transaction that is being exchanged also counts: the answer may be under way.
    return status == .exchanging || !isSuperseded
  }
}
