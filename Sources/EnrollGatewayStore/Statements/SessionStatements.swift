// The statements about sessions, codes of apps, identities and accounts.

import EnrollGateway

extension SQLStatement {
  private static let liveSession = """
    SELECT s.id, s.app, s.device, s.created, s.last_seen, s.expires, s.idle_seconds, s.absolute_expires,
      a.id, a.created, a.last_login, i.provider, i.subject, i.email, i.email_verified, i.name
    FROM sessions s
    JOIN accounts a ON a.id = s.account
    JOIN identities i ON i.provider = s.provider AND i.subject = s.subject AND i.account = s.account
    """

  /// $1: the token's hash; $2: now.
  static let session = SQLStatement("\(liveSession) WHERE s.token_hash = $1 AND s.expires > $2")
  /// $1: the account; $2: now.
  static let sessions = SQLStatement(
    """
    \(liveSession) WHERE s.account = $1 AND s.expires > $2
    ORDER BY s.last_seen DESC, s.created DESC, s.id DESC LIMIT \(SessionLimits.most)
    """)
  /// $1: the token's hash; $2: now; $3: a minute ago; $4: the session's new end. If another call has recorded a use
  /// within this minute, nothing is recorded. A session that has ended is not changed.
  static let touch = SQLStatement(
    """
    UPDATE sessions SET last_seen = $2, expires = $4
    WHERE token_hash = $1 AND last_seen <= $3 AND expires > $2
    """)
  /// $1: the token's hash. Returns the account and the session's id.
  static let endSession = SQLStatement("DELETE FROM sessions WHERE token_hash = $1 RETURNING account, id")
  /// $1: the session's id; $2: the account. Returns the account and the session's id, as ``endSession`` does.
  static let endSessionByID = SQLStatement(
    "DELETE FROM sessions WHERE id = $1 AND account = $2 RETURNING account, id")
  /// $1: the account; $2: the hash of the token whose session does not end, or null.
  static let endSessions = SQLStatement {
    "DELETE FROM sessions WHERE account = $1 AND token_hash \($0.isNot) $2"
  }
  /// $1: the account. Codes that were used already are kept, so that a second use is detected.
  static let endCodes = SQLStatement("DELETE FROM app_codes WHERE account = $1 AND spent IS NULL")
  /// $1: the account. An unused link could sign the user in again.
  static let endLinks = SQLStatement(
    """
    DELETE FROM mail_links WHERE spent IS NULL AND subject IN
      (SELECT subject FROM identities WHERE account = $1)
    """)
  static let identities = SQLStatement(
    """
    SELECT provider, subject, email, email_verified, name FROM identities
    WHERE account = $1 ORDER BY created, provider, subject
    """)
  /// $1: the code's hash.
  static let code = SQLStatement(
    """
    SELECT c.provider, c.challenge, c.expires, c.spent, c.session_hash, c.account, c.subject, c.app,
      a.created, a.last_login, c.provider_session
    FROM app_codes c JOIN accounts a ON a.id = c.account WHERE c.code_hash = $1
    """)
  /// $1: the code's hash. $2: the hash of the session that a lost call may have begun. Returns a row if that session exists.
  static let isOwnSession = SQLStatement(
    """
    SELECT 1 FROM app_codes c JOIN sessions s ON s.token_hash = c.session_hash
    WHERE c.code_hash = $1 AND s.token_hash = $2
    """)

  private static let accounts = "SELECT DISTINCT a.id, a.created, a.last_login FROM accounts a"
  /// $1: the address.
  static let accountsByEmail = SQLStatement(
    """
    \(accounts) JOIN identities i ON i.account = a.id
    WHERE i.email IS NOT NULL AND lower(i.email) = lower($1) ORDER BY a.created, a.id LIMIT 100
    """)
  /// $1: the id.
  static let accountByID = SQLStatement("\(accounts) WHERE a.id = $1")
  /// $1: the provider; $2: the subject.
  static let accountOfIdentity = SQLStatement(
    "SELECT account FROM identities WHERE provider = $1 AND subject = $2")
  /// $1: the provider; $2: the subject; $3: the sealed token.
  static let keepToken = SQLStatement(
    "UPDATE identities SET token = $3 WHERE provider = $1 AND subject = $2")
  /// $1: the hash; $2: now.
  static let isSpent = SQLStatement("SELECT expires FROM spent WHERE hash = $1 AND expires > $2")
}

enum SessionLimits {
  /// The largest number of live sessions of one account. A further session ends the session that was unused for the
  /// longest time.
  static let most = 100
  /// Appended to a query for an account's sessions: selects up to 1,000 sessions that have to end before one more begins.
  static let surplus =
    "ORDER BY last_seen DESC, created DESC, id DESC LIMIT 1000 OFFSET \(most - 1)"
  /// The seconds for which an expired row is kept: three days, both by the gateway's clock and by the database's clock.
  /// If only one of the clocks is wrong, no valid row is deleted.
  static let keptSeconds: Int64 = 3 * 86_400
}
