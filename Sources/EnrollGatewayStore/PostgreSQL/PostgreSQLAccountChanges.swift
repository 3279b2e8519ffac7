// Changes of accounts in PostgreSQL, each in one transaction. If two of them conflict, the server aborts one, which is then
// repeated.

public import EnrollRules
public import EnrollGateway

/// A connection inside a transaction.
struct PostgreSQLTransaction: SQLTransaction {
  let connection: PostgreSQLConnection

  static let lock: StaticString = " FOR UPDATE"
  static let keyLock: StaticString = " FOR KEY SHARE"

  func rows<Record>(
    of text: String, _ values: [SQLValue], _ read: (PostgreSQLRow) -> Record
  ) throws(PostgreSQLError) -> [Record] {
    let result = try connection.run(text, values)
    return (0..<result.count).map { read(result.row($0)) }
  }

  func change(by text: String, _ values: [SQLValue]) throws(PostgreSQLError) -> Int {
    try connection.run(text, values).changed
  }
}

extension PostgreSQLStore {
  func inTransaction<Result>(
    _ body: (AccountTransaction<PostgreSQLTransaction>) throws(PostgreSQLError) -> Result
  ) throws(StoreFailure) -> Result {
    try perform(.once) { (connection, _) throws(PostgreSQLError) in
      try connection.transaction { () throws(PostgreSQLError) in
        try body(AccountTransaction(transaction: PostgreSQLTransaction(connection: connection)))
      }
    }
  }

  public func link(
    _ identity: Identity, by proof: RecentSignIn, at now: UnixTime
  ) throws(StoreFailure) -> Linking {
    let identity = try CheckedIdentity(identity)
    guard let proof = CheckedProof(proof, at: now) else { return .notRecent }
    return try inTransaction { (transaction) throws(PostgreSQLError) in
      try transaction.link(identity, by: proof, at: now)
    }
  }

  public func unlink(
    _ identity: IdentityKey, by proof: RecentSignIn, at now: UnixTime
  ) throws(StoreFailure) -> Unlinking {
    guard let proof = CheckedProof(proof, at: now) else { return .notRecent }
    guard let key = CheckedKey(identity) else { return .unknown }
    let unlinking = try inTransaction { (transaction) throws(PostgreSQLError) in
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
    let merging = try inTransaction { (transaction) throws(PostgreSQLError) in
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
    let deleted = try inTransaction { (transaction) throws(PostgreSQLError) in
      try transaction.deleteAccount(account, by: checked, at: now)
    }
    observer.ended(deleted?.endedSessions ?? 0, .deleted)
    return deleted
  }

  public func account(of identity: IdentityKey) throws(StoreFailure) -> String? {
    guard let key = CheckedKey(identity) else { return nil }
    return try perform(.reading) { (connection, _) throws(PostgreSQLError) in
      let found = try connection.run(SharedQueries.account, key.values)
      return found.count > 0 ? StoredID.text(of: found.row(0).bytes(0)) : nil
    }
  }

  public func endSessions(
    ofIdentity identity: IdentityKey, providerSession: String?, begunUntil end: UnixTime, at now: UnixTime
  ) throws(StoreFailure) -> Int {
    guard let key = CheckedKey(identity), !(providerSession?.utf8.contains(0) ?? false) else { return 0 }
    let count = try inTransaction { (transaction) throws(PostgreSQLError) in
      try transaction.endSessions(
        ofIdentity: key, providerSession: providerSession, begunUntil: end, at: now)
    }
    observer.ended(count, .provider)
    return count
  }

  public func end(_ logout: ProviderLogout, at now: UnixTime) throws(StoreFailure) -> Int? {
    let checked = try CheckedLogout(logout)
    let count = try inTransaction { (transaction) throws(PostgreSQLError) in
      try transaction.end(checked, at: now)
    }
    observer.ended(count ?? 0, .provider)
    return count
  }

  public func deleteData(
    _ deletion: ProviderDeletion, at now: UnixTime
  ) throws(StoreFailure) -> DataDeletionResult {
    let checked = try CheckedDeletion(deletion)
    let result = try inTransaction { (transaction) throws(PostgreSQLError) in
      try transaction.deleteData(checked, at: now)
    }
    observer.deletedData(result)
    return result
  }

  public func isDataDeleted(hash: [UInt8], at now: UnixTime) throws(StoreFailure) -> Bool {
    try perform(.reading) { (connection, _) throws(PostgreSQLError) in
      try connection.run(SharedQueries.isSpent, [.bytes(hash), .integer(now.seconds)]).count > 0
    }
  }

  public func keepToken(_ sealed: String, of identity: IdentityKey) throws(StoreFailure) {
    guard let key = CheckedKey(identity) else { return }
    let values = key.values + [try StoredText.exact(sealed, "The sealed token")]
    try perform(.repeatable) { (connection, _) throws(PostgreSQLError) in
      _ = try connection.run(SharedQueries.keepToken, values)
    }
  }
}
