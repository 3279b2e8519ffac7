// Every prepared statement of the SQLite adapter, by name. A connection prepares each statement when it is first used.

enum SQLiteStatement: Int, CaseIterable {
  case begin
  case commit
  case rollback
  /// ?1 … ?6: provider, subject, e-mail, whether it is verified, name, now. Returns the account.
  case updateIdentity
  /// ?1: account; ?2: now. Returns its creation time.
  case updateAccount
  /// ?1: account; ?2: now.
  case insertAccount
  /// ?1 … ?7: provider, subject, account, e-mail, whether it is verified, name, now.
  case insertIdentity
  /// ?1 … ?12: hash, id, account, provider, subject, app, device, now, idle seconds, absolute end, end, the provider's session.
  case insertSession
  /// ?1: account; ?2: now. Ends the sessions that are over the limit once one more begins.
  case endSurplus
  /// ?1 … ?8: hash, account, provider, subject, app, challenge, end, the provider's session.
  case insertCode
  /// ?1: the code's hash; ?2: now; ?3: the session's hash.
  case spendCode
  /// ?1: now; ?2: the limit.
  case pruneSessions
  /// ?1: now; ?2: the limit.
  case pruneCodes
  /// ?1: the address's key; ?2: purpose.
  case removeLinks
  /// ?1 … ?11: ``CheckedLink/values``.
  case insertLink
  case link
  /// ?1: hash; ?2: now; ?3: the hash of the new session or code, or null.
  case spendLink
  /// ?1: now, less ``RegistrationTimes/keptSeconds``; ?2: the limit.
  case pruneLinks
  /// ?1 … ?7: id, the address's key, address, password's hash, provider, subject, now.
  case insertPerson
  case personByEmail
  case personByID
  /// ?1: id; ?2: the password's hash.
  case updatePassword
  /// ?1, ?2: provider, subject; ?3: the hash of the token whose session stays.
  case endSessionsOfPerson
  /// ?1, ?2: provider, subject.
  case endCodesOfPerson
  /// ?1: subject; ?2: the hash of the link that is being spent.
  case endLinksOfPerson
  /// ?1: id; ?2: the password's hash.
  case passwordIsCurrent
  case insertMail
  /// ?1: now; ?2: when the lease of the mails ends; ?3: the limit; ?4: ``RegistrationTimes/latestDue(at:)``.
  case takeMails
  case removeMail
  case putOffMail
  case waitingMails
  /// ?1: now; ?2: the limit.
  case pruneSpent
  case session
  case sessions
  case touch
  case endSession
  case endSessionByID
  case endSessions
  case endOtherSessions
  case endCodes
  case endLinks
  case identities
  case code
  /// ?1 … ?7: ``AuditRow/columns``.
  case appendAudit
  case audit
  /// ?1: entries before this time are deleted; ?2: the limit.
  case pruneAudit
  case takeLimit
  case limitFullAt
  /// ?1: now in milliseconds; ?2: the limit.
  case pruneLimits
  case accountsByEmail
  case accountByID

  var text: String {
    switch self {
    case .begin: "BEGIN IMMEDIATE"
    case .commit: "COMMIT"
    case .rollback: "ROLLBACK"
    case .updateIdentity:
      """
      UPDATE identities SET
        email_verified = CASE WHEN ?3 IS NULL THEN email_verified ELSE ?4 END,
        email = coalesce(?3, email),
        name = coalesce(?5, name),
        last_login = ?6
      WHERE provider = ?1 AND subject = ?2 RETURNING account
      """
    case .updateAccount: "UPDATE accounts SET last_login = ?2 WHERE id = ?1 RETURNING created"
    case .insertAccount: "INSERT INTO accounts (id, created, last_login) VALUES (?1, ?2, ?2)"
    case .insertIdentity:
      """
      INSERT INTO identities (provider, subject, account, email, email_verified, name, created, last_login)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)
      """
    case .insertSession:
      """
      INSERT INTO sessions (token_hash, id, account, provider, subject, app, device, created, last_seen,
        idle_seconds, absolute_expires, expires, provider_session)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9, ?10, ?11, ?12)
      ON CONFLICT (token_hash) DO NOTHING
      """
    case .endSurplus:
      """
      DELETE FROM sessions WHERE rowid IN
        (SELECT rowid FROM sessions WHERE account = ?1 AND expires > ?2 \(SharedQueries.surplus))
      """
    case .insertCode:
      """
      INSERT INTO app_codes
        (code_hash, account, provider, subject, app, challenge, expires, provider_session)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
      ON CONFLICT (code_hash) DO NOTHING
      """
    case .spendCode: "UPDATE app_codes SET spent = ?2, session_hash = ?3 WHERE code_hash = ?1"
    case .pruneSessions:
      "DELETE FROM sessions WHERE rowid IN (SELECT rowid FROM sessions WHERE \(Self.isLongOver) LIMIT ?2)"
    case .pruneCodes:
      """
      DELETE FROM app_codes WHERE code_hash IN
        (SELECT code_hash FROM app_codes WHERE \(Self.isLongOver) LIMIT ?2)
      """
    case .removeLinks: "DELETE FROM mail_links WHERE email_key = ?1 AND purpose = ?2"
    case .insertLink:
      """
      INSERT INTO mail_links (token_hash, purpose, email_key, email, name, subject, device, browser_hash, visit,
        created, expires)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
      """
    case .link: numbered(MailQueries.link)
    case .spendLink: "UPDATE mail_links SET spent = ?2, spent_for = ?3 WHERE token_hash = ?1"
    case .pruneLinks:
      """
      DELETE FROM mail_links WHERE token_hash IN
        (SELECT token_hash FROM mail_links WHERE \(Self.isLinkOver) LIMIT ?2)
      """
    case .insertPerson:
      """
      INSERT INTO people (id, email_key, email, password, provider, subject, created)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
      """
    case .personByEmail: numbered(MailQueries.personByEmail)
    case .personByID: numbered(MailQueries.personByID)
    case .updatePassword: "UPDATE people SET password = ?2 WHERE id = ?1"
    case .endSessionsOfPerson:
      """
      DELETE FROM sessions WHERE token_hash IS NOT ?3 AND account IN
        (SELECT account FROM identities WHERE provider = ?1 AND subject = ?2)
      """
    case .endCodesOfPerson:
      """
      DELETE FROM app_codes WHERE spent IS NULL AND account IN
        (SELECT account FROM identities WHERE provider = ?1 AND subject = ?2)
      """
    case .endLinksOfPerson:
      "DELETE FROM mail_links WHERE spent IS NULL AND subject = ?1 AND token_hash IS NOT ?2"
    case .passwordIsCurrent: "SELECT id FROM people WHERE id = ?1 AND password = ?2"
    case .insertMail: numbered(MailQueries.insertMail)
    case .takeMails:
      """
      UPDATE outbox SET due = ?2, attempts = attempts + 1 WHERE id IN
        (SELECT id FROM outbox WHERE due <= ?1 OR due > ?4 ORDER BY due LIMIT ?3)
      RETURNING id, sealed, expires, attempts
      """
    case .removeMail: numbered(MailQueries.removeMail)
    case .putOffMail: numbered(MailQueries.putOffMail)
    case .waitingMails: numbered(MailQueries.waitingMails)
    case .pruneSpent:
      "DELETE FROM spent WHERE hash IN (SELECT hash FROM spent WHERE \(Self.isLongOver) LIMIT ?2)"
    case .session: numbered(SharedQueries.session)
    case .sessions: numbered(SharedQueries.sessions)
    case .touch: numbered(SharedQueries.touch)
    case .endSession: "DELETE FROM sessions WHERE token_hash = ?1 RETURNING account, id"
    case .endSessionByID: "DELETE FROM sessions WHERE id = ?1 AND account = ?2"
    case .endSessions: "DELETE FROM sessions WHERE account = ?1"
    case .endOtherSessions: "DELETE FROM sessions WHERE account = ?1 AND token_hash <> ?2"
    case .appendAudit:
      "INSERT INTO audit (\(AuditRow.columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
    case .audit: numbered(SharedQueries.audit)
    case .pruneAudit:
      """
      DELETE FROM audit WHERE id IN (SELECT id FROM audit
        WHERE at < min(?1, CAST(strftime('%s', 'now') AS integer) - \(Migration.youngestSeconds)) LIMIT ?2)
      """
    case .takeLimit: numbered(SharedQueries.takeLimit)
    case .limitFullAt: numbered(SharedQueries.limitFullAt)
    case .pruneLimits:
      """
      DELETE FROM limit_counters WHERE key IN
        (SELECT key FROM limit_counters WHERE full_at <= ?1 LIMIT ?2)
      """
    case .accountsByEmail: numbered(SharedQueries.accountsByEmail)
    case .accountByID: numbered(SharedQueries.accountByID)
    case .endCodes: numbered(SharedQueries.endCodes)
    case .endLinks: numbered(SharedQueries.endLinks)
    case .identities: numbered(SharedQueries.identities)
    case .code: numbered(SharedQueries.code)
    }
  }

  /// ?1: now, by the gateway's clock.
  private static let isLongOver =
    "expires <= min(?1, CAST(strftime('%s', 'now') AS integer)) - \(SharedQueries.keptSeconds)"

  /// ?1: now by the gateway's clock, less ``RegistrationTimes/keptSeconds``.
  private static let isLinkOver =
    "expires <= min(?1, CAST(strftime('%s', 'now') AS integer) - \(RegistrationTimes.keptSeconds))"

  private func numbered(_ text: String) -> String { SharedQueries.numbered(text) }
}
