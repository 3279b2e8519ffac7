// The statements about e-mail links, people of the gateway's own directory, and the outbox.

import EnrollGateway

extension SQLStatement {
  /// $1: hash; $2: purpose.
  static let link = SQLStatement(
    """
    SELECT email, name, subject, device, browser_hash, visit, expires, spent, spent_for FROM mail_links
    WHERE token_hash = $1 AND purpose = $2
    """)
  /// $1: hash; $2: purpose; $3: now; $4: the hash of the new session or code, or null.
  static let spendLink = SQLStatement(
    """
    UPDATE mail_links SET spent = $3, spent_for = $4
    WHERE token_hash = $1 AND purpose = $2 AND spent IS NULL AND expires > $3
    """)
  /// $1: the address's key.
  static let personByEmail = SQLStatement("SELECT id, email, password FROM people WHERE email_key = $1")
  /// $1: id.
  static let personByID = SQLStatement("SELECT id, email, password FROM people WHERE id = $1")
  /// $1: id; $2: the password's hash.
  static let updatePassword = SQLStatement("UPDATE people SET password = $2 WHERE id = $1")
  /// $1: id; $2: the password's hash.
  static let passwordIsCurrent = SQLStatement {
    "SELECT id FROM people WHERE id = $1 AND password = $2\($0.shareLock)"
  }
  /// $1, $2: provider, subject; $3: the hash of the token whose session stays, or null.
  static let endSessionsOfPerson = SQLStatement {
    """
    DELETE FROM sessions WHERE token_hash \($0.isNot) $3 AND account IN
      (SELECT account FROM identities WHERE provider = $1 AND subject = $2)
    """
  }
  /// $1, $2: provider, subject.
  static let endCodesOfPerson = SQLStatement(
    """
    DELETE FROM app_codes WHERE spent IS NULL AND account IN
      (SELECT account FROM identities WHERE provider = $1 AND subject = $2)
    """)
  /// $1: subject; $2: the hash of the link that is being spent, or null.
  static let endLinksOfPerson = SQLStatement {
    "DELETE FROM mail_links WHERE spent IS NULL AND subject = $1 AND token_hash \($0.isNot) $2"
  }

  // MARK: Outbox

  /// $1: id; $2: sealed; $3: now; $4: expiry.
  static let insertMail = SQLStatement(
    "INSERT INTO outbox (id, sealed, due, expires, attempts) VALUES ($1, $2, $3, $4, 0) ON CONFLICT (id) DO NOTHING"
  )
  /// $1: now; $2: when the lease of the mails ends; $3: the limit; $4: ``RegistrationTimes/latestDue(at:)``.
  static let takeMails = SQLStatement {
    """
    UPDATE outbox SET due = $2, attempts = attempts + 1 WHERE id
      \($0.among("SELECT id FROM outbox WHERE due <= $1 OR due > $4 ORDER BY due LIMIT $3"))
    RETURNING id, sealed, expires, attempts
    """
  }
  /// $1: id.
  static let removeMail = SQLStatement("DELETE FROM outbox WHERE id = $1")
  /// $1: id; $2: the time of the next try.
  static let putOffMail = SQLStatement("UPDATE outbox SET due = $2 WHERE id = $1")
  static let waitingMails = SQLStatement("SELECT count(*) FROM outbox")
}
