// The statements about e-mail links, people and the outbox that both databases share. Parameters are $1, $2 …

enum MailQueries {
  /// $1: hash; $2: purpose.
  static let link = """
    SELECT email, name, subject, device, browser_hash, visit, expires, spent, spent_for FROM mail_links
    WHERE token_hash = $1 AND purpose = $2
    """
  /// $1: id; $2: sealed; $3: now; $4: end.
  static let insertMail =
    "INSERT INTO outbox (id, sealed, due, expires, attempts) VALUES ($1, $2, $3, $4, 0) ON CONFLICT (id) DO NOTHING"
  /// $1: the address's key.
  static let personByEmail = "SELECT id, email, password FROM people WHERE email_key = $1"
  /// $1: id.
  static let personByID = "SELECT id, email, password FROM people WHERE id = $1"
  /// $1: id.
  static let removeMail = "DELETE FROM outbox WHERE id = $1"
  /// $1: id; $2: the time of the next try.
  static let putOffMail = "UPDATE outbox SET due = $2 WHERE id = $1"
  static let waitingMails = "SELECT count(*) FROM outbox"
}
