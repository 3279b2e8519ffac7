// Changes of accounts, each in one transaction. If two changes conflict, PostgreSQL aborts one of the two, and that
// change is then repeated.

public import EnrollRules
public import EnrollGateway

extension SQLStore {
  public func link(
    _ identity: Identity, by proof: RecentSignIn, at now: UnixTime
  ) throws(StoreFailure) -> Linking {
    let identity = try CheckedIdentity(identity)
    let proof = CheckedProof(proof, at: now)
    return try inTransaction { (connection) throws(SQLFailure) in
      try AccountTransaction(connection).link(identity, by: proof, at: now)
    }
  }

  public func unlink(
    _ identity: IdentityKey, by proof: RecentSignIn, at now: UnixTime
  ) throws(StoreFailure) -> Unlinking {
    let proof = CheckedProof(proof, at: now)
    guard let key = CheckedKey(identity) else { return .unknown }
    let unlinking = try inTransaction { (connection) throws(SQLFailure) in
      try AccountTransaction(connection).unlink(key, by: proof)
    }
    if case .unlinked(let count, _) = unlinking { observer.ended(count, .disconnected) }
    return unlinking
  }

  public func merge(
    _ other: AccountID, provenBy identity: IdentityKey, by proof: RecentSignIn, at now: UnixTime
  ) throws(StoreFailure) -> Merging {
    let proof = CheckedProof(proof, at: now)
    guard let key = CheckedKey(identity) else { return .gone }
    let merging = try inTransaction { (connection) throws(SQLFailure) in
      try AccountTransaction(connection).merge(other, provenBy: key, by: proof)
    }
    if case .merged(let count) = merging { observer.ended(count, .merged) }
    return merging
  }

  public func deleteAccount(
    _ id: AccountID, by proof: RecentSignIn?, at now: UnixTime
  ) throws(StoreFailure) -> DeletedAccount? {
    let proof = proof.map { CheckedProof($0, at: now) }
    let deleted = try inTransaction { (connection) throws(SQLFailure) in
      try AccountTransaction(connection).deleteAccount(id, by: proof, at: now)
    }
    observer.ended(deleted?.endedSessions ?? 0, .deleted)
    return deleted
  }

  public func account(of identity: IdentityKey) throws(StoreFailure) -> AccountID? {
    guard let key = CheckedKey(identity) else { return nil }
    return try reading { (connection) throws(SQLFailure) in
      try connection.first(.accountOfIdentity, key.values) { $0.id(0) }
    }
  }

  public func endSessions(
    ofIdentity identity: IdentityKey, providerSession: String?, begunUntil end: UnixTime, at now: UnixTime
  ) throws(StoreFailure) -> Int {
    guard let key = CheckedKey(identity), !(providerSession?.utf8.contains(0) ?? false) else { return 0 }
    let count = try inTransaction { (connection) throws(SQLFailure) in
      try AccountTransaction(connection).endSessions(
        ofIdentity: key, providerSession: providerSession, begunUntil: end, at: now)
    }
    observer.ended(count, .provider)
    return count
  }

  public func end(_ logout: ProviderLogout, at now: UnixTime) throws(StoreFailure) -> Int? {
    let checked = try CheckedLogout(logout)
    let count = try inTransaction { (connection) throws(SQLFailure) in
      try AccountTransaction(connection).end(checked, at: now)
    }
    observer.ended(count ?? 0, .provider)
    return count
  }

  public func deleteData(
    _ deletion: ProviderDeletion, at now: UnixTime
  ) throws(StoreFailure) -> DataDeletionResult {
    let checked = try CheckedDeletion(deletion)
    let result = try inTransaction { (connection) throws(SQLFailure) in
      try AccountTransaction(connection).deleteData(checked, at: now)
    }
    observer.deletedData(result)
    return result
  }

  public func isDataDeleted(hash: [UInt8], at now: UnixTime) throws(StoreFailure) -> Bool {
    try reading { (connection) throws(SQLFailure) in
      try connection.first(.isSpent, [.bytes(hash), .integer(now.seconds)]) { $0.integer(0) } != nil
    }
  }

  public func keepToken(_ sealed: String, of identity: IdentityKey) throws(StoreFailure) {
    guard let key = CheckedKey(identity) else { return }
    let values = key.values + [try StoredText.exact(sealed, "The sealed token")]
    try changing(.repeatable) { (connection) throws(SQLFailure) in
      _ = try connection.change(.keepToken, values)
    }
  }
}
