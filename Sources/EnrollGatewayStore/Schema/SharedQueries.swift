// The statements that both databases read alike. Parameters are $1, $2 …; SQLite's adapter writes them ?1, ?2 ….

enum SharedQueries {
  /// As SQLite reads it.
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
    ORDER BY s.last_seen DESC, s.created DESC, s.id DESC
    """
  /// $1: the token's hash; $2: now; $3: a minute before; $4: when the session ends now. A use that another call noted is not
  /// noted again, and a session that ended does not come back.
  static let touch = """
    UPDATE sessions SET last_seen = $2, expires = $4
    WHERE token_hash = $1 AND last_seen <= $3 AND expires > $2
    """
  static let endSession = "DELETE FROM sessions WHERE token_hash = $1"
  /// $1: the id; $2: the account.
  static let endSessionByID = "DELETE FROM sessions WHERE id = $1 AND account = $2"
  static let endSessions = "DELETE FROM sessions WHERE account = $1"
  /// $1: the account; $2: the hash of the token whose session stays.
  static let endOtherSessions = "DELETE FROM sessions WHERE account = $1 AND token_hash <> $2"
  static let identities = """
    SELECT provider, subject, email, email_verified, name FROM identities
    WHERE account = $1 ORDER BY created, provider, subject
    """
  /// $1: the provider; $2: the subject.
  static let account = "SELECT account FROM identities WHERE provider = $1 AND subject = $2"
  /// $1: the provider; $2: the subject; $3: the sealed token.
  static let keepToken = "UPDATE identities SET token = $3 WHERE provider = $1 AND subject = $2"
  /// $1: the code's hash.
  static let code = """
    SELECT c.provider, c.challenge, c.expires, c.spent, c.session_hash, c.account, c.subject, c.app,
      a.created, a.last_login, c.provider_session
    FROM app_codes c JOIN accounts a ON a.id = c.account WHERE c.code_hash = $1
    """
}
