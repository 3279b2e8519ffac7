// The schema of a PostgreSQL database, brought to this program's in one transaction. An advisory lock lets one replica do it while
// the others wait, and then find it done.

import EnrollGateway

enum PostgreSQLMigration {
  /// "enrollgw": the advisory lock's name.
  private static let lock: Int64 = 0x656e_726f_6c6c_6777
  /// A migration may take long; so the answer is awaited for long.
  private static let patience: Int64 = 600_000

  /// The newest version in the database; 0 if there is none.
  static func version(by connection: PostgreSQLConnection) throws(PostgreSQLError) -> Int64 {
    let tables = try connection.number(
      "SELECT count(*) FROM pg_catalog.pg_class WHERE oid = to_regclass('schema_versions')")
    return tables == 1 ? try connection.number(Migration.versionQuery) : 0
  }

  /// - Throws: `.schema` if the database has another schema than this program.
  static func check(by connection: PostgreSQLConnection) throws(StoreFailure) {
    let found = try told { () throws(PostgreSQLError) in try version(by: connection) }
    guard found == Migration.current else { throw .schema(found: found, expected: Migration.current) }
  }

  /// - Returns: the versions that were applied. After a failure the connection may be inside a transaction.
  static func run(by connection: PostgreSQLConnection) throws(StoreFailure) -> [Int64] {
    try told { () throws(PostgreSQLError) in
      try connection.execute(
        """
        BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 60000;
        SELECT pg_advisory_xact_lock(\(lock))
        """, timeoutMilliseconds: patience)
      try connection.execute(Migration.versionTable)
    }
    let found = try told { () throws(PostgreSQLError) in try version(by: connection) }
    let pending = Migration.pending(after: found)
    try told { () throws(PostgreSQLError) in
      for migration in pending {
        for statement in migration.postgresql {
          try connection.execute(statement, timeoutMilliseconds: patience)
        }
        try connection.execute(
          "INSERT INTO schema_versions VALUES (\(migration.version), extract(epoch FROM now())::bigint)")
      }
    }
    // Only the loss of this answer leaves a doubt.
    do throws(PostgreSQLError) { try connection.execute("COMMIT") } catch { throw error.failure }
    return pending.map(\.version)
  }

  /// Before COMMIT nothing can have happened.
  private static func told<Result>(
    _ body: () throws(PostgreSQLError) -> Result
  ) throws(StoreFailure) -> Result {
    do {
      return try body()
    } catch {
      throw error.withoutChange.failure
    }
  }
}
