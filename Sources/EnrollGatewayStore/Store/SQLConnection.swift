// The interface of the store to a database: connections that run statements, and the changes that PostgreSQL makes in one
// statement and SQLite in several.

import EnrollRules
import EnrollGateway

/// Whether a call may run twice.
enum SQLUse {
  /// The call makes no change that matters.
  case reading
  /// The call makes a change and may be repeated: the repetition detects the first change, and returns the same answer.
  case repeatable
  /// The call makes a change, and its answer would be different the second time.
  case once
}

/// Why a statement failed.
enum SQLFailure: Error {
  /// A failure for the caller of the store.
  case store(StoreFailure)
  /// A failure of a server, after which the call may be repeated.
  case postgresql(PostgreSQLError)

  /// The ``StoreFailure`` for the caller of the store.
  var failure: StoreFailure {
    switch self {
    case .store(let failure): failure
    case .postgresql(let error): error.failure
    }
  }

  /// Runs a call that throws a ``StoreFailure``, and throws this failure as ``store(_:)``.
  static func converting<Result>(
    _ body: () throws(StoreFailure) -> Result
  ) throws(SQLFailure) -> Result {
    do throws(StoreFailure) { return try body() } catch { throw .store(error) }
  }
}

/// A database and its connections.
protocol SQLDatabase: AnyObject, Sendable {
  /// Runs one call of the store on one connection. With SQLite, a call that changes something is one transaction. With
  /// PostgreSQL, each statement is a transaction of its own, and the call may be run again.
  /// - Parameter body: gets the connection, and whether an earlier attempt may have taken effect.
  /// - Throws: `.unknownOutcome` if an attempt may have changed something and no later attempt could find out whether
  ///   it did; otherwise the failure of the last attempt.
  func perform<Result>(
    _ use: SQLUse, _ body: (any SQLConnection, Bool) throws(SQLFailure) -> Result
  ) throws(StoreFailure) -> Result

  func migrate() throws(StoreFailure) -> [Int64]
  func check() throws(StoreFailure)
  func checkDiskSpace(at now: UnixTime) throws(StoreFailure)
  func close()

  /// Returns the number in the result of a query, for tests.
  func number(_ query: String) throws(StoreFailure) -> Int64
}

/// A connection to either database, used by one thread at a time.
protocol SQLConnection: PooledConnection {
  var dialect: SQLDialect { get }

  /// Runs a prepared statement to its end.
  /// - Parameter read: is called for each row.
  /// - Returns: how many rows the statement changed.
  func run(
    _ statement: SQLStatement, _ values: [SQLValue], _ read: (any SQLRow) -> Void
  ) throws(SQLFailure) -> Int

  /// Runs a statement with the parameters $1, $2 … once, without keeping the prepared statement. For statements that
  /// are seldom needed.
  func run(
    _ text: String, _ values: [SQLValue], _ read: (any SQLRow) -> Void
  ) throws(SQLFailure) -> Int

  /// Runs `body` in one transaction.
  func atomically<Result>(_ body: () throws(SQLFailure) -> Result) throws(SQLFailure) -> Result

  /// Finds or makes the account of an identity, and begins a session or code.
  func signIn(
    _ identity: CheckedIdentity, newID: AccountID, creating credential: CheckedCredential, at now: UnixTime,
    from origin: AuditOrigin
  ) throws(SQLFailure) -> BegunSignIn

  /// Redeems a code that is live and was issued for this provider and challenge.
  /// - Returns: nil if there is no such code; nothing has changed then.
  func redeem(
    _ codeHash: [UInt8], provider: String, challenge: String, for session: CheckedSession, at now: UnixTime,
    from origin: AuditOrigin
  ) throws(SQLFailure) -> (account: Account, surplus: Int)?

  /// Ends a session, and writes the audit entry.
  /// - Returns: false if there is no such session; nothing has changed then.
  func end(_ session: SessionName, at now: UnixTime, from origin: AuditOrigin) throws(SQLFailure) -> Bool

  /// Spends a live link for a sign-in of its owner.
  /// - Returns: nil if the link is not live, or its person does not exist any more; nothing has changed then.
  func spend(
    _ tokenHash: [UInt8], _ purpose: NewMailLink.Purpose, of owner: CheckedOwner,
    creating credential: CheckedCredential, at now: UnixTime
  ) throws(SQLFailure) -> BegunSignIn?

  /// Stores a link and puts its e-mail into the outbox.
  func keep(_ link: CheckedLink, _ mail: CheckedMail?, replacingOlder: Bool) throws(SQLFailure)
}

/// How a call names the session to end.
enum SessionName {
  case token(hash: [UInt8])
  /// The session with this id, if it belongs to the account.
  case id(SessionID, account: AccountID)

  var values: [SQLValue] {
    switch self {
    case .token(let hash): [.bytes(hash)]
    case .id(let id, let account): [.id(id), .id(account)]
    }
  }
}

/// A sign-in that has begun a session or code.
struct BegunSignIn {
  var signedIn: SignedIn
  /// How many sessions ended because the account had too many sessions.
  var surplus = 0
  /// How many sessions ended because the password was replaced.
  var endedByPassword = 0
}

extension SQLConnection {
  /// Runs a statement, and reads each of its rows.
  /// - Returns: the result of `read` for each row.
  func rows<Record>(
    _ statement: SQLStatement, _ values: [SQLValue], _ read: (any SQLRow) -> Record
  ) throws(SQLFailure) -> [Record] {
    var records: [Record] = []
    _ = try run(statement, values) { records.append(read($0)) }
    return records
  }

  /// Runs a statement, and reads its first row.
  /// - Returns: the result of `read` for the first row; nil if there is no row.
  func first<Record>(
    _ statement: SQLStatement, _ values: [SQLValue], _ read: (any SQLRow) -> Record
  ) throws(SQLFailure) -> Record? {
    var record: Record?
    _ = try run(statement, values) { if record == nil { record = read($0) } }
    return record
  }

  /// Runs a statement that changes rows.
  /// - Returns: how many rows were changed.
  @discardableResult
  func change(_ statement: SQLStatement, _ values: [SQLValue]) throws(SQLFailure) -> Int {
    try run(statement, values) { _ in }
  }

  func rows<Record>(
    of text: String, _ values: [SQLValue], _ read: (any SQLRow) -> Record
  ) throws(SQLFailure) -> [Record] {
    var records: [Record] = []
    _ = try run(text, values) { records.append(read($0)) }
    return records
  }

  @discardableResult
  func change(by text: String, _ values: [SQLValue]) throws(SQLFailure) -> Int {
    try run(text, values) { _ in }
  }

  /// Writes an audit entry.
  func note(_ entry: AuditEntry) throws(SQLFailure) {
    try change(.appendAudit, AuditRow.values(entry))
  }
}
