// The store's calls for the audit, for the counters of rate limits, and for the queue of provider tokens to revoke.

public import EnrollRules
public import EnrollGateway

extension SQLStore {
  public func append(_ entry: AuditEntry) throws(StoreFailure) {
    let values = AuditRow.values(entry)
    // This statement may be repeated after a failure, because a duplicate entry in the audit is better than a missing
    // entry.
    try changing(.repeatable) { (connection) throws(SQLFailure) in
      _ = try connection.change(.appendAudit, values)
    }
  }

  public func audit(ofAccount id: AccountID, limit: Int) throws(StoreFailure) -> [AuditEntry] {
    return try reading { (connection) throws(SQLFailure) in
      try connection.rows(.audit, [.id(id), .integer(Int64(clamping: limit))]) { AuditRow.entry($0) }
        .compactMap { $0 }
    }
  }

  public func auditEntries() throws(StoreFailure) -> Int {
    try reading { (connection) throws(SQLFailure) in
      try connection.first(.auditEntries, []) { Int($0.integer(0)) } ?? 0
    }
  }

  public func pruneAudit(before end: UnixTime) throws(StoreFailure) -> Int {
    try prune(.pruneAudit, end.seconds)
  }

  // MARK: Rate limits

  public func take(
    _ key: [UInt8], by rule: LimitRule, at now: UnixTime
  ) throws(StoreFailure) -> LimitVerdict {
    let moment = now.milliseconds
    let values: [SQLValue] = [
      .bytes(key), .integer(moment), .integer(rule.milliseconds.each), .integer(rule.milliseconds.all),
    ]
    return try changing(.repeatable) { (connection) throws(SQLFailure) in
      if try connection.first(.takeLimit, values, { $0.integer(0) }) != nil { return .granted }
      let fullAt = try connection.first(.limitFullAt, [.bytes(key)]) { $0.integer(0) }
      return rule.refusal(fullAt: fullAt ?? moment, now: moment)
    }
  }

  public func pruneLimits(at now: UnixTime) throws(StoreFailure) -> Int {
    try prune(.pruneLimits, now.milliseconds)
  }

  // MARK: Tokens to revoke

  public func takeRevocations(
    _ most: Int, leaseSeconds: Int64, at now: UnixTime
  ) throws(StoreFailure) -> [TakenRevocation] {
    let values: [SQLValue] = [
      .integer(now.seconds), .integer((now + leaseSeconds).seconds), .integer(Int64(clamping: most)),
      .integer((now + 2 * RevocationTimes.longestPauseSeconds).seconds),
    ]
    // This read checks without a lock whether the queue is empty, as it almost always is.
    let waiting = try reading { (connection) throws(SQLFailure) in
      try connection.first(.anyRevocation, []) { $0.integer(0) }
    }
    guard waiting != nil else { return [] }
    return try changing(.once) { (connection) throws(SQLFailure) in
      try connection.rows(.takeRevocations, values) { TakenRevocation(row: $0) }
    }
  }

  public func removeRevocation(_ id: Int64) throws(StoreFailure) {
    try changing(.repeatable) { (connection) throws(SQLFailure) in
      _ = try connection.change(.removeRevocation, [.integer(id)])
    }
  }

  public func putOffRevocation(_ id: Int64, until due: UnixTime) throws(StoreFailure) {
    try changing(.repeatable) { (connection) throws(SQLFailure) in
      _ = try connection.change(.putOffRevocation, [.integer(id), .integer(due.seconds)])
    }
  }

  public func dropRevocation(_ taken: TakenRevocation, at now: UnixTime) throws(StoreFailure) {
    try inTransaction { (connection) throws(SQLFailure) in
      try AccountTransaction(connection).drop(taken, at: now)
    }
  }
}

extension TakenRevocation {
  /// A row of ``SQLStatement/takeRevocations``.
  init(row: some SQLRow) {
    self.init(
      id: row.integer(0), provider: row.text(1), sealed: row.text(2),
      account: row.id(3), expires: row.time(4),
      attempts: row.integer(5))
  }
}
