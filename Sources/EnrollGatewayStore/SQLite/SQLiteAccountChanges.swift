// Changes of accounts in SQLite, each in one transaction that takes the write lock at its start.

public import EnrollRules
public import EnrollGateway

/// A connection inside a transaction.
struct SQLiteTransaction: SQLTransaction {
  let connection: SQLiteConnection

  static let lock: StaticString = ""
  static let keyLock: StaticString = ""

  func rows<Record>(
    of text: String, _ values: [SQLValue], _ read: (SQLiteRow) -> Record
  ) throws(StoreFailure) -> [Record] { try connection.collect(text, values, read) }

  func change(by text: String, _ values: [SQLValue]) throws(StoreFailure) -> Int {
    _ = try connection.collect(text, values) { _ in }
    return connection.changed
  }
}

extension SQLiteStore {
  func inTransaction<Result>(
    _ body: (AccountTransaction<SQLiteTransaction>) throws(StoreFailure) -> Result
  ) throws(StoreFailure) -> Result {
    try changing { (connection) throws(StoreFailure) in
      try body(AccountTransaction(transaction: SQLiteTransaction(connection: connection)))
    }
  }

  public func link(
    _ identity: Identity, by proof: RecentSignIn, at now: UnixTime
  ) throws(StoreFailure) -> Linking {
    let identity = try CheckedIdentity(identity)
    guard let proof = CheckedProof(proof, at: now) else { return .notRecent }
    return try inTransaction { (transaction) throws(StoreFailure) in
      try transaction.link(identity, by: proof, at: now)
    }
  }

  public func unlink(
    _ identity: IdentityKey, by proof: RecentSignIn, at now: UnixTime
  ) throws(StoreFailure) -> Unlinking {
    guard let proof = CheckedProof(proof, at: now) else { return .notRecent }
    guard let key = CheckedKey(identity) else { return .unknown }
    let unlinking = try inTransaction { (transaction) throws(StoreFailure) in
      try transaction.unlink(key, by: proof)
    }
    if case .unlinked(let count, _) = unlinking { observer.ended(count, .disconnected) }
    return unlinking
  }

  public func merge(
    _ other: String, provenBy identity: IdentityKey, by proof: RecentSignIn, at now: UnixTime
  ) throws(StoreFailure) -> Merging {
    guard let proof = CheckedProof(proof, at: now) else { return .notRecent }
    guard let key = CheckedKey(identity), let other = StoredID.bytes(of: other) else { return .gone }
    let merging = try inTransaction { (transaction) throws(StoreFailure) in
      try transaction.merge(other, provenBy: key, by: proof)
    }
    if case .merged(let count) = merging { observer.ended(count, .merged) }
    return merging
  }

  public func deleteAccount(
    _ id: String, by proof: RecentSignIn?, at now: UnixTime
  ) throws(StoreFailure) -> DeletedAccount? {
    let checked = proof.flatMap { CheckedProof($0, at: now) }
    guard let account = StoredID.bytes(of: id), proof == nil || checked != nil else { return nil }
    let deleted = try inTransaction { (transaction) throws(StoreFailure) in
      try transaction.deleteAccount(account, by: checked, at: now)
    }
    observer.ended(deleted?.endedSessions ?? 0, .deleted)
    return deleted
  }

  public func account(of identity: IdentityKey) throws(StoreFailure) -> String? {
    guard let key = CheckedKey(identity) else { return nil }
    return try reading { (connection) throws(StoreFailure) in
      try connection.collect(SharedQueries.account, key.values) { StoredID.text(of: $0.bytes(0)) }.first
    }
  }

  public func endSessions(
    ofIdentity identity: IdentityKey, providerSession: String?, begunUntil end: UnixTime, at now: UnixTime
  ) throws(StoreFailure) -> Int {
    guard let key = CheckedKey(identity), !(providerSession?.utf8.contains(0) ?? false) else { return 0 }
    let count = try inTransaction { (transaction) throws(StoreFailure) in
      try transaction.endSessions(
        ofIdentity: key, providerSession: providerSession, begunUntil: end, at: now)
    }
    observer.ended(count, .provider)
    return count
  }

  public func end(_ logout: ProviderLogout, at now: UnixTime) throws(StoreFailure) -> Int? {
    let checked = try CheckedLogout(logout)
    let count = try inTransaction { (transaction) throws(StoreFailure) in
      try transaction.end(checked, at: now)
    }
    observer.ended(count ?? 0, .provider)
    return count
  }

  public func deleteData(
    _ deletion: ProviderDeletion, at now: UnixTime
  ) throws(StoreFailure) -> DataDeletionResult {
    let checked = try CheckedDeletion(deletion)
    let result = try inTransaction { (transaction) throws(StoreFailure) in
      try transaction.deleteData(checked, at: now)
    }
    observer.deletedData(result)
    return result
  }

  public func isDataDeleted(hash: [UInt8], at now: UnixTime) throws(StoreFailure) -> Bool {
    try reading { (connection) throws(StoreFailure) in
      try !connection.collect(SharedQueries.isSpent, [.bytes(hash), .integer(now.seconds)]) {
        $0.integer(0)
      }.isEmpty
    }
  }

  public func keepToken(_ sealed: String, of identity: IdentityKey) throws(StoreFailure) {
    guard let key = CheckedKey(identity) else { return }
    let values = key.values + [try StoredText.exact(sealed, "The sealed token")]
    try changing { (connection) throws(StoreFailure) in
      _ = try connection.collect(SharedQueries.keepToken, values) { _ in }
    }
  }
}
