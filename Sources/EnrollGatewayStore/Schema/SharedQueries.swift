// The statements that both databases share. Parameters are $1, $2 …; SQLite's adapter rewrites them to ?1, ?2 ….

import EnrollGateway

enum SharedQueries {
  /// Rewrites the parameters for SQLite.
  static func numbered(_ text: String) -> String { String(text.map { $0 == "$" ? "?" : $0 }) }

  private static let liveSession = """
    SELECT s.id, s.app, s.device, s.created, s.last_seen, s.expires, s.idle_seconds, s.absolute_expires,
      a.id, a.created, a.last_login, i.provider, i.subject, i.email, i.email_verified, i.name
    FROM sessions s
    JOIN accounts a ON a.id = s.account
    JOIN identities i ON i.provider = s.provider AND i.subject = s.subject AND i.account = s.account
    """

  /// $1: the token's hash; $2: now.
  static let session = "\(liveSession) WHERE s.token_hash = $1 AND s.expires > $2"
  /// $1: the account; $2: now.
  static let sessions = """
    \(liveSession) WHERE s.account = $1 AND s.expires > $2
    ORDER BY s.last_seen DESC, s.created DESC, s.id DESC LIMIT \(sessionLimit)
    """
  /// The most live sessions of one account. One more ends the session that was unused for the longest time.
  static let sessionLimit = 100
  /// Appended to a query for an account's sessions: selects up to 1,000 sessions that have to end before one more begins.
  static let surplus =
    "ORDER BY last_seen DESC, created DESC, id DESC LIMIT 1000 OFFSET \(sessionLimit - 1)"
  /// $1: the token's hash; $2: now; $3: a minute ago; $4: the session's new end. A use that another call has
  /// recorded is not recorded again, and an ended session stays ended.
  static let touch = """
    UPDATE sessions SET last_seen = $2, expires = $4
    WHERE token_hash = $1 AND last_seen <= $3 AND expires > $2
    """
  /// $1: the account. Spent codes stay, so that a second use is detected.
  static let endCodes = "DELETE FROM app_codes WHERE account = $1 AND spent IS NULL"
  /// $1: the account. An unused link could sign the user in again.
  static let endLinks = """
    DELETE FROM mail_links WHERE spent IS NULL AND subject IN
      (SELECT subject FROM identities WHERE account = $1)
    """
  static let identities = """
    SELECT provider, subject, email, email_verified, name FROM identities
    WHERE account = $1 ORDER BY created, provider, subject
    """
  /// Expired rows are deleted three days later by both clocks, the gateway's and the database's: one wrong clock alone cannot
  /// delete rows that are valid.
  static let keptSeconds: Int64 = 3 * 86_400
  /// $1: the provider; $2: the subject.
  static let account = "SELECT account FROM identities WHERE provider = $1 AND subject = $2"
  /// $1: the provider; $2: the subject; $3: the sealed token.
  static let keepToken = "UPDATE identities SET token = $3 WHERE provider = $1 AND subject = $2"
  /// $1: the hash; $2: now.
  static let isSpent = "SELECT expires FROM spent WHERE hash = $1 AND expires > $2"
  /// $1: the code's hash.
  static let code = """
    SELECT c.provider, c.challenge, c.expires, c.spent, c.session_hash, c.account, c.subject, c.app,
      a.created, a.last_login, c.provider_session
    FROM app_codes c JOIN accounts a ON a.id = c.account WHERE c.code_hash = $1
    """

  // MARK: Operation

  /// $1: the account; $2: the limit.
  static let audit =
    "SELECT \(AuditRow.columns) FROM audit WHERE account = $1 ORDER BY id DESC LIMIT $2"
  /// Only for SQLite. $1: now. The row is larger than a database page, so that writing it needs free pages.
  static let writeProbe = """
    INSERT INTO write_probe (id, at, room) VALUES (1, $1, zeroblob(8192))
    ON CONFLICT (id) DO UPDATE SET at = $1, room = zeroblob(8192)
    """
  static let auditEntries = "SELECT coalesce(max(id), 0) FROM audit"
  /// Takes one request from a bucket. $1: the key; $2: now; $3: the cost of one request; $4: the capacity,
  /// all in milliseconds. Returns a row if the request is granted. A stored time is ignored if it is later
  /// than any time that a gateway with a correct clock can write.
  static let takeLimit = """
    INSERT INTO limit_counters AS known (key, full_at)
    VALUES ($1, CAST($2 AS bigint) + CAST($3 AS bigint))
    ON CONFLICT (key) DO UPDATE SET full_at = CAST($3 AS bigint) + \(limitBefore)
    WHERE CAST($3 AS bigint) + \(limitBefore) <= CAST($2 AS bigint) + CAST($4 AS bigint)
    RETURNING full_at
    """
  private static let limitBefore = """
    CASE WHEN known.full_at BETWEEN CAST($2 AS bigint) AND CAST($2 AS bigint) + CAST($4 AS bigint) + 60000
      THEN known.full_at ELSE CAST($2 AS bigint) END
    """
  /// $1: the key.
  static let limitFullAt = "SELECT full_at FROM limit_counters WHERE key = $1"
  private static let accounts = "SELECT DISTINCT a.id, a.created, a.last_login FROM accounts a"
  /// $1: the address.
  static let accountsByEmail = """
    \(accounts) JOIN identities i ON i.account = a.id
    WHERE i.email IS NOT NULL AND lower(i.email) = lower($1) ORDER BY a.created, a.id LIMIT 100
    """
  /// $1: the id.
  static let accountByID = "\(accounts) WHERE a.id = $1"
}
