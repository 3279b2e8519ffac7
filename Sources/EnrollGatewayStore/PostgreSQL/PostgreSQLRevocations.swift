// The queue of provider tokens to revoke, in PostgreSQL.

public import EnrollRules
public import EnrollGateway

extension PostgreSQLStore {
  public func takeRevocations(
    _ most: Int, leaseSeconds: Int64, at now: UnixTime
  ) throws(StoreFailure) -> [TakenRevocation] {
    let values = RevocationQueries.values(most, leaseSeconds: leaseSeconds, at: now)
    return try perform(.once) { (connection, _) throws(PostgreSQLError) in
      let taken = try connection.run(RevocationQueries.take(" FOR UPDATE SKIP LOCKED"), values)
      return (0..<taken.count).map { TakenRevocation(row: taken.row($0)) }
    }
  }

  public func removeRevocation(_ id: Int64) throws(StoreFailure) {
    try perform(.repeatable) { (connection, _) throws(PostgreSQLError) in
      _ = try connection.run(RevocationQueries.remove, [.integer(id)])
    }
  }

  public func putOffRevocation(_ id: Int64, until due: UnixTime) throws(StoreFailure) {
    try perform(.repeatable) { (connection, _) throws(PostgreSQLError) in
      _ = try connection.run(RevocationQueries.putOff, [.integer(id), .integer(due.seconds)])
    }
  }

  public func dropRevocation(_ taken: TakenRevocation, at now: UnixTime) throws(StoreFailure) {
    let account = try CheckedID.bytes(taken.account, "The account of a token")
    try inTransaction { (transaction) throws(PostgreSQLError) in
      try transaction.drop(taken, of: account, at: now)
    }
  }
}
