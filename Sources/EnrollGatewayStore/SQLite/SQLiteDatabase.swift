// One SQLite file, for a gateway on one machine. One connection writes, a few read concurrently. Each change is one
// transaction, which takes the write lock at its start. So nothing that the transaction has read can change before it
// ends.

import EnrollRules
import EnrollGateway

final class SQLiteDatabase: SQLDatabase {
  private let writer: ConnectionPool<SQLiteConnection>
  private let readers: ConnectionPool<SQLiteConnection>
  /// A connection that is reserved for checks, so that a check does not depend on the load.
  private let probes: ConnectionPool<SQLiteConnection>
  private let fileIdentity: SQLiteFile.FileIdentity
  private let observer: (any StoreObserver)?

  /// - Throws: as ``SQLiteStore/init(path:readers:busyMilliseconds:observer:)``.
  init(
    path: String, readers: Int, busyMilliseconds: Int64, observer: (any StoreObserver)?
  ) throws(StoreFailure) {
    try SQLiteFile.prepare(path)
    let busy = Int32(clamping: busyMilliseconds)
    let fileIdentity = try SQLiteFile.FileIdentity(path)
    func pool(_ name: String, size: Int, forWriting: Bool) -> ConnectionPool<SQLiteConnection> {
      ConnectionPool(name, size: size, waitMilliseconds: Int64(busy)) { () throws(StoreFailure) in
        let connection = try SQLiteConnection.open(path, forWriting: forWriting, busyMilliseconds: busy)
        do throws(StoreFailure) {
          try fileIdentity.check()
          guard !connection.hasMoved else { throw SQLiteFault.replaced(path) }
        } catch {
          connection.close()
          throw error
        }
        return connection
      }
    }
    self.fileIdentity = fileIdentity
    self.observer = observer
    writer = pool("the connection that writes to \(path)", size: 1, forWriting: true)
    self.readers = pool("the connections that read \(path)", size: readers, forWriting: false)
    probes = pool("the connection that checks \(path)", size: 1, forWriting: false)
    // Open the file now, so that a problem with it is reported here and not at the first sign-in.
    let first = try writer.acquire()
    fileIdentity.watchLog(of: first.fileName)
    writer.release(first)
  }

  func perform<Result>(
    _ use: SQLUse, _ body: (any SQLConnection, Bool) throws(SQLFailure) -> Result
  ) throws(StoreFailure) -> Result {
    func run(_ connection: SQLiteConnection) throws(StoreFailure) -> Result {
      do throws(SQLFailure) { return try body(connection, false) } catch { throw error.failure }
    }
    guard use != .reading else {
      return try using(readers) { (connection) throws(StoreFailure) in try run(connection) }
    }
    return try changing { (connection) throws(StoreFailure) in try run(connection) }
  }

  func migrate() throws(StoreFailure) -> [Int64] {
    // If the schema is current, the write lock is not needed.
    let found = try using(readers) { (connection) throws(StoreFailure) in try connection.schemaVersion() }
    guard found < Migration.current else { return [] }
    return try changing { (connection) throws(StoreFailure) in
      try connection.execute(Migration.versionTable)
      let pending = Migration.pending(after: try connection.schemaVersion())
      for migration in pending {
        for statement in migration.sqlite { try connection.execute(statement) }
        try connection.execute(
          "INSERT INTO schema_versions VALUES (\(migration.version), \(SQLDialect.sqlite.now))")
      }
      return pending.map(\.version)
    }
  }

  func check() throws(StoreFailure) {
    let found = try using(probes) { (connection) throws(StoreFailure) in try connection.schemaVersion() }
    guard found == Migration.current else { throw .schema(found: found, expected: Migration.current) }
  }

  /// Writes a row that is larger than a database page, so that the write needs free pages.
  private static let writeProbe = """
    INSERT INTO write_probe (id, at, room) VALUES (1, $1, zeroblob(8192))
    ON CONFLICT (id) DO UPDATE SET at = $1, room = zeroblob(8192)
    """

  func checkDiskSpace(at now: UnixTime) throws(StoreFailure) {
    do throws(StoreFailure) {
      try perform(.once) { (connection, _) throws(SQLFailure) in
        _ = try connection.change(by: Self.writeProbe, [.integer(now.seconds)])
      }
    } catch {
      guard case .full = error else { return }
      throw error
    }
  }

  func close() {
    fileIdentity.end()
    for pool in [readers, writer, probes] { pool.close() }
  }

  /// Runs the query on the connection that writes.
  func number(_ query: String) throws(StoreFailure) -> Int64 {
    try using(writer) { (connection) throws(StoreFailure) in
      try connection.first(query) { $0.integer(0) } ?? 0
    }
  }

  // MARK: Connections

  private func using<Result>(
    _ pool: ConnectionPool<SQLiteConnection>, _ body: (SQLiteConnection) throws(StoreFailure) -> Result
  ) throws(StoreFailure) -> Result {
    try observer.measured { () throws(StoreFailure) in
      try fileIdentity.check()
      let connection = try pool.acquire()
      defer { pool.release(connection) }
      return try body(connection)
    }
  }

  /// Runs one transaction.
  private func changing<Result>(
    _ body: (SQLiteConnection) throws(StoreFailure) -> Result
  ) throws(StoreFailure) -> Result {
    try using(writer) { (connection) throws(StoreFailure) in
      try connection.transaction { () throws(StoreFailure) in try body(connection) }
    }
  }
}
