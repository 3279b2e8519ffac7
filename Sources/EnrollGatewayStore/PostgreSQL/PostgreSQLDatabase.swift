// A PostgreSQL server, or several servers of which one accepts writes. It serves one or several gateways.

import EnrollRules
import EnrollGateway

final class PostgreSQLDatabase: SQLDatabase {
  let pool: ConnectionPool<PostgreSQLConnection>
  let observer: (any StoreObserver)?
  /// A connection that is reserved for checks, so that a check does not depend on the load.
  private let probes: ConnectionPool<PostgreSQLConnection>

  /// - Throws: as ``PostgreSQLStore/init(_:connections:statementMilliseconds:waitMilliseconds:observer:)``.
  init(
    _ conninfo: String, connections: Int, statementMilliseconds: Int64, waitMilliseconds: Int64,
    observer: (any StoreObserver)?
  ) throws(StoreFailure) {
    self.observer = observer
    let functions = try PostgreSQLLibrary.functions()
    let string = try ConnectionString(conninfo, by: functions)
    let opener = Opener(functions: functions, string: string, statementMilliseconds: statementMilliseconds)
    func pool(_ name: String, size: Int) -> ConnectionPool<PostgreSQLConnection> {
      ConnectionPool(name, size: size, waitMilliseconds: waitMilliseconds) { () throws(StoreFailure) in
        try opener.open()
      }
    }
    self.pool = pool("the connections to PostgreSQL", size: connections)
    probes = pool("the connection that checks PostgreSQL", size: 1)
  }

  private struct Opener: @unchecked Sendable {
    // Unchecked: the functions never change.
    let functions: PostgreSQLLibrary.Functions
    let string: ConnectionString
    let statementMilliseconds: Int64

    func open() throws(StoreFailure) -> PostgreSQLConnection {
      try PostgreSQLConnection.open(functions, string, statementMilliseconds: statementMilliseconds)
    }
  }

  func check() throws(StoreFailure) {
    let found = try version(by: probes)
    guard found == Migration.current else { throw .schema(found: found, expected: Migration.current) }
    let closed = try attempt(.reading, by: probes) { (connection, _) throws(SQLFailure) in
      try SQLFailure.asking { () throws(PostgreSQLError) in
        try connection.number(Self.tablesWithoutRights)
      }
    }
    guard closed == 0 else {
      throw .full(
        "PostgreSQL does not let this user change \(closed) of the gateway's tables, or they are missing. The store expected SELECT, "
          + "INSERT, UPDATE and DELETE on each of them. Grant what is missing, or restore the tables, then try again."
      )
    }
  }

  /// The number of tables that the database user has no right to read or to change. A missing table counts as well.
  static let tablesWithoutRights =
    "SELECT count(*) FROM unnest(ARRAY[\(tables.map { "'\($0)'" }.joined(separator: ","))]) AS name WHERE ("
    + ["SELECT", "INSERT", "UPDATE", "DELETE"]
    .map { "has_table_privilege(to_regclass(name)::oid, '\($0)')" }.joined(separator: " AND ")
    + ") IS NOT TRUE"

  static let tables = [
    "accounts", "identities", "sessions", "app_codes", "audit", "people", "mail_links", "outbox", "spent",
    "revocations", "limit_counters",
  ]

  /// Checks nothing, because a server reports a full disk itself.
  func checkDiskSpace(at now: UnixTime) throws(StoreFailure) {}

  /// - Parameter other: the pool whose connection is used; nil for the pool that all calls share.
  private func version(by other: ConnectionPool<PostgreSQLConnection>? = nil) throws(StoreFailure) -> Int64 {
    try attempt(.reading, by: other) { (connection, _) throws(SQLFailure) in
      try SQLFailure.asking { () throws(PostgreSQLError) in try PostgreSQLMigration.version(by: connection) }
    }
  }

  func migrate() throws(StoreFailure) -> [Int64] {
    // The early return means that the database user needs no right to create tables if the schema is current.
    guard try version() < Migration.current else { return [] }
    let connection = try acquireLive()
    defer { pool.release(connection) }
    do {
      return try PostgreSQLMigration.run(by: connection)
    } catch {
      // The server rolls back everything that was not committed.
      connection.giveUp()
      throw error
    }
  }

  func close() {
    pool.close()
    probes.close()
  }

  func number(_ query: String) throws(StoreFailure) -> Int64 {
    try attempt(.reading) { (connection, _) throws(SQLFailure) in
      try SQLFailure.asking { () throws(PostgreSQLError) in try connection.number(query) }
    }
  }
}
