// The statements about the audit, the counters of rate limits, tokens to revoke, and old rows.

import EnrollGateway

extension SQLStatement {
  /// $1 … $7: ``AuditRow/columns``.
  static let appendAudit = SQLStatement(
    "INSERT INTO audit (\(AuditRow.columns)) VALUES ($1, $2, $3, $4, $5, $6, $7)")
  /// Reads the audit of an account. $1: the account; $2: the limit.
  static let audit = SQLStatement(
    "SELECT \(AuditRow.columns) FROM audit WHERE account = $1 ORDER BY id DESC LIMIT $2")
  static let auditEntries = SQLStatement("SELECT coalesce(max(id), 0) FROM audit")

  /// Takes one request from a bucket. $1: the key; $2: now; $3: the cost of one request; $4: the capacity. $2 to $4 are
  /// in milliseconds. Returns a row if the request is granted. A stored time is ignored if it is later than any time
  /// that a gateway with a correct clock can write.
  static let takeLimit = SQLStatement(
    """
    INSERT INTO limit_counters AS known (key, full_at)
    VALUES ($1, CAST($2 AS bigint) + CAST($3 AS bigint))
    ON CONFLICT (key) DO UPDATE SET full_at = CAST($3 AS bigint) + \(limitBefore)
    WHERE CAST($3 AS bigint) + \(limitBefore) <= CAST($2 AS bigint) + CAST($4 AS bigint)
    RETURNING full_at
    """)
  private static let limitBefore = """
    CASE WHEN known.full_at BETWEEN CAST($2 AS bigint) AND CAST($2 AS bigint) + CAST($4 AS bigint) + 60000
      THEN known.full_at ELSE CAST($2 AS bigint) END
    """
  /// $1: the key.
  static let limitFullAt = SQLStatement("SELECT full_at FROM limit_counters WHERE key = $1")

  // MARK: Tokens to revoke

  static let anyRevocation = SQLStatement("SELECT id FROM revocations LIMIT 1")
  /// Queues a token to revoke. $1: provider; $2: sealed; $3: account; $4: now; $5: expiry.
  static let insertRevocation = SQLStatement(
    """
    INSERT INTO revocations (provider, sealed, account, due, expires, attempts)
    VALUES ($1, $2, $3, $4, $5, 0)
    """)
  /// Takes tokens to revoke. $1: now; $2: when the lease of the tokens ends; $3: the limit; $4: a time after every due
  /// time that a gateway with the right clock writes. Tokens with a still later due time, which a wrong clock caused,
  /// are taken at once.
  static let takeRevocations = SQLStatement {
    """
    UPDATE revocations SET due = $2, attempts = attempts + 1 WHERE id
      \($0.among("SELECT id FROM revocations WHERE due <= $1 OR due > $4 ORDER BY due LIMIT $3"))
    RETURNING id, provider, sealed, account, expires, attempts
    """
  }
  /// $1: id.
  static let removeRevocation = SQLStatement("DELETE FROM revocations WHERE id = $1")
  /// Sets the time of the next try to revoke a token. $1: id; $2: the time of the next try.
  static let putOffRevocation = SQLStatement("UPDATE revocations SET due = $2 WHERE id = $1")

  // MARK: Old rows

  /// A statement that deletes rows. $1: the condition's time; $2: the maximum number of rows.
  private static func prune(
    _ table: String, by key: String, _ condition: @escaping (SQLDialect) -> String
  ) -> SQLStatement {
    SQLStatement {
      "DELETE FROM \(table) WHERE \(key) "
        + $0.among("SELECT \(key) FROM \(table) WHERE \(condition($0)) LIMIT $2")
    }
  }

  /// The condition for a row that expired days ago. $1: now, by the gateway's clock.
  private static func isLongOver(_ dialect: SQLDialect) -> String {
    "expires <= \(dialect.least)(CAST($1 AS bigint), \(dialect.now)) - \(SessionLimits.keptSeconds)"
  }

  /// An SQL expression for the earlier of two times: $1, and the database's time `seconds` ago.
  private static func atMost(_ seconds: Int64, ago dialect: SQLDialect) -> String {
    "\(dialect.least)(CAST($1 AS bigint), \(dialect.now) - \(seconds))"
  }

  /// $1: now; $2: the limit.
  static let pruneSessions = prune("sessions", by: "token_hash", isLongOver)
  /// $1: now; $2: the limit.
  static let pruneCodes = prune("app_codes", by: "code_hash", isLongOver)
  /// $1: now; $2: the limit.
  static let pruneSpent = prune("spent", by: "hash", isLongOver)
  /// Deletes old e-mail links. $1: now minus ``RegistrationTimes/keptSeconds``; $2: the limit.
  static let pruneLinks = prune("mail_links", by: "token_hash") {
    "expires <= \(atMost(RegistrationTimes.keptSeconds, ago: $0))"
  }
  /// Deletes old audit entries. $1: entries before this time are deleted; $2: the limit.
  static let pruneAudit = prune("audit", by: "id") { "at < \(atMost(Migration.youngestSeconds, ago: $0))" }
  /// Deletes counters of limits that are full again. $1: now in milliseconds; $2: the limit.
  static let pruneLimits = prune("limit_counters", by: "key") { _ in "full_at <= $1" }
}
