// Accounts in PostgreSQL, for one or several gateways. Each sign-in is one statement without an explicit transaction: a call
// needs no more round trips than it has statements.

public import EnrollRules
public import EnrollGateway

public final class PostgreSQLStore: AccountStore {
  let pool: ConnectionPool<PostgreSQLConnection>
  let observer: (any StoreObserver)?
  /// A connection only for checks, so that a check does not depend on the load.
  private let probes: ConnectionPool<PostgreSQLConnection>
  /// How many rows one statement deletes at most, so that other transactions can write in between.
  private static let pruneBatch: Int64 = 1_000

  /// Parses the connection string. The store connects when it is first used.
  ///
  /// The string may name several hosts; the store uses the host that accepts writes
  /// (`target_session_attrs=read-write`). It notices a dead server within five seconds. The string can change
  /// the choice of the host and the five seconds. A connection pooler before the server has to pool sessions,
  /// not transactions.
  /// - Parameters:
  ///   - conninfo: keywords or a URI, as libpq reads them (PostgreSQL, libpq, "Connection Strings").
  ///   - connections: the highest number of open connections; ``check()`` uses one more.
  ///   - statementMilliseconds: the server's statement timeout; half a second later the client stops waiting,
  ///     too.
  ///   - waitMilliseconds: how long a call waits for a free connection.
  ///   - observer: gets reports of calls and sessions.
  /// - Throws: `.fault` if libpq is not installed, or the string cannot be parsed. No error contains the password.
  public init(
    _ conninfo: String, connections: Int = 8, statementMilliseconds: Int64 = 4_000,
    waitMilliseconds: Int64 = 5_000, observer: (any StoreObserver)? = nil
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

  public func signIn(
    _ identity: Identity, newAccountID: String, creating credential: NewCredential, at now: UnixTime,
    from origin: AuditOrigin
  ) throws(StoreFailure) -> SignedIn {
    let identity = try CheckedIdentity(identity)
    let newID = try CheckedID.bytes(newAccountID, "The id of the new account")
    var values = [
      identity.provider, identity.subject, .bytes(newID), identity.email, identity.isEmailVerified,
      identity.name,
      .integer(now.seconds),
    ]
    let statement: PostgreSQLStatement
    let credential = try CheckedCredential(credential, at: now)
    switch credential {
    case .session(let session):
      statement = .signInToSession
      values += [
        session.tokenHash, session.id, session.app, session.device, session.idleSeconds,
        session.absoluteExpires,
        session.expires, identity.providerSession,
      ]
    case .code(let code):
      statement = .signInToCode
      values += [
        code.codeHash, code.provider, code.app, code.challenge, code.expires, identity.providerSession,
      ]
    }
    let parameters = values + AuditRow.origin(origin)
    // A repeated statement finds the identity, its account, and the session or code that the first attempt
    // made.
    let found = try perform(.repeatable) { (connection, _) throws(PostgreSQLError) in
      try connection.first(statement, parameters) {
        (id: $0.bytes(0), created: $0.time(1), surplus: Int($0.integer(2)))
      }
    }
    guard let found else { throw .fault("PostgreSQL gave no account for a sign-in. The store expected one.") }
    observer.began(credential, ending: found.surplus)
    return SignedIn(
      account: Account(id: StoredID.text(of: found.id), created: found.created, lastLogin: now),
      isNew: found.id == newID)
  }

  public func redeem(
    codeHash: [UInt8], provider: String, challenge: String, session: NewSession, at now: UnixTime,
    from origin: AuditOrigin
  ) throws(StoreFailure) -> Redemption {
    let session = try CheckedSession(session, at: now)
    guard !provider.utf8.contains(0), !challenge.utf8.contains(0) else { return .unknown }
    var ended: (count: Int, why: SessionEnd) = (0, .surplus)
    let redemption = try perform(.repeatable) {
      (connection, isRepeated) throws(PostgreSQLError) -> Redemption in
      let begun = try connection.first(
        .redeem,
        [
          .bytes(codeHash), .text(provider), .text(challenge), .integer(now.seconds), session.tokenHash,
          session.id,
          session.device, session.idleSeconds, session.absoluteExpires, session.expires,
        ] + AuditRow.origin(origin)
      ) { row in
        ended.count = Int(row.integer(3))
        return Account(id: StoredID.text(of: row.bytes(0)), created: row.time(1), lastLogin: row.time(2))
      }
      if let begun { return .created(begun) }
      // A new statement has a new snapshot: it sees the change that the statement before waited for.
      guard let code = try connection.first(.code, [.bytes(codeHash)], { CodeRecord($0) }) else {
        return .unknown
      }
      if isRepeated,
        try connection.first(.isOwnSession, [.bytes(codeHash), session.tokenHash], { $0.integer(0) }) != nil
      {
        return .created(code.account)
      }
      let refusal = code.refusal(provider: provider, challenge: challenge, at: now)
      if refusal == .reused {
        let count = try connection.first(
          .endByReuse,
          [.bytes(code.sessionHash)]
            + AuditRow.values(.reuse(of: code, at: now, from: origin), account: .bytes(code.accountID))
        ) { Int($0.integer(0)) }
        ended = (count ?? 0, .codeReused)
      }
      return refusal ?? .unknown
    }
    if case .created = redemption { observer?.sessionBegan() }
    observer.ended(ended.count, ended.why)
    return redemption
  }

  public func session(tokenHash: [UInt8], at now: UnixTime) throws(StoreFailure) -> LiveSession? {
    try perform(.reading) { (connection, _) throws(PostgreSQLError) in
      let found = try connection.first(.session, [.bytes(tokenHash), .integer(now.seconds)]) {
        SessionRecord($0)
      }
      guard var record = found else { return nil }
      guard record.isDue(at: now) else { return record.session }
      do {
        _ = try connection.change(.touch, record.touchValues(tokenHash, at: now))
        record.touch(at: now)
      } catch {
        // A full disk signs nobody out: the session stays valid, and its next use is recorded.
      }
      return record.session
    }
  }

  public func sessions(ofAccount id: String, at now: UnixTime) throws(StoreFailure) -> [LiveSession] {
    guard let account = StoredID.bytes(of: id) else { return [] }
    return try perform(.reading) { (connection, _) throws(PostgreSQLError) in
      try connection.rows(.sessions, [.bytes(account), .integer(now.seconds)]) { SessionRecord($0).session }
    }
  }

  public func endSession(tokenHash: [UInt8], at now: UnixTime, from origin: AuditOrigin)
    throws(StoreFailure)
  {
    let count = try perform(.repeatable) { (connection, _) throws(PostgreSQLError) in
      try connection.change(
        .endSession, [.bytes(tokenHash), .integer(now.seconds)] + AuditRow.origin(origin))
    }
    observer.ended(count, .signedOut)
  }

  public func endSession(
    id: String, ofAccount account: String, at now: UnixTime, from origin: AuditOrigin
  ) throws(StoreFailure) -> Bool {
    guard let id = StoredID.bytes(of: id), let account = StoredID.bytes(of: account) else { return false }
    let count = try perform(.once) { (connection, _) throws(PostgreSQLError) in
      try connection.change(
        .endSessionByID, [.bytes(id), .bytes(account), .integer(now.seconds)] + AuditRow.origin(origin))
    }
    observer.ended(count, .ended)
    return count > 0
  }

  public func endSessions(
    ofAccount account: String, exceptTokenHash: [UInt8]?, at now: UnixTime, from origin: AuditOrigin
  ) throws(StoreFailure) -> Int {
    guard let account = StoredID.bytes(of: account) else { return 0 }
    let (statement, kept): (PostgreSQLStatement, [SQLValue]) =
      exceptTokenHash.map { (.endOtherSessions, [.bytes($0)]) } ?? (.endSessions, [])
    let count = try perform(.once) { (connection, _) throws(PostgreSQLError) in
      // Delete codes and links first: these statements wait for a code or link that is being used, so the last one sees its
      // session.
      _ = try connection.change(.endCodes, [.bytes(account)])
      _ = try connection.change(.endLinks, [.bytes(account)])
      return try connection.first(
        statement, [.bytes(account)] + kept + [.integer(now.seconds)] + AuditRow.origin(origin)
      ) { Int($0.integer(0)) } ?? 0
    }
    observer.ended(count, .everywhere)
    return count
  }

  public func identities(ofAccount id: String) throws(StoreFailure) -> [Identity] {
    guard let account = StoredID.bytes(of: id) else { return [] }
    return try perform(.reading) { (connection, _) throws(PostgreSQLError) in
      try connection.rows(.identities, [.bytes(account)]) { Identity(row: $0) }
    }
  }

  public func prune(at now: UnixTime) throws(StoreFailure) -> Int {
    let sessions = try prune(.pruneSessions, now.seconds)
    observer.ended(sessions, .expired)
    return try sessions + prune(.pruneCodes, now.seconds)
      + prune(.pruneSpent, now.seconds) + prune(.pruneLinks, now.seconds - RegistrationTimes.keptSeconds)
  }

  /// Deletes in batches, so that sign-ins need not wait for all of it. Expired rows have no effect, deleted or not.
  func prune(_ statement: PostgreSQLStatement, _ end: Int64) throws(StoreFailure) -> Int {
    var removed = 0
    while true {
      let count = try perform(.once) { (connection, _) throws(PostgreSQLError) in
        try connection.change(statement, [.integer(end), .integer(Self.pruneBatch)])
      }
      removed += count
      if count < Self.pruneBatch { return removed }
    }
  }

  public func check() throws(StoreFailure) {
    let found = try version(by: probes)
    guard found == Migration.current else { throw .schema(found: found, expected: Migration.current) }
    let closed = try perform(.reading, by: probes) { (connection, _) throws(PostgreSQLError) in
      try connection.number(Self.tablesWithoutRights)
    }
    guard closed == 0 else {
      throw .full(
        "PostgreSQL does not let this user change \(closed) of the gateway's tables. The store expected SELECT, INSERT, UPDATE and "
          + "DELETE on each of them. Grant what is missing, then try again.")
    }
  }

  /// How many tables this user may not read and change. A missing table is not counted.
  static let tablesWithoutRights =
    "SELECT count(*) FROM unnest(ARRAY[\(tables.map { "'\($0)'" }.joined(separator: ","))]) AS name WHERE NOT ("
    + ["SELECT", "INSERT", "UPDATE", "DELETE"]
    .map { "has_table_privilege(to_regclass(name)::oid, '\($0)')" }.joined(separator: " AND ") + ")"

  static let tables = [
    "accounts", "identities", "sessions", "app_codes", "audit", "people", "mail_links", "outbox", "spent",
    "revocations", "limit_counters",
  ]

  public func checkDiskSpace(at now: UnixTime) throws(StoreFailure) {}

  /// - Parameter other: the pool to use; nil for the pool that all calls share.
  private func version(by other: ConnectionPool<PostgreSQLConnection>? = nil) throws(StoreFailure) -> Int64 {
    try perform(.reading, by: other) { (connection, _) throws(PostgreSQLError) in
      try PostgreSQLMigration.version(by: connection)
    }
  }

  public func migrate() throws(StoreFailure) -> [Int64] {
    // If the schema is current, the user needs no right to create tables.
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

  public func close() {
    pool.close()
    probes.close()
  }

  /// Returns the number in the result of a query.
  func number(_ query: String) throws(StoreFailure) -> Int64 {
    try perform(.reading) { (connection, _) throws(PostgreSQLError) in try connection.number(query) }
  }
}
