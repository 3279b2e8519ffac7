// The changes of accounts, for SQLite and PostgreSQL. Each change runs in one transaction. In SQLite that transaction
// holds the only write lock. In PostgreSQL it locks rows in the same order as a sign-in: identities, then codes, then
// accounts. A concurrent sign-in waits for the identity. It then finds the account that the identity belongs to now, or
// makes a new account if the identity is gone; no account is left without an identity.

import EnrollRules
import EnrollGateway

/// An account and the session that asks for a change of the account, as parameters for SQLite and PostgreSQL.
struct CheckedProof {
  let account: AccountID
  fileprivate let now: UnixTime
  fileprivate let values: [SQLValue]

  init(_ proof: RecentSignIn, at now: UnixTime) {
    account = proof.account
    self.now = now
    values = [
      .bytes(proof.tokenHash), .id(account), .integer(now.seconds), .integer(proof.since.seconds),
    ]
  }
}

/// An identity's key, as parameters for SQLite and PostgreSQL.
struct CheckedKey {
  let key: IdentityKey
  let values: [SQLValue]

  /// Returns nil for a key that contains NUL, because PostgreSQL cannot store NUL.
  init?(_ key: IdentityKey) {
    guard !key.provider.utf8.contains(0), !key.subject.utf8.contains(0) else { return nil }
    self.key = key
    values = [.text(key.provider), .text(key.subject)]
  }
}

/// A provider's request to end sessions, as parameters for SQLite and PostgreSQL.
struct CheckedLogout {
  fileprivate let logout: ProviderLogout
  fileprivate let identity: CheckedKey?
  fileprivate let once: [SQLValue]

  /// - Throws: `.fault` for a text that a database cannot store.
  init(_ logout: ProviderLogout) throws(StoreFailure) {
    for text in [logout.provider, logout.subject ?? "", logout.session ?? ""] {
      _ = try StoredText.exact(text, "A provider's logout")
    }
    self.logout = logout
    identity = logout.subject.flatMap {
      CheckedKey(IdentityKey(provider: logout.provider, subject: $0))
    }
    once = [.bytes(logout.hash), .integer(logout.expires.seconds)]
  }
}

/// A provider's request to delete a user's data, as parameters for SQLite and PostgreSQL.
struct CheckedDeletion {
  fileprivate let identity: CheckedKey
  fileprivate let once: [SQLValue]

  /// - Throws: `.fault` for a text that a database cannot store.
  init(_ deletion: ProviderDeletion) throws(StoreFailure) {
    guard let identity = CheckedKey(deletion.identity) else {
      throw .fault("A provider's deletion contains a NUL character. The store expects a text without one.")
    }
    self.identity = identity
    once = [.bytes(deletion.hash), .integer(deletion.expires.seconds)]
  }
}

struct AccountTransaction {
  /// A connection inside a transaction.
  private let connection: any SQLConnection

  init(_ connection: any SQLConnection) { self.connection = connection }

  private var lock: String { connection.dialect.lock }

  /// How many times `link` is tried: another transaction may delete the conflicting identity between the insert and
  /// the query.
  private static var mostTries: Int { 3 }

  func link(
    _ identity: CheckedIdentity, by proof: CheckedProof, at now: UnixTime
  ) throws(SQLFailure) -> Linking {
    let account = SQLValue.id(proof.account)
    guard try isRecent(proof),
      try !ids("SELECT id FROM accounts WHERE id = $1\(connection.dialect.keyLock)", [account]).isEmpty
    else { return .notRecent }
    let values = [
      identity.provider, identity.subject, account, identity.email, identity.isEmailVerified, identity.name,
      .integer(now.seconds),
    ]
    for _ in 0..<Self.mostTries {
      let inserted = try connection.change(
        by: """
          INSERT INTO identities
            (provider, subject, account, email, email_verified, name, created, last_login)
          VALUES ($1, $2, $3, $4, $5, $6, $7, $7) ON CONFLICT (provider, subject) DO NOTHING
          """, values)
      if inserted == 1 {
        try note(.linked, of: proof.account, identity.providerName, at: now)
        return .linked
      }
      let owner = try connection.first(.accountOfIdentity, [identity.provider, identity.subject]) {
        $0.accountID(0)
      }
      guard let owner else { continue }
      return owner == proof.account ? .already : .other(account: owner)
    }
    return .notRecent
  }

  func unlink(_ identity: CheckedKey, by proof: CheckedProof) throws(SQLFailure) -> Unlinking {
    guard try isRecent(proof) else { return .notRecent }
    let all = try identities(of: [proof.account])
    guard let found = all.first(where: { $0.identity.key == identity.key }) else { return .unknown }
    guard all.count > 1 else { return .last }
    return .unlinked(endedSessions: try remove(found, at: proof.now), token: found.token)
  }

  /// Removes an identity of an account that has other identities, with the sessions and codes that the identity began.
  /// - Returns: how many sessions ended.
  private func remove(_ owned: Owned, at now: UnixTime) throws(SQLFailure) -> Int {
    let key = owned.identity.key
    let values: [SQLValue] = [.id(owned.account), .text(key.provider), .text(key.subject)]
    let whose = "WHERE account = $1 AND provider = $2 AND subject = $3"
    try connection.change(by: "DELETE FROM app_codes \(whose)", values)
    let ended = try connection.change(by: "DELETE FROM sessions \(whose)", values)
    try connection.change(by: "DELETE FROM identities \(whose)", values)
    if let token = owned.token { try queue(token, of: owned.account, at: now) }
    try note(.unlinked, of: owned.account, key.provider, at: now)
    return ended
  }

  func merge(
    _ other: AccountID, provenBy identity: CheckedKey, by proof: CheckedProof
  ) throws(SQLFailure) -> Merging {
    guard try isRecent(proof) else { return .notRecent }
    let all = try identities(of: [proof.account, other])
    let owner = all.first { $0.identity.key == identity.key }?.account
    if owner == proof.account { return .already }
    guard owner == other else { return .gone }
    let (mine, theirs) = (SQLValue.id(proof.account), SQLValue.id(other))
    try lockCodes(of: theirs)
    let both = try ids(
      "SELECT id FROM accounts WHERE id IN ($1, $2) ORDER BY id\(lock)", [mine, theirs])
    guard both.count == 2 else { return .gone }
    try connection.change(by: "DELETE FROM app_codes WHERE account = $1", [theirs])
    let ended = try connection.change(by: "DELETE FROM sessions WHERE account = $1", [theirs])
    for text in Self.moves { try connection.change(by: text, [mine, theirs]) }
    try connection.change(by: "DELETE FROM accounts WHERE id = $1", [theirs])
    try note(.merged, of: proof.account, other.text, at: proof.now)
    return .merged(endedSessions: ended)
  }

  /// The rows that a merge moves to the account that stays; all other rows of the merged account are deleted. $1: the account
  /// that stays; $2: the merged account.
  private static var moves: [String] {
    ["UPDATE identities SET account = $1 WHERE account = $2"]
  }

  func deleteAccount(
    _ account: AccountID, by proof: CheckedProof?, at now: UnixTime
  ) throws(SQLFailure) -> DeletedAccount? {
    if let proof {
      guard proof.account == account, try isRecent(proof) else { return nil }
    }
    let all = try identities(of: [account])
    try lockCodes(of: .id(account))
    let found = try ids(
      "SELECT id FROM accounts WHERE id = $1\(lock)", [.id(account)])
    guard !found.isEmpty else { return nil }
    for token in all.compactMap(\.token) { try queue(token, of: account, at: now) }
    let ended = try connection.change(by: "DELETE FROM sessions WHERE account = $1", [.id(account)])
    // The deletion cascades to the account's other rows.
    try connection.change(by: "DELETE FROM accounts WHERE id = $1", [.id(account)])
    try note(.deleted, of: account, nil, at: now)
    return DeletedAccount(
      identities: all.map(\.identity), tokens: all.compactMap(\.token), endedSessions: ended)
  }

  func endSessions(
    ofIdentity identity: CheckedKey, providerSession: String?, begunUntil end: UnixTime, at now: UnixTime
  ) throws(SQLFailure) -> Int {
    var whose = """
      WHERE account = (SELECT account FROM identities WHERE provider = $1 AND subject = $2)
        AND provider = $1 AND subject = $2
      """
    var values = identity.values
    if let providerSession {
      whose += " AND (provider_session = $3 OR provider_session IS NULL)"
      values.append(.text(providerSession))
    }
    try connection.change(by: "DELETE FROM app_codes \(whose)", values)
    values.append(.integer(end.seconds))
    return try endByProvider(
      identity.key.provider, "\(whose) AND created <= $\(values.count)", values, at: now)
  }

  /// Ends sessions at their provider's request, with one audit entry for each account.
  private func endByProvider(
    _ provider: String, _ whose: String, _ values: [SQLValue], at now: UnixTime
  ) throws(SQLFailure) -> Int {
    let accounts = try connection.rows(
      of: "DELETE FROM sessions \(whose) RETURNING account", values
    ) { $0.accountID(0) }
    for account in Set(accounts) { try note(.providerLogout, of: account, provider, at: now) }
    return accounts.count
  }

  func deleteData(_ deletion: CheckedDeletion, at now: UnixTime) throws(SQLFailure) -> DataDeletionResult {
    guard try isFirst(deletion.once) else { return .repeated }
    let key = deletion.identity
    // A merge may move the identity to another account between the two queries.
    while let owner = try connection.first(.accountOfIdentity, key.values, { $0.accountID(0) }) {
      guard try identities(of: [owner]).contains(where: { $0.identity.key == key.key }) else { continue }
      try lockCodes(of: .id(owner))
      _ = try ids("SELECT id FROM accounts WHERE id = $1\(lock)", [.id(owner)])
      // The account is locked now, so it gets no further identity. If another identity was linked before the lock, the
      // account stays.
      let before = try identities(of: [owner])
      guard let found = before.first(where: { $0.identity.key == key.key }) else { continue }
      try note(.providerDeletion, of: owner, key.key.provider, at: now)
      guard before.count == 1 else {
        let ended = try remove(found, at: now)
        return .identity(account: owner, before: before.map(\.identity), endedSessions: ended)
      }
      guard let deleted = try deleteAccount(owner, by: nil, at: now) else { continue }
      return .account(id: owner, deleted)
    }
    return .nobody
  }

  func end(_ logout: CheckedLogout, at now: UnixTime) throws(SQLFailure) -> Int? {
    guard try isFirst(logout.once) else { return nil }
    if let identity = logout.identity {
      return try endSessions(
        ofIdentity: identity, providerSession: logout.logout.session, begunUntil: now, at: now)
    }
    guard let session = logout.logout.session else { return 0 }
    let values = [SQLValue.text(logout.logout.provider), .text(session)]
    let whose = "WHERE provider = $1 AND provider_session = $2"
    try connection.change(by: "DELETE FROM app_codes \(whose)", values)
    return try endByProvider(logout.logout.provider, whose, values, at: now)
  }

  func drop(_ taken: TakenRevocation, at now: UnixTime) throws(SQLFailure) {
    let removed = try connection.change(.removeRevocation, [.integer(taken.id)])
    guard removed == 1 else { return }
    try note(.revocationDropped, .refused, of: taken.account, taken.provider, at: now)
  }

  // MARK: Details

  /// Records a provider's message, so that it counts only once.
  /// - Parameter values: the hash of the message, and until when it is remembered.
  ///
  /// - Returns: false if the message was recorded before.
  private func isFirst(_ values: [SQLValue]) throws(SQLFailure) -> Bool {
    try connection.change(
      by: "INSERT INTO spent (hash, expires) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING", values) == 1
  }

  /// Queues the token for revocation.
  private func queue(_ token: KeptProviderToken, of account: AccountID, at now: UnixTime) throws(SQLFailure) {
    try connection.change(
      .insertRevocation,
      [
        .text(token.identity.provider), .text(token.sealed), .id(account), .integer(now.seconds),
        .integer((now + RevocationTimes.retrySeconds).seconds),
      ])
  }

  /// Writes an audit entry as a part of this transaction.
  private func note(
    _ event: AuditEvent, _ outcome: AuditEntry.Outcome = .done, of account: AccountID, _ detail: String?,
    at now: UnixTime
  ) throws(SQLFailure) {
    let entry = AuditEntry(at: now, event, outcome, account: account, detail: detail, from: .current)
    try connection.note(entry)
  }

  private func isRecent(_ proof: CheckedProof) throws(SQLFailure) -> Bool {
    try !connection.rows(
      of: """
        SELECT created FROM sessions
        WHERE token_hash = $1 AND account = $2 AND expires > $3 AND created >= $4
        """, proof.values, { $0.integer(0) }
    ).isEmpty
  }

  private typealias Owned = (identity: Identity, account: AccountID, token: KeptProviderToken?)

  /// Locks and returns every identity of these accounts.
  private func identities(of accounts: [AccountID]) throws(SQLFailure) -> [Owned] {
    let places = (1...accounts.count).map { "$\($0)" }.joined(separator: ", ")
    return try connection.rows(
      of: """
        SELECT provider, subject, email, email_verified, name, account, token FROM identities
        WHERE account IN (\(places)) ORDER BY provider, subject\(lock)
        """, accounts.map { .id($0) }
    ) { row in
      let identity = Identity(row: row)
      let token = row.textOrNil(6).map { KeptProviderToken(identity: identity.key, sealed: $0) }
      return (identity, row.accountID(5), token)
    }
  }

  /// Locks the account's codes: a redemption that has begun finishes first, and no further redemption begins.
  private func lockCodes(of account: SQLValue) throws(SQLFailure) {
    _ = try connection.rows(
      of: "SELECT code_hash FROM app_codes WHERE account = $1 ORDER BY code_hash\(lock)", [account]
    ) { _ in }
  }

  private func ids(_ text: String, _ values: [SQLValue]) throws(SQLFailure) -> [AccountID] {
    try connection.rows(of: text, values) { $0.accountID(0) }
  }
}
