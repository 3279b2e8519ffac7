// Brings the schema of a PostgreSQL database to this program's version, in one transaction. An advisory lock lets one
// replica migrate. The other replicas wait, and then find the new schema.

import EnrollGateway

enum PostgreSQLMigration {
  /// The key of the advisory lock: "enrollgw" in ASCII.
  private static let lock: Int64 = 0x656e_726f_6c6c_6777
  /// The timeout of a migration's statements: a migration may take long.
  private static let timeoutMilliseconds: Int64 = 600_000

  /// The newest schema version in the database; 0 if the database has no schema.
  static func version(by connection: PostgreSQLConnection) throws(PostgreSQLError) -> Int64 {
    let tables = try connection.number(
      "SELECT count(*) FROM pg_catalog.pg_class WHERE oid = to_regclass('schema_versions')")
    return tables == 1 ? try connection.number(Migration.versionQuery) : 0
  }

  /// Checks that the database has this program's schema version.
  /// - Throws: `.schema` if the database has another schema version than this program.
  static func check(by connection: PostgreSQLConnection) throws(StoreFailure) {
    let found = try beforeCommit { () throws(PostgreSQLError) in try version(by: connection) }
    guard found == Migration.current else { throw .schema(found: found, expected: Migration.current) }
  }

  /// Applies the versions that the database lacks.
  /// - Returns: the versions that were applied. After an error the connection may still be inside a transaction.
  static func run(by connection: PostgreSQLConnection) throws(StoreFailure) -> [Int64] {
    try beforeCommit { () throws(PostgreSQLError) in
      try connection.execute(
        """
        BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 60000;
        SELECT pg_advisory_xact_lock(\(lock))
        """, timeoutMilliseconds: timeoutMilliseconds)
      try connection.execute(Migration.versionTable)
    }
    let found = try beforeCommit { () throws(PostgreSQLError) in try version(by: connection) }
    let pending = Migration.pending(after: found)
    try beforeCommit { () throws(PostgreSQLError) in
      for migration in pending {
        for statement in migration.postgresql {
          try connection.execute(statement, timeoutMilliseconds: timeoutMilliseconds)
        }
        try connection.execute(
          "INSERT INTO schema_versions VALUES (\(migration.version), extract(epoch FROM now())::bigint)")
      }
    }
    // The outcome is unknown only if the answer to COMMIT is lost.
    do throws(PostgreSQLError) { try connection.execute("COMMIT") } catch { throw error.failure }
    return pending.map(\.version)
  }

  /// Runs a part of the migration that comes before COMMIT. If it fails, nothing in the database was changed.
  private static func beforeCommit<Result>(
    _ body: () throws(PostgreSQLError) -> Result
  ) throws(StoreFailure) -> Result {
    do {
      return try body()
    } catch {
      throw error.withoutChange.failure
    }
  }
}
