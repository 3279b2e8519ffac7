// The store over either database: sign-ins, codes of apps, and sessions.

public import EnrollRules
public import EnrollGateway

/// Accounts in a database: ``SQLiteStore`` or ``PostgreSQLStore``.
public class SQLStore: AccountStore, @unchecked Sendable {
  // Unchecked, because a class with subclasses cannot be checked. Nothing changes after the initializer.
  let database: any SQLDatabase
  let observer: (any StoreObserver)?
  /// The maximum number of rows that one transaction deletes, so that other transactions can write in between.
  private static let pruneBatch: Int64 = 1_000

  init(_ database: any SQLDatabase, _ observer: (any StoreObserver)?) {
    self.database = database
    self.observer = observer
  }

  /// Runs a call that changes nothing.
  func reading<Result>(
    _ body: (any SQLConnection) throws(SQLFailure) -> Result
  ) throws(StoreFailure) -> Result {
    try database.perform(.reading) { (connection, _) throws(SQLFailure) in try body(connection) }
  }

  /// Runs a change that is one statement.
  func changing<Result>(
    _ use: SQLUse, _ body: (any SQLConnection) throws(SQLFailure) -> Result
  ) throws(StoreFailure) -> Result {
    try database.perform(use) { (connection, _) throws(SQLFailure) in try body(connection) }
  }

  /// Runs a change of several statements in one transaction.
  func inTransaction<Result>(
    _ use: SQLUse = .once, _ body: (any SQLConnection) throws(SQLFailure) -> Result
  ) throws(StoreFailure) -> Result {
    try database.perform(use) { (connection, _) throws(SQLFailure) in
      try connection.atomically { () throws(SQLFailure) in try body(connection) }
    }
  }

  // MARK: Sign-in

  public func signIn(
    _ identity: Identity, newAccountID: AccountID, creating credential: NewCredential, at now: UnixTime,
    from origin: AuditOrigin
  ) throws(StoreFailure) -> SignedIn {
    let identity = try CheckedIdentity(identity)
    let credential = try CheckedCredential(credential, at: now)
    // A repetition of this call finds what the first attempt made: the identity, its account, and the session or code.
    let begun = try changing(.repeatable) { (connection) throws(SQLFailure) in
      try connection.signIn(identity, newID: newAccountID, creating: credential, at: now, from: origin)
    }
    observer.began(credential, ending: begun.surplus)
    return begun.signedIn
  }

  public func redeem(
    codeHash: [UInt8], provider: String, challenge: String, session: NewSession, at now: UnixTime,
    from origin: AuditOrigin
  ) throws(StoreFailure) -> Redemption {
    let session = try CheckedSession(session, at: now)
    guard !provider.utf8.contains(0), !challenge.utf8.contains(0) else { return .unknown }
    var ended: (count: Int, why: SessionEnd) = (0, .surplus)
    let redemption = try database.perform(.repeatable) {
      (connection, isRepeated) throws(SQLFailure) -> Redemption in
      let begun = try connection.redeem(
        codeHash, provider: provider, challenge: challenge, for: session, at: now, from: origin)
      if let begun {
        ended.count = begun.surplus
        return .created(begun.account)
      }
      // A new statement has a new snapshot: it sees the change of another transaction for which the previous statement
      // waited.
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
        ended.count = try connection.atomically { () throws(SQLFailure) in
          let count = try connection.rows(.endSession, [.bytes(code.sessionHash)]) { _ in }.count
          try connection.note(.reuse(of: code, at: now, from: origin))
          return count
        }
        ended.why = .codeReused
      }
      return refusal ?? .unknown
    }
    if case .created = redemption { observer?.sessionBegan() }
    observer.ended(ended.count, ended.why)
    return redemption
  }

  // MARK: Sessions

  public func session(tokenHash: [UInt8], at now: UnixTime) throws(StoreFailure) -> LiveSession? {
    let found = try reading { (connection) throws(SQLFailure) in
      try connection.first(.session, [.bytes(tokenHash), .integer(now.seconds)]) { SessionRecord($0) }
    }
    guard var record = found else { return nil }
    guard record.isDue(at: now) else { return record.session }
    do {
      try changing(.once) { (connection) throws(SQLFailure) in
        _ = try connection.change(.touch, record.touchValues(tokenHash, at: now))
      }
      record.touch(at: now)
    } catch {
      // A full disk must sign nobody out: the session stays valid, and a later use is recorded.
    }
    return record.session
  }

  public func sessions(ofAccount id: AccountID, at now: UnixTime) throws(StoreFailure) -> [LiveSession] {
    return try reading { (connection) throws(SQLFailure) in
      try connection.rows(.sessions, [.id(id), .integer(now.seconds)]) { SessionRecord($0).session }
    }
  }

  public func endSession(
    tokenHash: [UInt8], at now: UnixTime, from origin: AuditOrigin
  ) throws(StoreFailure) {
    let isEnded = try endSession(.token(hash: tokenHash), at: now, from: origin)
    observer.ended(isEnded ? 1 : 0, .signedOut)
  }

  public func endSession(
    id: SessionID, ofAccount account: AccountID, at now: UnixTime, from origin: AuditOrigin
  ) throws(StoreFailure) -> Bool {
    let isEnded = try endSession(.id(id, account: account), at: now, from: origin)
    observer.ended(isEnded ? 1 : 0, .ended)
    return isEnded
  }

  private func endSession(
    _ session: SessionName, at now: UnixTime, from origin: AuditOrigin
  ) throws(StoreFailure) -> Bool {
    try database.perform(.repeatable) { (connection, isRepeated) throws(SQLFailure) in
      let isEnded = try connection.end(session, at: now, from: origin)
      // If this call is a repetition and the session does not exist any more, the earlier attempt, whose answer was
      // lost, has ended the session.
      return isEnded || isRepeated
    }
  }

  public func endSessions(
    ofAccount account: AccountID, exceptTokenHash: [UInt8]?, at now: UnixTime, from origin: AuditOrigin
  ) throws(StoreFailure) -> Int {
    let kept: SQLValue = exceptTokenHash.map { .bytes($0) } ?? .null
    let count = try inTransaction { (connection) throws(SQLFailure) -> Int in
      // Delete codes and links first. These statements wait until a code or link that is being redeemed has begun its
      // session, so the last statement, which ends sessions, sees that session.
      try connection.change(.endCodes, [.id(account)])
      try connection.change(.endLinks, [.id(account)])
      let count = try connection.change(.endSessions, [.id(account), kept])
      guard count > 0 else { return 0 }
      let entry = AuditEntry(at: now, .sessionsEnded, account: account, detail: String(count), from: origin)
      try connection.note(entry)
      return count
    }
    observer.ended(count, .everywhere)
    return count
  }

  // MARK: Accounts

  public func accounts(withEmail email: String) throws(StoreFailure) -> [Account] {
    guard !email.utf8.contains(0) else { return [] }
    return try reading { (connection) throws(SQLFailure) in
      try connection.rows(.accountsByEmail, [.text(email)]) { Account(row: $0) }
    }
  }

  public func account(_ id: AccountID) throws(StoreFailure) -> Account? {
    return try reading { (connection) throws(SQLFailure) in
      try connection.first(.accountByID, [.id(id)]) { Account(row: $0) }
    }
  }

  public func identities(ofAccount id: AccountID) throws(StoreFailure) -> [Identity] {
    return try reading { (connection) throws(SQLFailure) in
      try connection.rows(.identities, [.id(id)]) { Identity(row: $0) }
    }
  }

  // MARK: Upkeep

  public func prune(at now: UnixTime) throws(StoreFailure) -> Int {
    let sessions = try prune(.pruneSessions, now.seconds)
    observer.ended(sessions, .expired)
    return try sessions + prune(.pruneCodes, now.seconds)
      + prune(.pruneSpent, now.seconds) + prune(.pruneLinks, now.seconds - RegistrationTimes.keptSeconds)
  }

  /// Deletes rows in batches, so that sign-ins need not wait for the whole deletion. Expired rows have no effect,
  /// whether they are deleted or not.
  func prune(_ statement: SQLStatement, _ end: Int64) throws(StoreFailure) -> Int {
    var removed = 0
    while true {
      let count = try changing(.once) { (connection) throws(SQLFailure) in
        try connection.change(statement, [.integer(end), .integer(Self.pruneBatch)])
      }
      removed += count
      if count < Self.pruneBatch { return removed }
    }
  }

  public func migrate() throws(StoreFailure) -> [Int64] { try database.migrate() }

  public func check() throws(StoreFailure) { try database.check() }

  public func checkDiskSpace(at now: UnixTime) throws(StoreFailure) {
    try database.checkDiskSpace(at: now)
  }

  public func close() { database.close() }

  func number(_ query: String) throws(StoreFailure) -> Int64 { try database.number(query) }
}
