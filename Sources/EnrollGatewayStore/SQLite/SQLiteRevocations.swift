// The queue of provider tokens to revoke, in SQLite.

public import EnrollRules
public import EnrollGateway

extension SQLiteStore {
  public func takeRevocations(
    _ most: Int, leaseSeconds: Int64, at now: UnixTime
  ) throws(StoreFailure) -> [TakenRevocation] {
    // The queue is almost always empty, and a read detects that without the write lock.
    let values = RevocationQueries.values(most, leaseSeconds: leaseSeconds, at: now)
    let waiting = try reading { (connection) throws(StoreFailure) in
      try connection.collect("SELECT id FROM revocations LIMIT 1", []) { $0.integer(0) }
    }
    guard !waiting.isEmpty else { return [] }
    return try changing { (connection) throws(StoreFailure) in
      try connection.collect(RevocationQueries.take(""), values) { TakenRevocation(row: $0) }
    }
  }

  public func removeRevocation(_ id: Int64) throws(StoreFailure) {
    try changing { (connection) throws(StoreFailure) in
      _ = try connection.collect(RevocationQueries.remove, [.integer(id)]) { _ in }
    }
  }

  public func putOffRevocation(_ id: Int64, until due: UnixTime) throws(StoreFailure) {
    try changing { (connection) throws(StoreFailure) in
      _ = try connection.collect(RevocationQueries.putOff, [.integer(id), .integer(due.seconds)]) { _ in }
    }
  }

  public func dropRevocation(_ taken: TakenRevocation, at now: UnixTime) throws(StoreFailure) {
    let account = try CheckedID.bytes(taken.account, "The account of a token")
    try inTransaction { (transaction) throws(StoreFailure) in
      try transaction.drop(taken, of: account, at: now)
    }
  }
}
