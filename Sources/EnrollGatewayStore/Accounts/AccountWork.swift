// The changes of accounts, for both databases. Each runs in one transaction. In SQLite that transaction has the only lock to write.
// In PostgreSQL rows are locked in one order, that of a sign-in: identities, then codes, then accounts. A sign-in that comes meanwhile
// waits at the identity, and then finds where it leads, or finds none and makes a new account; none is left without a person.

import EnrollCore
import EnrollGateway

/// A transaction of either database.
protocol SQLTransaction {
  associatedtype Failure: Error
  associatedtype Row: SQLRow

  /// Written behind a query: nobody else changes its rows until the end.
  static var lock: StaticString { get }
  /// Written behind a query: nobody else deletes its rows until the end.
  static var holding: StaticString { get }

  /// - Returns: what `read` makes of each row.
  func rows<Record>(
    of text: String, _ values: [SQLValue], _ read: (Row) -> Record
  ) throws(Failure) -> [Record]

  /// - Returns: how many rows were changed.
  func change(by text: String, _ values: [SQLValue]) throws(Failure) -> Int
}

/// An account and the session that wants a change of it, as both databases take them.
struct CheckedProof {
  let account: [UInt8]
  fileprivate let now: UnixTime
  fileprivate let values: [SQLValue]

  /// nil for an account that cannot exist.
  init?(_ proof: RecentSignIn, at now: UnixTime) {
    guard let account = StoredID.bytes(of: proof.account) else { return nil }
    self.account = account
    self.now = now
    values = [
      .bytes(proof.tokenHash), .bytes(account), .integer(now.seconds), .integer(proof.since.seconds),
    ]
  }
}

/// An identity's key, as both databases take it.
struct CheckedKey {
  let key: IdentityKey
  let values: [SQLValue]

  /// nil for one that no database can hold.
  init?(_ key: IdentityKey) {
    guard !key.provider.utf8.contains(0), !key.subject.utf8.contains(0) else { return nil }
    self.key = key
    values = [.text(key.provider), .text(key.subject)]
  }
}

/// A provider's word, as both databases take it.
struct CheckedLogout {
  fileprivate let logout: ProviderLogout
  fileprivate let identity: CheckedKey?
  fileprivate let once: [SQLValue]

  /// - Throws: `.fault` for what no database can hold.
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

/// A provider's wish that somebody be forgotten, as both databases take it.
struct CheckedDeletion {
  fileprivate let identity: CheckedKey
  fileprivate let once: [SQLValue]

  /// - Throws: `.fault` for what no database can hold.
  init(_ deletion: ProviderDeletion) throws(StoreFailure) {
    guard let identity = CheckedKey(deletion.identity) else {
      throw .fault("A provider's deletion contains a NUL character. The store expects a text without one.")
    }
    self.identity = identity
    once = [.bytes(deletion.hash), .integer(deletion.remembered.seconds)]
  }
}

struct AccountWork<Transaction: SQLTransaction> {
  typealias Failure = Transaction.Failure

  let transaction: Transaction

  /// Another sign-in may delete what stands in the way, between one look and the next.
  private static var mostTries: Int { 3 }

  func link(
    _ identity: CheckedIdentity, by proof: CheckedProof, at now: UnixTime
  ) throws(Failure) -> Linking {
    let account = SQLValue.bytes(proof.account)
    guard try isRecent(proof),
      try !ids("SELECT id FROM accounts WHERE id = $1\(Transaction.holding)", [account]).isEmpty
    else { return .notRecent }
    let values = [
      identity.provider, identity.subject, account, identity.email, identity.isEmailVerified, identity.name,
      .integer(now.seconds),
    ]
    for _ in 0..<Self.mostTries {
      let inserted = try transaction.change(
        by: """
          INSERT INTO identities
            (provider, subject, account, email, email_verified, name, created, last_login)
          VALUES ($1, $2, $3, $4, $5, $6, $7, $7) ON CONFLICT (provider, subject) DO NOTHING
          """, values)
      if inserted == 1 {
        try note(.linked, of: proof.account, identity.provider, at: now)
        return .linked
      }
      let owner = try ids(
        "SELECT account FROM identities WHERE provider = $1 AND subject = $2",
        [identity.provider, identity.subject]
      ).first
      guard let owner else { continue }
      return owner == proof.account ? .already : .other(account: StoredID.text(of: owner))
    }
    return .notRecent
  }

  func unlink(_ identity: CheckedKey, by proof: CheckedProof) throws(Failure) -> Unlinking {
    guard try isRecent(proof) else { return .notRecent }
    let all = try identities(of: [proof.account])
    guard let found = all.first(where: { $0.identity.key == identity.key }) else { return .unknown }
    guard all.count > 1 else { return .last }
    return .unlinked(endedSessions: try remove(found, at: proof.now), token: found.token)
  }

  /// Takes an identity away, with what it began. Its account has another one.
  /// - Returns: how many sessions ended.
  private func remove(_ owned: Owned, at now: UnixTime) throws(Failure) -> Int {
    let key = owned.identity.key
    let values: [SQLValue] = [.bytes(owned.account), .text(key.provider), .text(key.subject)]
    let whose = "WHERE account = $1 AND provider = $2 AND subject = $3"
    _ = try transaction.change(by: "DELETE FROM app_codes \(whose)", values)
    let ended = try transaction.change(by: "DELETE FROM sessions \(whose)", values)
    _ = try transaction.change(by: "DELETE FROM identities \(whose)", values)
    if let token = owned.token { try queue(token, of: owned.account, at: now) }
    try note(.unlinked, of: owned.account, .text(key.provider), at: now)
    return ended
  }

  func merge(
    _ other: [UInt8], provenBy identity: CheckedKey, by proof: CheckedProof
  ) throws(Failure) -> Merging {
    guard try isRecent(proof) else { return .notRecent }
    let all = try identities(of: [proof.account, other])
    let owner = all.first { $0.identity.key == identity.key }?.account
    if owner == proof.account { return .already }
    guard owner == other else { return .gone }
    let (mine, theirs) = (SQLValue.bytes(proof.account), SQLValue.bytes(other))
    try lockCodes(of: theirs)
    let both = try ids(
      "SELECT id FROM accounts WHERE id IN ($1, $2) ORDER BY id\(Transaction.lock)", [mine, theirs])
    guard both.count == 2 else { return .gone }
    _ = try transaction.change(by: "DELETE FROM app_codes WHERE account = $1", [theirs])
    let ended = try transaction.change(by: "DELETE FROM sessions WHERE account = $1", [theirs])
    for text in Self.moves { _ = try transaction.change(by: text, [mine, theirs]) }
    _ = try transaction.change(by: "DELETE FROM accounts WHERE id = $1", [theirs])
    try note(.merged, of: proof.account, .text(StoredID.text(of: other)), at: proof.now)
    return .merged(endedSessions: ended)
  }

  /// What a merge gives to the account that stays; everything else of the other is deleted with it. $1: the account that stays;
  /// $2: the other.
  private static var moves: [String] {
    ["UPDATE identities SET account = $1 WHERE account = $2"]
  }

  func deleteAccount(
    _ account: [UInt8], by proof: CheckedProof?, at now: UnixTime
  ) throws(Failure) -> DeletedAccount? {
    if let proof {
      guard proof.account == account, try isRecent(proof) else { return nil }
    }
    let all = try identities(of: [account])
    try lockCodes(of: .bytes(account))
    let found = try ids(
      "SELECT id FROM accounts WHERE id = $1\(Transaction.lock)", [.bytes(account)])
    guard !found.isEmpty else { return nil }
    for token in all.compactMap(\.token) { try queue(token, of: account, at: now) }
    let ended = try transaction.change(by: "DELETE FROM sessions WHERE account = $1", [.bytes(account)])
    // Everything else of it goes with it.
    _ = try transaction.change(by: "DELETE FROM accounts WHERE id = $1", [.bytes(account)])
    try note(.deleted, of: account, .null, at: now)
    return DeletedAccount(
      identities: all.map(\.identity), tokens: all.compactMap(\.token), endedSessions: ended)
  }

  func endSessions(
    ofIdentity identity: CheckedKey, providerSession: String?, begunUntil end: UnixTime, at now: UnixTime
  ) throws(Failure) -> Int {
    var whose = """
      WHERE account = (SELECT account FROM identities WHERE provider = $1 AND subject = $2)
        AND provider = $1 AND subject = $2
      """
    var values = identity.values
    if let providerSession {
      whose += " AND (provider_session = $3 OR provider_session IS NULL)"
      values.append(.text(providerSession))
    }
    _ = try transaction.change(by: "DELETE FROM app_codes \(whose)", values)
    values.append(.integer(end.seconds))
    return try endByProvider(
      identity.key.provider, "\(whose) AND created <= $\(values.count)", values, at: now)
  }

  /// Ends sessions because their provider says so, with one entry for each account.
  private func endByProvider(
    _ provider: String, _ whose: String, _ values: [SQLValue], at now: UnixTime
  ) throws(Failure) -> Int {
    let accounts = try transaction.rows(
      of: "DELETE FROM sessions \(whose) RETURNING account", values
    ) { $0.bytes(0) }
    for account in Set(accounts) { try note(.providerLogout, of: account, .text(provider), at: now) }
    return accounts.count
  }

  func forget(_ deletion: CheckedDeletion, at now: UnixTime) throws(Failure) -> Forgetting {
    guard try isFirst(deletion.once) else { return .repeated }
    let key = deletion.identity
    // A merge may give the identity to another account, between one look and the next.
    while let owner = try ids(SharedQueries.account, key.values).first {
      guard try identities(of: [owner]).contains(where: { $0.identity.key == key.key }) else { continue }
      try lockCodes(of: .bytes(owner))
      _ = try ids("SELECT id FROM accounts WHERE id = $1\(Transaction.lock)", [.bytes(owner)])
      // From here on nobody gives the account an identity; one that came meanwhile keeps it.
      let before = try identities(of: [owner])
      guard let found = before.first(where: { $0.identity.key == key.key }) else { continue }
      try note(.providerDeletion, of: owner, .text(key.key.provider), at: now)
      let id = StoredID.text(of: owner)
      guard before.count == 1 else {
        let ended = try remove(found, at: now)
        return .identity(account: id, before: before.map(\.identity), endedSessions: ended)
      }
      guard let deleted = try deleteAccount(owner, by: nil, at: now) else { continue }
      return .account(id: id, deleted)
    }
    return .nobody
  }

  func end(_ logout: CheckedLogout, at now: UnixTime) throws(Failure) -> Int? {
    guard try isFirst(logout.once) else { return nil }
    if let identity = logout.identity {
      return try endSessions(
        ofIdentity: identity, providerSession: logout.logout.session, begunUntil: now, at: now)
    }
    guard let session = logout.logout.session else { return 0 }
    let values = [SQLValue.text(logout.logout.provider), .text(session)]
    let whose = "WHERE provider = $1 AND provider_session = $2"
    _ = try transaction.change(by: "DELETE FROM app_codes \(whose)", values)
    return try endByProvider(logout.logout.provider, whose, values, at: now)
  }

  func drop(_ taken: TakenRevocation, of account: [UInt8], at now: UnixTime) throws(Failure) {
    let removed = try transaction.change(by: RevocationQueries.remove, [.integer(taken.id)])
    guard removed == 1 else { return }
    try note(.revocationDropped, .refused, of: account, .text(taken.provider), at: now)
  }

  // MARK: Details

  /// Notes a provider's word, which counts once.
  /// - Parameter values: its hash, and until when it is remembered.
  private func isFirst(_ values: [SQLValue]) throws(Failure) -> Bool {
    try transaction.change(
      by: "INSERT INTO spent (hash, expires) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING", values) == 1
  }

  /// The token waits to be revoked.
  private func queue(_ token: KeptProviderToken, of account: [UInt8], at now: UnixTime) throws(Failure) {
    _ = try transaction.change(
      by: RevocationQueries.insert,
      [
        .text(token.identity.provider), .text(token.sealed), .bytes(account), .integer(now.seconds),
        .integer((now + RevocationTimes.triedSeconds).seconds),
      ])
  }

  /// Writes the audit in the same transaction.
  private func note(
    _ event: AuditEvent, _ outcome: AuditEntry.Outcome = .done, of account: [UInt8], _ detail: SQLValue,
    at now: UnixTime
  ) throws(Failure) {
    _ = try transaction.change(
      by: "INSERT INTO audit (\(AuditRow.columns)) VALUES ($1, $2, $3, $4, $5, $6, $7)",
      [
        .integer(now.seconds), .text(event.rawValue), .text(outcome.rawValue), .bytes(account),
        detail,
      ] + AuditRow.origin(.current))
  }

  private func isRecent(_ proof: CheckedProof) throws(Failure) -> Bool {
    try !transaction.rows(
      of: """
        SELECT created FROM sessions
        WHERE token_hash = $1 AND account = $2 AND expires > $3 AND created >= $4
        """, proof.values, { $0.integer(0) }
    ).isEmpty
  }

  private typealias Owned = (identity: Identity, account: [UInt8], token: KeptProviderToken?)

  /// Every identity of these accounts, locked.
  private func identities(of accounts: [[UInt8]]) throws(Failure) -> [Owned] {
    let places = (1...accounts.count).map { "$\($0)" }.joined(separator: ", ")
    return try transaction.rows(
      of: """
        SELECT provider, subject, email, email_verified, name, account, token FROM identities
        WHERE account IN (\(places)) ORDER BY provider, subject\(Transaction.lock)
        """, accounts.map { .bytes($0) }
    ) { row in
      let identity = Identity(row: row)
      let token = row.textOrNil(6).map { KeptProviderToken(identity: identity.key, sealed: $0) }
      return (identity, row.bytes(5), token)
    }
  }

  /// A code that is being redeemed is redeemed first, or not at all.
  private func lockCodes(of account: SQLValue) throws(Failure) {
    _ = try ids(
      "SELECT code_hash FROM app_codes WHERE account = $1 ORDER BY code_hash\(Transaction.lock)", [account])
  }

  private func ids(_ text: String, _ values: [SQLValue]) throws(Failure) -> [[UInt8]] {
    try transaction.rows(of: text, values) { $0.bytes(0) }
  }
}
