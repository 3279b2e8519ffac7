// One connection to PostgreSQL, used by one thread at a time. Statements are prepared once and run with binary parameters, each
// in one round trip. Each answer has a deadline, so that a server that hangs without closing the connection is noticed too.

import CPostgreSQL
import EnrollGateway
import EnrollPosix

final class PostgreSQLConnection: SQLConnection {
  private let functions: PostgreSQLLibrary.Functions
  private let handle: OpaquePointer
  private let string: ConnectionString
  private let timeoutMilliseconds: Int64
  /// The names of the prepared statements.
  private var prepared: [ObjectIdentifier: String] = [:]
  private(set) var isBroken = false
  /// True if the server may still work on a call.
  private var isTimedOut = false

  private init(
    _ functions: PostgreSQLLibrary.Functions, _ handle: OpaquePointer, _ string: ConnectionString,
    timeoutMilliseconds: Int64
  ) {
    self.functions = functions
    self.handle = handle
    self.string = string
    self.timeoutMilliseconds = timeoutMilliseconds
  }

  /// The client waits this much longer than the server's own statement timeout, because of the round trip.
  private static let marginMilliseconds: Int64 = 500

  /// - Parameter statementMilliseconds: the server's statement timeout; the client waits a little longer for the answer.
  /// - Throws: `.unavailable` if no server accepts the connection, `.fault` for a database that does not store UTF-8.
  static func open(
    _ functions: PostgreSQLLibrary.Functions, _ string: ConnectionString, statementMilliseconds: Int64
  ) throws(StoreFailure) -> PostgreSQLConnection {
    let made = ExitBarrier.allowingExit { connect(functions, string) }
    guard let handle = made else { throw PostgreSQLError.unavailable("no memory for a connection") }
    let connection = PostgreSQLConnection(
      functions, handle, string, timeoutMilliseconds: statementMilliseconds + marginMilliseconds)
    do throws(StoreFailure) {
      guard functions.pointee.PQstatus(handle) == enroll_postgresql_connected else {
        throw PostgreSQLError.unavailable(connection.errorMessage)
      }
      try connection.configure(statementMilliseconds)
    } catch {
      connection.close()
      throw error
    }
    return connection
  }

  private static func connect(
    _ functions: PostgreSQLLibrary.Functions, _ string: ConnectionString
  ) -> OpaquePointer? {
    let keywords = string.parameters.map { CText($0.keyword) }
    let values = string.parameters.map { CText($0.value) }
    return withExtendedLifetime((keywords, values)) {
      functions.pointee.PQconnectdbParams(keywords.map(\.pointer) + [nil], values.map(\.pointer) + [nil], 0)
    }
  }

  private func configure(_ statementMilliseconds: Int64) throws(StoreFailure) {
    enroll_postgresql_silence(functions, handle)
    let encoding = functions.pointee.PQparameterStatus(handle, "server_encoding").map { String(cString: $0) }
    guard encoding == "UTF8" else {
      throw .fault(
        "The database of PostgreSQL stores texts as \(encoding ?? "nothing known"). The store expects UTF8. "
          + "Make the database with ENCODING 'UTF8'.")
    }
    // Every statement can use an index. Without these settings, the plan for a small table could be a scan,
    // and would stay a scan after the table has grown.
    do {
      try execute(
        """
        SET statement_timeout = \(max(1, statementMilliseconds));
        SET idle_in_transaction_session_timeout = 60000;
        SET default_transaction_isolation = 'read committed';
        SET enable_seqscan = off; SET jit = off; SET plan_cache_mode = force_generic_plan
        """)
    } catch {
      throw error.failure
    }
  }

  func close() {
    if isTimedOut { PostgreSQLCancel.send(for: handle, by: functions) }
    functions.pointee.PQfinish(handle)
  }

  /// Marks the connection as broken: the pool will close it.
  func giveUp() { isBroken = true }

  /// True if the server has closed the connection, as far as is known without a round trip. This reads in a
  /// loop, because the server's last message comes before the end of the stream.
  var hasEnded: Bool {
    while !isBroken, enroll_postgresql_wait(functions.pointee.PQsocket(handle), 0) != 0 {
      if functions.pointee.PQconsumeInput(handle) == 0 { isBroken = true }
    }
    return isBroken || functions.pointee.PQstatus(handle) != enroll_postgresql_connected
  }

  // MARK: Statements

  let dialect = SQLDialect.postgresql

  func run(
    _ statement: SQLStatement, _ values: [SQLValue], _ read: (any SQLRow) -> Void
  ) throws(SQLFailure) -> Int {
    try SQLFailure.asking { () throws(PostgreSQLError) in try run(statement, values).read(read) }
  }

  func run(
    _ text: String, _ values: [SQLValue], _ read: (any SQLRow) -> Void
  ) throws(SQLFailure) -> Int {
    try SQLFailure.asking { () throws(PostgreSQLError) in try run(text, values).read(read) }
  }

  /// Runs statements without parameters, in one round trip.
  func execute(_ text: String, timeoutMilliseconds: Int64? = nil) throws(PostgreSQLError) {
    guard functions.pointee.PQsendQuery(handle, text) == 1 else { throw loss(true) }
    _ = try answer(within: timeoutMilliseconds ?? self.timeoutMilliseconds)
  }

  /// Returns the first value of a query's first row; 0 if there is no row.
  func number(_ query: String) throws(PostgreSQLError) -> Int64 {
    guard functions.pointee.PQsendQueryParams(handle, query, 0, nil, nil, nil, nil, 1) == 1 else {
      throw loss(true)
    }
    let result = try answer(within: timeoutMilliseconds)
    return result.count > 0 ? result.row(0).integer(0) : 0
  }

  /// Runs a statement with parameters once, without preparing it; for statements that are seldom needed.
  private func run(_ text: String, _ values: [SQLValue]) throws(PostgreSQLError) -> PostgreSQLResult {
    let parameters = PostgreSQLParameters(values)
    let isSent = parameters.withPointers { count, values, sizes, formats in
      functions.pointee.PQsendQueryParams(handle, text, count, nil, values, sizes, formats, 1)
    }
    guard isSent == 1 else { throw loss(true) }
    return try answer(within: timeoutMilliseconds)
  }

  /// Runs `body` in one transaction. A connection that is lost before COMMIT has changed nothing.
  func atomically<Result>(_ body: () throws(SQLFailure) -> Result) throws(SQLFailure) -> Result {
    let result: Result
    do throws(SQLFailure) {
      try command("BEGIN")
      result = try body()
    } catch {
      if isBroken {
        guard case .postgresql(let error) = error else { throw error }
        throw .postgresql(error.withoutChange)
      }
      do throws(PostgreSQLError) { try execute("ROLLBACK") } catch { giveUp() }
      throw error
    }
    try command("COMMIT")
    return result
  }

  private func command(_ text: String) throws(SQLFailure) {
    try SQLFailure.asking { () throws(PostgreSQLError) in try execute(text) }
  }

  private func run(
    _ statement: SQLStatement, _ values: [SQLValue]
  ) throws(PostgreSQLError) -> PostgreSQLResult {
    let name = try prepare(statement)
    let parameters = PostgreSQLParameters(values)
    let isSent = parameters.withPointers { count, values, sizes, formats in
      functions.pointee.PQsendQueryPrepared(handle, name, count, values, sizes, formats, 1)
    }
    guard isSent == 1 else { throw loss(true) }
    return try answer(within: timeoutMilliseconds)
  }

  /// - Returns: the name of the prepared statement.
  private func prepare(_ statement: SQLStatement) throws(PostgreSQLError) -> String {
    let id = ObjectIdentifier(statement)
    if let name = prepared[id] { return name }
    let name = "enroll_\(prepared.count)"
    do throws(PostgreSQLError) {
      guard functions.pointee.PQsendPrepare(handle, name, statement.postgresql, 0, nil) == 1 else {
        throw loss(false)
      }
      _ = try answer(within: timeoutMilliseconds)
    } catch {
      // Preparing a statement changes nothing.
      throw error.withoutChange
    }
    prepared[id] = name
    return name
  }

  // MARK: Answers

  private func answer(within milliseconds: Int64) throws(PostgreSQLError) -> PostgreSQLResult {
    let end = SystemClock.monotonic() + milliseconds * 1_000_000
    var last: PostgreSQLResult?
    var refusal: PostgreSQLError?
    while true {
      try awaitInput(until: end)
      guard let found = functions.pointee.PQgetResult(handle) else { break }
      let result = PostgreSQLResult(functions, found)
      if result.isGood { last = result } else if refusal == nil { refusal = refused(result) }
    }
    if let refusal { throw refusal }
    guard let last, functions.pointee.PQstatus(handle) == enroll_postgresql_connected else {
      throw loss(true)
    }
    return last
  }

  private func awaitInput(until end: Int64) throws(PostgreSQLError) {
    while functions.pointee.PQisBusy(handle) != 0 {
      let left = (end - SystemClock.monotonic()) / 1_000_000
      guard left > 0 else {
        isBroken = true
        isTimedOut = true
        throw .timedOut(mayHaveHappened: true)
      }
      let socket = functions.pointee.PQsocket(handle)
      let found = ExitBarrier.allowingExit { enroll_postgresql_wait(socket, Int32(clamping: left)) }
      if found < 0 || (found > 0 && functions.pointee.PQconsumeInput(handle) == 0) { throw loss(true) }
    }
  }

  private func refused(_ result: PostgreSQLResult) -> PostgreSQLError {
    let state = result.field(enroll_postgresql_state) ?? ""
    let text = string.redacted(result.field(enroll_postgresql_message) ?? errorMessage)
    // Without an SQLSTATE the message comes from libpq: the connection is lost.
    guard !state.isEmpty, !PostgreSQLError.endsConnection(state) else {
      isBroken = true
      return .lost(text, mayHaveHappened: true)
    }
    return .refused(state: state, text: text)
  }

  private func loss(_ mayHaveHappened: Bool) -> PostgreSQLError {
    isBroken = true
    return .lost(errorMessage, mayHaveHappened: mayHaveHappened)
  }

  private var errorMessage: String {
    string.redacted(functions.pointee.PQerrorMessage(handle).map { String(cString: $0) } ?? "")
  }
}

/// A NUL-terminated copy of a text at a stable address.
private final class CText {
  let pointer: UnsafePointer<CChar>?
  private let memory: UnsafeMutablePointer<CChar>

  init(_ text: String) {
    let bytes = text.utf8CString
    memory = .allocate(capacity: bytes.count)
    for (place, byte) in bytes.enumerated() { (memory + place).initialize(to: byte) }
    pointer = UnsafePointer(memory)
  }

  deinit { memory.deallocate() }
}
