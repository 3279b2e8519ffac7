// One connection to a SQLite file, used by one thread at a time. A change is durable when its call returns, so a power
// cut loses no acknowledged sign-in: the file has a write-ahead log, and synchronous=FULL.

import CPosix
import CSQLite
import EnrollGateway
import EnrollPosix

final class SQLiteConnection: SQLConnection {
  private let handle: OpaquePointer
  private let path: String
  /// The prepared statements.
  private var statements: [ObjectIdentifier: OpaquePointer] = [:]
  let isBroken = false

  private init(handle: OpaquePointer, path: String) {
    self.handle = handle
    self.path = path
  }

  /// Opens a connection to the file.
  /// - Throws: the reason why the file cannot be opened, from ``SQLiteFault``.
  static func open(
    _ path: String, forWriting: Bool, busyMilliseconds: Int32
  ) throws(StoreFailure) -> SQLiteConnection {
    guard sqlite3_libversion_number() >= 3_037_000 else {
      throw .fault(
        "SQLite is version \(String(cString: sqlite3_libversion())). The store expects 3.37 or later. "
          + "Install a newer one (Debian package libsqlite3-0).")
    }
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX
    let code = sqlite3_open_v2(path, &handle, flags, nil)
    guard let handle else { throw SQLiteFault.failure(SQLITE_NOMEM, "out of memory", path: path) }
    let connection = SQLiteConnection(handle: handle, path: path)
    do throws(StoreFailure) {
      sqlite3_extended_result_codes(handle, 1)
      guard code == SQLITE_OK else { throw connection.failure(code) }
      sqlite3_busy_timeout(handle, busyMilliseconds)
      try connection.configure(forWriting: forWriting, busyMilliseconds: busyMilliseconds)
    } catch {
      connection.close()
      throw error
    }
    return connection
  }

  private func configure(forWriting: Bool, busyMilliseconds: Int32) throws(StoreFailure) {
    try execute("PRAGMA foreign_keys = ON")
    try execute("PRAGMA trusted_schema = OFF")
    try execute("PRAGMA temp_store = MEMORY")
    guard forWriting else { return try execute("PRAGMA query_only = ON") }
    try execute("PRAGMA synchronous = FULL")
    // The journal mode is stored in the file, so a file of another program is refused before its mode changes.
    _ = try schemaVersion()
    let mode = try becomeLogged(until: SystemClock.monotonic() + Int64(busyMilliseconds) * 1_000_000)
    guard mode == "wal" else {
      throw .fault(
        "SQLite keeps \(path) in the journal mode \(mode). The store expects a write-ahead log (wal), which needs "
          + "a local file system. Move the file to a local disk.")
    }
    // The first read creates the log and its index.
    try execute("SELECT count(*) FROM sqlite_schema")
  }

  /// Changes the journal mode. The busy timeout does not cover this change, so this function repeats the attempt
  /// itself.
  private func becomeLogged(until end: Int64) throws(StoreFailure) -> String {
    while true {
      do {
        return try first("PRAGMA journal_mode = WAL") { $0.text(0) } ?? ""
      } catch .unavailable(let text) {
        guard SystemClock.monotonic() < end else { throw .unavailable(text) }
        Pause.nanoseconds(5_000_000)
      }
    }
  }

  /// True if the path no longer names the open file.
  var hasMoved: Bool {
    var answer: Int32 = 0
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &answer)
    return code == SQLITE_OK && answer != 0
  }

  /// The path of the database's file without symbolic links: SQLite keeps its log beside that file.
  var fileName: String { sqlite3_db_filename(handle, "main").map { String(cString: $0) } ?? path }

  func close() {
    for statement in statements.values { sqlite3_finalize(statement) }
    statements = [:]
    sqlite3_close_v2(handle)
  }

  // MARK: Statements

  let dialect = SQLDialect.sqlite

  func run(
    _ statement: SQLStatement, _ values: [SQLValue], _ read: (any SQLRow) -> Void
  ) throws(SQLFailure) -> Int {
    try SQLFailure.converting { () throws(StoreFailure) in
      let prepared = try prepare(statement)
      defer {
        sqlite3_reset(prepared)
        sqlite3_clear_bindings(prepared)
      }
      try bind(values, to: prepared)
      try step(prepared, read)
      return Int(sqlite3_changes(handle))
    }
  }

  func run(
    _ text: String, _ values: [SQLValue], _ read: (any SQLRow) -> Void
  ) throws(SQLFailure) -> Int {
    try SQLFailure.converting { () throws(StoreFailure) in
      let prepared = try prepare(SQLStatement.numbered(text), flags: 0)
      defer { sqlite3_finalize(prepared) }
      try bind(values, to: prepared)
      try step(prepared, read)
      return Int(sqlite3_changes(handle))
    }
  }

  /// Runs `body` without a new transaction, because the call already runs in one.
  func atomically<Result>(_ body: () throws(SQLFailure) -> Result) throws(SQLFailure) -> Result { try body() }

  /// Runs a statement once, without keeping it; for statements that are seldom needed.
  func execute(_ text: String) throws(StoreFailure) { _ = try first(text) { _ in } }

  func first<Record>(_ text: String, _ read: (any SQLRow) -> Record) throws(StoreFailure) -> Record? {
    let prepared = try prepare(text, flags: 0)
    defer { sqlite3_finalize(prepared) }
    var record: Record?
    try step(prepared) { if record == nil { record = read($0) } }
    return record
  }

  private static let begin = SQLStatement("BEGIN IMMEDIATE")
  private static let commit = SQLStatement("COMMIT")
  private static let rollback = SQLStatement("ROLLBACK")

  private func execute(_ statement: SQLStatement) throws(StoreFailure) {
    let prepared = try prepare(statement)
    defer { sqlite3_reset(prepared) }
    try step(prepared) { _ in }
  }

  /// Runs `body` in one transaction, which takes the write lock at its start.
  func transaction<Result>(_ body: () throws(StoreFailure) -> Result) throws(StoreFailure) -> Result {
    // Another process may hold the write lock. An exit of this process does not wait for that lock.
    try ExitBarrier.allowingExit { () throws(StoreFailure) in try execute(Self.begin) }
    do {
      let result = try body()
      try execute(Self.commit)
      return result
    } catch {
      // SQLite has already rolled back after some errors.
      if sqlite3_get_autocommit(handle) == 0 { try? execute(Self.rollback) }
      throw error
    }
  }

  /// The newest schema version that the file records; 0 if the file has no tables.
  /// - Throws: `.fault` if the file has tables of another program: the gateway's tables must not be added to them.
  func schemaVersion() throws(StoreFailure) -> Int64 {
    let found = try first(
      """
      SELECT (SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE 'sqlite~_%' ESCAPE '~'),
        (SELECT count(*) FROM pragma_table_info('schema_versions') WHERE name IN ('version', 'applied'))
      """
    ) { (tables: $0.integer(0), ours: $0.integer(1)) }
    guard let found, found.tables > 0 else { return 0 }
    guard found.ours == 2 else { throw SQLiteFault.foreign(path) }
    return try first(Migration.versionQuery) { $0.integer(0) } ?? 0
  }

  // MARK: Details

  private func prepare(_ statement: SQLStatement) throws(StoreFailure) -> OpaquePointer {
    let id = ObjectIdentifier(statement)
    if let prepared = statements[id] { return prepared }
    let prepared = try prepare(statement.sqlite, flags: UInt32(SQLITE_PREPARE_PERSISTENT))
    statements[id] = prepared
    return prepared
  }

  private func prepare(_ text: String, flags: UInt32) throws(StoreFailure) -> OpaquePointer {
    var prepared: OpaquePointer?
    let code = sqlite3_prepare_v3(handle, text, -1, flags, &prepared, nil)
    if let prepared, code == SQLITE_OK { return prepared }
    let failure = failure(code)
    // A missing table or column usually means another schema, not a wrong statement.
    if code == SQLITE_ERROR, !text.contains("sqlite_schema") {
      let found = try schemaVersion()
      if found != Migration.current { throw .schema(found: found, expected: Migration.current) }
    }
    throw failure
  }

  private func bind(_ values: [SQLValue], to prepared: OpaquePointer) throws(StoreFailure) {
    for (place, value) in values.enumerated() {
      let index = Int32(place + 1)
      let code: Int32 =
        switch value {
        case .null: sqlite3_bind_null(prepared, index)
        case .integer(let number): sqlite3_bind_int64(prepared, index, number)
        case .boolean(let flag): sqlite3_bind_int64(prepared, index, flag ? 1 : 0)
        case .text(let text): bind(text, prepared, index)
        case .bytes(let bytes):
          bytes.withUnsafeBytes {
            enroll_sqlite_bind_blob(prepared, index, $0.baseAddress, Int32($0.count))
          }
        }
      guard code == SQLITE_OK else { throw failure(code) }
    }
  }

  private func bind(_ text: String, _ prepared: OpaquePointer, _ index: Int32) -> Int32 {
    var text = text
    return text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        // An empty text must not become null.
        guard let start = $0.baseAddress, !$0.isEmpty else {
          return enroll_sqlite_bind_text(prepared, index, "", 0)
        }
        return enroll_sqlite_bind_text(prepared, index, start, Int32($0.count))
      }
    }
  }

  private func step(_ prepared: OpaquePointer, _ read: (any SQLRow) -> Void) throws(StoreFailure) {
    while true {
      switch sqlite3_step(prepared) {
      case SQLITE_ROW: read(SQLiteRow(prepared: prepared))
      case SQLITE_DONE: return
      case let code: throw failure(code, isChange: sqlite3_stmt_readonly(prepared) == 0, prepared)
      }
    }
  }

  private func failure(_ code: Int32, isChange: Bool = false, _ prepared: OpaquePointer? = nil)
    -> StoreFailure
  {
    // An autocommitted change, or COMMIT itself, ends with the write to the disk; within a transaction nothing is durable yet.
    let isCommitting =
      prepared != nil && (isChange ? sqlite3_get_autocommit(handle) != 0 : isCommit(prepared))
    return SQLiteFault.failure(
      code, String(cString: sqlite3_errmsg(handle)),
      systemError: code & 0xff == SQLITE_IOERR
        || code & 0xff == SQLITE_CANTOPEN ? sqlite3_system_errno(handle) : 0, path: path,
      isCommitting: isCommitting)
  }

  private func isCommit(_ prepared: OpaquePointer?) -> Bool {
    prepared != nil && prepared == statements[ObjectIdentifier(Self.commit)]
  }
}

/// The current row of a statement.
struct SQLiteRow: SQLRow {
  fileprivate let prepared: OpaquePointer

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(prepared, column) == SQLITE_NULL }
  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(prepared, column) }
  func boolean(_ column: Int32) -> Bool { integer(column) != 0 }

  func text(_ column: Int32) -> String {
    guard let start = sqlite3_column_text(prepared, column) else { return "" }
    let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(prepared, column)))
    return String(decoding: bytes, as: UTF8.self)
  }

  func bytes(_ column: Int32) -> [UInt8] {
    guard let start = sqlite3_column_blob(prepared, column) else { return [] }
    return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(prepared, column))))
  }
}
