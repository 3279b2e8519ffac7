// Accounts in one SQLite file, for a gateway on one machine. One connection writes, a few read concurrently. Each change is one
// transaction that takes the write lock at its start, so that nothing that it has read can change before it ends.

public import EnrollRules
public import EnrollGateway

public final class SQLiteStore: AccountStore {
  private let writer: ConnectionPool<SQLiteConnection>
  private let readers: ConnectionPool<SQLiteConnection>
  /// A connection only for checks, so that a check does not depend on the load.
  private let probes: ConnectionPool<SQLiteConnection>
  private let fileIdentity: SQLiteFile.FileIdentity
  let observer: (any StoreObserver)?
  /// How many rows one transaction deletes at most, so that other transactions can write in between.
  private static let pruneBatch: Int64 = 1_000

  /// Opens the file, or creates it with mode 0600; ``migrate()`` creates its tables. If the file, its write-ahead log or the
  /// log's index is removed or replaced later, every call fails until the program starts again: writes would be lost.
  /// - Parameters:
  ///   - path: a file in a writable folder on a local disk: SQLite keeps two more files beside it.
  ///   - readers: the highest number of connections that read, at least 1.
  ///   - busyMilliseconds: how long a call waits for a connection, and for a lock that another program holds.
  ///   - observer: gets reports of calls and sessions.
  /// - Throws: `.full` if the file or its folder cannot be written, `.unavailable` if it cannot be opened or is locked,
  ///   `.fault` if it is not a SQLite database, or other users may open it.
  public init(
    path: String, readers: Int = 4, busyMilliseconds: Int64 = 5_000, observer: (any StoreObserver)? = nil
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

  public func signIn(
    _ identity: Identity, newAccountID: String, creating credential: NewCredential, at now: UnixTime,
    from origin: AuditOrigin
  ) throws(StoreFailure) -> SignedIn {
    let identity = try CheckedIdentity(identity)
    let newID = try CheckedID.bytes(newAccountID, "The id of the new account")
    let credential = try CheckedCredential(credential, at: now)
    let (signedIn, surplus) = try changing { (connection) throws(StoreFailure) in
      try self.signIn(
        identity, newID: newID, creating: credential, at: now, from: origin, by: connection)
    }
    observer.began(credential, ending: surplus)
    return signedIn
  }

  /// Signs in within a transaction.
  /// - Returns: the sign-in, and the number of sessions that ended because the account had too many.
  func signIn(
    _ identity: CheckedIdentity, newID: [UInt8], creating credential: CheckedCredential, at now: UnixTime,
    from origin: AuditOrigin = .current, by connection: SQLiteConnection
  ) throws(StoreFailure) -> (SignedIn, surplus: Int) {
    let moment = SQLValue.integer(now.seconds)
    let known = try connection.first(
      .updateIdentity,
      [
        identity.provider, identity.subject, identity.email, identity.isEmailVerified, identity.name,
        moment,
      ]
    ) { $0.bytes(0) }
    let id = known ?? newID
    var created = now
    if known == nil {
      try connection.change(.insertAccount, [.bytes(id), moment])
      try connection.change(
        .insertIdentity,
        [
          identity.provider, identity.subject, .bytes(id), identity.email, identity.isEmailVerified,
          identity.name, moment,
        ])
    } else if let before = try connection.first(.updateAccount, [.bytes(id), moment], { $0.time(0) }) {
      created = before
    }
    var surplus = 0
    switch credential {
    case .session(let session):
      surplus = try endSurplus(of: id, at: now, from: origin, by: connection)
      try connection.change(
        .insertSession,
        session.values(
          account: id, identity.provider, identity.subject, providerSession: identity.providerSession,
          at: now))
    case .code(let code):
      try connection.change(
        .insertCode,
        code.values(
          account: id, subject: identity.subject, providerSession: identity.providerSession))
    }
    let event = known == nil ? AuditEvent.registered : .signedIn
    try connection.change(
      .appendAudit,
      [
        moment, .text(event.rawValue), .text(AuditEntry.Outcome.done.rawValue), .bytes(id),
        identity.provider,
      ] + AuditRow.origin(origin))
    let account = Account(id: StoredID.text(of: id), created: created, lastLogin: now)
    return (SignedIn(account: account, isNew: id == newID), surplus)
  }

  /// - Returns: how many sessions ended because the account would have too many.
  private func endSurplus(
    of account: [UInt8], at now: UnixTime, from origin: AuditOrigin, by connection: SQLiteConnection
  ) throws(StoreFailure) -> Int {
    let count = try connection.change(.endSurplus, [.bytes(account), .integer(now.seconds)])
    guard count > 0 else { return 0 }
    let entry = AuditEntry(at: now, .surplusEnded, account: nil, detail: String(count), from: origin)
    try connection.change(.appendAudit, AuditRow.values(entry, account: .bytes(account)))
    return count
  }

  public func redeem(
    codeHash: [UInt8], provider: String, challenge: String, session: NewSession, at now: UnixTime,
    from origin: AuditOrigin
  ) throws(StoreFailure) -> Redemption {
    let begun = try CheckedSession(session, at: now)
    guard !provider.utf8.contains(0), !challenge.utf8.contains(0) else { return .unknown }
    var ended: (count: Int, why: SessionEnd) = (0, .surplus)
    let redemption = try changing { (connection) throws(StoreFailure) -> Redemption in
      guard let code = try connection.first(.code, [.bytes(codeHash)], { CodeRecord($0) }) else {
        return .unknown
      }
      if let refusal = code.refusal(provider: provider, challenge: challenge, at: now) {
        if refusal == .reused {
          let found = try connection.first(.endSession, [.bytes(code.sessionHash)]) { $0.bytes(0) }
          ended = (found == nil ? 0 : 1, .codeReused)
          let entry = AuditEntry.reuse(of: code, at: now, from: origin)
          try connection.change(.appendAudit, AuditRow.values(entry, account: .bytes(code.accountID)))
        }
        return refusal
      }
      try connection.change(.spendCode, [.bytes(codeHash), .integer(now.seconds), begun.tokenHash])
      ended.count = try self.endSurplus(of: code.accountID, at: now, from: origin, by: connection)
      try connection.change(
        .insertSession,
        begun.values(
          account: code.accountID, .text(code.provider), .text(code.subject), app: .text(code.app),
          providerSession: .text(orNull: code.providerSession), at: now)
      )
      let entry = AuditEntry(
        at: now, .sessionBegun, account: code.account.id, detail: code.app, from: origin)
      try connection.change(.appendAudit, AuditRow.values(entry, account: .bytes(code.accountID)))
      return .created(code.account)
    }
    if case .created = redemption { observer?.sessionBegan() }
    observer.ended(ended.count, ended.why)
    return redemption
  }

  public func session(tokenHash: [UInt8], at now: UnixTime) throws(StoreFailure) -> LiveSession? {
    let found = try reading { (connection) throws(StoreFailure) in
      try connection.first(.session, [.bytes(tokenHash), .integer(now.seconds)]) { SessionRecord($0) }
    }
    guard var record = found else { return nil }
    guard record.isDue(at: now) else { return record.session }
    do {
      try touching { (connection) throws(StoreFailure) in
        _ = try connection.change(.touch, record.touchValues(tokenHash, at: now))
      }
      record.touch(at: now)
    } catch {
      // A full disk signs nobody out: the session stays valid, and its next use is recorded.
    }
    return record.session
  }

  public func sessions(ofAccount id: String, at now: UnixTime) throws(StoreFailure) -> [LiveSession] {
    guard let account = StoredID.bytes(of: id) else { return [] }
    return try reading { (connection) throws(StoreFailure) in
      try connection.rows(.sessions, [.bytes(account), .integer(now.seconds)]) { SessionRecord($0).session }
    }
  }

  public func endSession(tokenHash: [UInt8], at now: UnixTime, from origin: AuditOrigin)
    throws(StoreFailure)
  {
    let isEnded = try changing { (connection) throws(StoreFailure) -> Bool in
      let ended = try connection.first(.endSession, [.bytes(tokenHash)]) { ($0.bytes(0), $0.bytes(1)) }
      guard let (account, id) = ended else { return false }
      let entry = AuditEntry(
        at: now, .sessionEnded, account: nil, detail: StoredID.text(of: id), from: origin)
      try connection.change(.appendAudit, AuditRow.values(entry, account: .bytes(account)))
      return true
    }
    observer.ended(isEnded ? 1 : 0, .signedOut)
  }

  public func endSession(
    id: String, ofAccount account: String, at now: UnixTime, from origin: AuditOrigin
  ) throws(StoreFailure) -> Bool {
    guard let idBytes = StoredID.bytes(of: id), let account = StoredID.bytes(of: account) else {
      return false
    }
    let isEnded = try changing { (connection) throws(StoreFailure) -> Bool in
      guard try connection.change(.endSessionByID, [.bytes(idBytes), .bytes(account)]) > 0 else {
        return false
      }
      let entry = AuditEntry(at: now, .sessionEnded, account: nil, detail: id, from: origin)
      try connection.change(.appendAudit, AuditRow.values(entry, account: .bytes(account)))
      return true
    }
    observer.ended(isEnded ? 1 : 0, .ended)
    return isEnded
  }

  public func endSessions(
    ofAccount account: String, exceptTokenHash: [UInt8]?, at now: UnixTime, from origin: AuditOrigin
  ) throws(StoreFailure) -> Int {
    guard let account = StoredID.bytes(of: account) else { return 0 }
    let count = try changing { (connection) throws(StoreFailure) -> Int in
      try connection.change(.endCodes, [.bytes(account)])
      try connection.change(.endLinks, [.bytes(account)])
      let count =
        if let exceptTokenHash {
          try connection.change(.endOtherSessions, [.bytes(account), .bytes(exceptTokenHash)])
        } else {
          try connection.change(.endSessions, [.bytes(account)])
        }
      guard count > 0 else { return 0 }
      let entry = AuditEntry(at: now, .sessionsEnded, account: nil, detail: String(count), from: origin)
      try connection.change(.appendAudit, AuditRow.values(entry, account: .bytes(account)))
      return count
    }
    observer.ended(count, .everywhere)
    return count
  }

  public func identities(ofAccount id: String) throws(StoreFailure) -> [Identity] {
    guard let account = StoredID.bytes(of: id) else { return [] }
    return try reading { (connection) throws(StoreFailure) in
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
  func prune(_ statement: SQLiteStatement, _ end: Int64) throws(StoreFailure) -> Int {
    var removed = 0
    while true {
      let count = try changing { (connection) throws(StoreFailure) in
        try connection.change(statement, [.integer(end), .integer(Self.pruneBatch)])
      }
      removed += count
      if count < Self.pruneBatch { return removed }
    }
  }

  public func migrate() throws(StoreFailure) -> [Int64] {
    // If the schema is current, the write lock is not needed.
    let found = try reading { (connection) throws(StoreFailure) in try connection.schemaVersion() }
    guard found < Migration.current else { return [] }
    return try changing { (connection) throws(StoreFailure) in
      try connection.execute(Migration.versionTable)
      let pending = Migration.pending(after: try connection.schemaVersion())
      for migration in pending {
        for statement in migration.sqlite { try connection.execute(statement) }
        try connection.execute(
          "INSERT INTO schema_versions VALUES (\(migration.version), CAST(strftime('%s', 'now') AS integer))"
        )
      }
      return pending.map(\.version)
    }
  }

  public func check() throws(StoreFailure) {
    let found = try reading(by: probes) { (connection) throws(StoreFailure) in
      try connection.schemaVersion()
    }
    guard found == Migration.current else { throw .schema(found: found, expected: Migration.current) }
  }

  public func close() {
    fileIdentity.end()
    for pool in [readers, writer, probes] { pool.close() }
  }

  /// Returns the number in the result of a query, on the connection that writes.
  func number(_ query: String) throws(StoreFailure) -> Int64 {
    try touching { (connection) throws(StoreFailure) in try connection.first(query) { $0.integer(0) } ?? 0 }
  }

  // MARK: Connections

  /// - Parameter pool: the pool of the connection; nil stands for the pool of the readers.
  func reading<Result>(
    by pool: ConnectionPool<SQLiteConnection>? = nil,
    _ body: (SQLiteConnection) throws(StoreFailure) -> Result
  ) throws(StoreFailure) -> Result {
    try observer.measured { () throws(StoreFailure) in
      try fileIdentity.check()
      let pool = pool ?? readers
      let connection = try pool.acquire()
      defer { pool.release(connection) }
      return try body(connection)
    }
  }

  /// Runs one statement on the connection that writes.
  func touching<Result>(
    _ body: (SQLiteConnection) throws(StoreFailure) -> Result
  ) throws(StoreFailure) -> Result {
    try observer.measured { () throws(StoreFailure) in
      try fileIdentity.check()
      let connection = try writer.acquire()
      defer { writer.release(connection) }
      return try body(connection)
    }
  }

  /// Runs one transaction.
  func changing<Result>(
    _ body: (SQLiteConnection) throws(StoreFailure) -> Result
  ) throws(StoreFailure) -> Result {
    try touching { (connection) throws(StoreFailure) in
      try connection.transaction { () throws(StoreFailure) in try body(connection) }
    }
  }
}
