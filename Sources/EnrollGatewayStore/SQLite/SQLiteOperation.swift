// The operator's queries for SQLite: the audit, the counters of rate limits, a check for disk space, and
// searches for accounts.

public import EnrollRules
public import EnrollGateway

extension SQLiteStore {
  public func append(_ entry: AuditEntry) throws(StoreFailure) {
    let values = try AuditRow.values(entry)
    try changing { (connection) throws(StoreFailure) in _ = try connection.change(.appendAudit, values) }
  }

  public func audit(ofAccount id: String, limit: Int) throws(StoreFailure) -> [AuditEntry] {
    guard let account = StoredID.bytes(of: id) else { return [] }
    return try reading { (connection) throws(StoreFailure) in
      try connection.rows(.audit, [.bytes(account), .integer(Int64(clamping: limit))]) {
        AuditRow.entry($0)
      }
      .compactMap { $0 }
    }
  }

  public func checkDiskSpace(at now: UnixTime) throws(StoreFailure) {
    do throws(StoreFailure) {
      try changing { (connection) throws(StoreFailure) in
        _ = try connection.collect(SharedQueries.writeProbe, [.integer(now.seconds)]) { _ in }
      }
    } catch {
      guard case .full = error else { return }
      throw error
    }
  }

  public func auditEntries() throws(StoreFailure) -> Int {
    try reading { (connection) throws(StoreFailure) in
      try connection.collect(SharedQueries.auditEntries, []) { Int($0.integer(0)) }.first ?? 0
    }
  }

  public func pruneAudit(before end: UnixTime) throws(StoreFailure) -> Int {
    try prune(.pruneAudit, end.seconds)
  }

  public func take(
    _ key: [UInt8], by rule: LimitRule, at now: UnixTime
  ) throws(StoreFailure) -> LimitVerdict {
    let moment = now.milliseconds
    let values: [SQLValue] = [
      .bytes(key), .integer(moment), .integer(rule.milliseconds.each), .integer(rule.milliseconds.all),
    ]
    return try changing { (connection) throws(StoreFailure) in
      if try connection.first(.takeLimit, values, { $0.integer(0) }) != nil { return .granted }
      let fullAt = try connection.first(.limitFullAt, [.bytes(key)]) { $0.integer(0) }
      return rule.refusal(fullAt: fullAt ?? moment, now: moment)
    }
  }

  public func pruneLimits(at now: UnixTime) throws(StoreFailure) -> Int {
    try prune(.pruneLimits, now.milliseconds)
  }

  public func accounts(withEmail email: String) throws(StoreFailure) -> [Account] {
    guard !email.utf8.contains(0) else { return [] }
    return try reading { (connection) throws(StoreFailure) in
      try connection.rows(.accountsByEmail, [.text(email)]) { Account(row: $0) }
    }
  }

  public func account(_ id: String) throws(StoreFailure) -> Account? {
    guard let account = StoredID.bytes(of: id) else { return nil }
    return try reading { (connection) throws(StoreFailure) in
      try connection.first(.accountByID, [.bytes(account)]) { Account(row: $0) }
    }
  }
}
