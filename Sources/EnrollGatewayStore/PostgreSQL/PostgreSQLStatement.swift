// Every prepared statement of the PostgreSQL adapter, by name. A connection prepares each statement when it is first used.

import EnrollGateway

enum PostgreSQLStatement: Int, CaseIterable {
  /// $1 … $7: provider, subject, id of a new account, e-mail, whether it is verified, name, now. $8 … $15: the session's hash,
  /// id, app, device, idle seconds, absolute end, end, the provider's session. $16, $17: the client's address, the request id.
  case signInToSession
  /// $1 … $7: as in ``signInToSession``. $8 … $13: the code's hash, provider, app, challenge, end, the provider's session. $14,
  /// $15: the client's address, the request id.
  case signInToCode
  /// $1 … $4: the code's hash, provider, challenge, now. $5 … $10: the session's hash, id, device, idle seconds, absolute end,
  /// end. $11, $12: the client's address, the request id.
  case redeem
  /// $1: the hash of the session that the code gave. From $2 on: the parameters of ``appendAudit``.
  case endByReuse
  /// $1: the code's hash. $2: the hash of the session that a lost call may have begun. Returns a row if that session exists.
  case isOwnSession
  /// $1: now; $2: the limit.
  case pruneSessions
  /// $1: now; $2: the limit.
  case pruneCodes
  case keepLink
  case link
  case spendLink
  case spendLinkForSession
  case spendLinkForCode
  /// $1: now, less ``RegistrationTimes/keptSeconds``; $2: the limit.
  case pruneLinks
  case personByEmail
  case personByID
  case setPassword
  case passwordIsCurrent
  case insertMail
  case takeMails
  case removeMail
  case putOffMail
  case waitingMails
  /// $1: now; $2: the limit.
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
  case appendAudit
  case audit
  /// $1: entries before this time are deleted; $2: the limit.
  case pruneAudit
  case takeLimit
  case limitFullAt
  /// $1: now in milliseconds; $2: the limit.
  case pruneLimits
  case accountsByEmail
  case accountByID

  var name: String { "enroll_\(rawValue)" }

  /// A sign-in in one statement, under READ COMMITTED. The identity is inserted first: of several concurrent calls for one new
  /// identity one inserts it; the others wait, then update it and get the account that it names. The account is inserted after
  /// that, with the id that the identity names, so that no account is left without an identity; the foreign key is checked at
  /// the end of the statement. The conflict finds a known account even if it was committed after the statement began. `xmax` is
  /// 0 in a row that was just inserted. If a new identity names an existing account, it would join another person's account:
  /// `last_login` is then set to NULL, which the column refuses.
  private static let person = """
    WITH person AS (
      INSERT INTO identities AS known
        (provider, subject, account, email, email_verified, name, created, last_login)
      VALUES ($1::text, $2::text, $3::uuid, $4::text, $5::boolean, $6::text, $7::bigint, $7::bigint)
      ON CONFLICT (provider, subject) DO UPDATE SET
        email_verified =
          CASE WHEN excluded.email IS NULL THEN known.email_verified ELSE excluded.email_verified END,
        email = coalesce(excluded.email, known.email),
        name = coalesce(excluded.name, known.name),
        last_login = excluded.last_login
      RETURNING account, xmax = 0 AS is_new
    ), owner AS (
      INSERT INTO accounts (id, created, last_login)
      SELECT account, $7::bigint, $7::bigint FROM person
      ON CONFLICT (id) DO UPDATE SET
        last_login = CASE WHEN (SELECT is_new FROM person) THEN NULL ELSE excluded.last_login END
      RETURNING id, created
    )
    """

  /// Ends the sessions that are over the limit once one more begins. The statement does not see the session that it begins
  /// itself; a repeated call does, and excludes it by its hash. Rows that another call is deleting are skipped. Concurrent
  /// calls do not see each other's sessions: until the next sign-in an account may have as many sessions too many as there are
  /// connections. `account` is a query for the account; `address` and `request` are for the audit. ``surplusCount`` is the
  /// number of ended sessions.
  static func ending(
    surplusOf account: String, at now: String, beside hash: String, from address: String, _ request: String
  ) -> String {
    """
    surplus AS (
      DELETE FROM sessions WHERE token_hash = ANY (ARRAY(
        SELECT token_hash FROM sessions WHERE token_hash = ANY (ARRAY(
          SELECT token_hash FROM sessions
          WHERE account = (\(account)) AND expires > \(now)::bigint AND token_hash <> \(hash)::bytea
          \(SharedQueries.surplus)))
        FOR UPDATE SKIP LOCKED))
      RETURNING 1
    ), surplus_noted AS (
      INSERT INTO audit (\(AuditRow.columns))
      SELECT \(now)::bigint, '\(AuditEvent.surplusEnded.rawValue)', 'done', (\(account)), count(*)::text,
        \(address)::text, \(request)::text FROM surplus HAVING count(*) > 0
    )
    """
  }

  static let surplusCount = "(SELECT count(*) FROM surplus)"

  /// $1: now, by the gateway's clock.
  private static let isLongOver =
    "expires <= least($1::bigint, extract(epoch FROM now())::bigint) - \(SharedQueries.keptSeconds)"

  /// The audit entry of a sign-in. A repeated call, whose first answer was lost, began nothing and writes no entry.
  private static func noting(_ address: String, _ request: String) -> String {
    """
    INSERT INTO audit (\(AuditRow.columns))
    SELECT $7::bigint, CASE WHEN is_new THEN '\(AuditEvent.registered.rawValue)'
      ELSE '\(AuditEvent.signedIn.rawValue)' END, 'done', account, $1::text, \(address)::text, \(request)::text
    FROM person WHERE EXISTS (SELECT 1 FROM begun)
    """
  }

  /// - Parameter first: the number of the first of seven parameters.
  private static func appending(_ first: Int) -> String {
    """
    INSERT INTO audit (\(AuditRow.columns))
    VALUES ($\(first)::bigint, $\(first + 1)::text, $\(first + 2)::text, $\(first + 3)::uuid, $\(first + 4)::text,
      $\(first + 5)::text, $\(first + 6)::text)
    """
  }

  /// Ends sessions and writes an audit entry for each. `first` is the number of the first of three parameters: now, address,
  /// request id.
  private static func ending(_ condition: String, _ first: Int) -> String {
    """
    WITH ended AS (DELETE FROM sessions WHERE \(condition) RETURNING account, id)
    INSERT INTO audit (\(AuditRow.columns))
    SELECT $\(first)::bigint, '\(AuditEvent.sessionEnded.rawValue)', 'done', account, id::text,
      $\(first + 1)::text, $\(first + 2)::text FROM ended
    """
  }

  /// Ends several sessions of the account $1 and writes one audit entry with their number, which the statement returns.
  private static func endingMany(_ condition: String, _ first: Int) -> String {
    """
    WITH ended AS (DELETE FROM sessions WHERE \(condition) RETURNING 1), noted AS (
      INSERT INTO audit (\(AuditRow.columns))
      SELECT $\(first)::bigint, '\(AuditEvent.sessionsEnded.rawValue)', 'done', $1::uuid, count(*)::text,
        $\(first + 1)::text, $\(first + 2)::text FROM ended HAVING count(*) > 0
    )
    SELECT count(*) FROM ended
    """
  }

  var text: String {
    switch self {
    case .signInToSession:
      """
      \(Self.person), begun AS (
        INSERT INTO sessions (token_hash, id, account, provider, subject, app, device, created, last_seen,
          idle_seconds, absolute_expires, expires, provider_session)
        SELECT $8::bytea, $9::uuid, account, $1::text, $2::text, $10::text, $11::text, $7::bigint, $7::bigint,
          $12::bigint, $13::bigint, $14::bigint, $15::text FROM person
        ON CONFLICT (token_hash) DO NOTHING RETURNING 1
      ), noted AS (\(Self.noting("$16", "$17"))),
      \(Self.ending(surplusOf: "SELECT id FROM owner", at: "$7", beside: "$8", from: "$16", "$17"))
      SELECT id, created, \(Self.surplusCount) FROM owner
      """
    case .signInToCode:
      """
      \(Self.person), begun AS (
        INSERT INTO app_codes
          (code_hash, account, provider, subject, app, challenge, expires, provider_session)
        SELECT $8::bytea, account, $9::text, $2::text, $10::text, $11::text, $12::bigint, $13::text FROM person
        ON CONFLICT (code_hash) DO NOTHING RETURNING 1
      ), noted AS (\(Self.noting("$14", "$15")))
      SELECT id, created, 0::bigint FROM owner
      """
    case .redeem:
      """
      WITH code AS (
        UPDATE app_codes SET spent = $4::bigint, session_hash = $5::bytea
        WHERE code_hash = $1::bytea AND provider = $2::text AND challenge = $3::text
          AND expires > $4::bigint AND spent IS NULL
        RETURNING account, provider, subject, app, provider_session
      ), begun AS (
        INSERT INTO sessions (token_hash, id, account, provider, subject, app, device, created, last_seen,
          idle_seconds, absolute_expires, expires, provider_session)
        SELECT $5::bytea, $6::uuid, account, provider, subject, app, $7::text, $4::bigint, $4::bigint,
          $8::bigint, $9::bigint, $10::bigint, provider_session FROM code
        ON CONFLICT (token_hash) DO NOTHING
      ), noted AS (
        INSERT INTO audit (\(AuditRow.columns))
        SELECT $4::bigint, '\(AuditEvent.sessionBegun.rawValue)', 'done', account, app, $11::text, $12::text FROM code
      ), \(Self.ending(surplusOf: "SELECT account FROM code", at: "$4", beside: "$5", from: "$11", "$12"))
      SELECT a.id, a.created, a.last_login, \(Self.surplusCount) FROM code JOIN accounts a ON a.id = code.account
      """
    case .isOwnSession:
      """
      SELECT 1::bigint FROM app_codes c JOIN sessions s ON s.token_hash = c.session_hash
      WHERE c.code_hash = $1::bytea AND s.token_hash = $2::bytea
      """
    case .pruneSessions:
      """
      DELETE FROM sessions WHERE token_hash = ANY (ARRAY(
        SELECT token_hash FROM sessions WHERE \(Self.isLongOver) LIMIT $2::bigint FOR UPDATE SKIP LOCKED))
      """
    case .pruneCodes:
      """
      DELETE FROM app_codes WHERE code_hash = ANY (ARRAY(
        SELECT code_hash FROM app_codes WHERE \(Self.isLongOver) LIMIT $2::bigint FOR UPDATE SKIP LOCKED))
      """
    case .keepLink: PostgreSQLMailStatements.keepLink
    case .link: MailQueries.link
    case .spendLink: PostgreSQLMailStatements.spendLink
    case .spendLinkForSession: PostgreSQLMailStatements.spendForSession
    case .spendLinkForCode: PostgreSQLMailStatements.spendForCode
    case .pruneLinks: PostgreSQLMailStatements.pruneLinks
    case .personByEmail: MailQueries.personByEmail
    case .personByID: MailQueries.personByID
    case .setPassword: PostgreSQLMailStatements.setPassword
    case .passwordIsCurrent: PostgreSQLMailStatements.passwordIsCurrent
    case .insertMail: MailQueries.insertMail
    case .takeMails: PostgreSQLMailStatements.takeMails
    case .removeMail: MailQueries.removeMail
    case .putOffMail: MailQueries.putOffMail
    case .waitingMails: MailQueries.waitingMails
    case .pruneSpent:
      """
      DELETE FROM spent WHERE hash = ANY (ARRAY(
        SELECT hash FROM spent WHERE \(Self.isLongOver) LIMIT $2::bigint FOR UPDATE SKIP LOCKED))
      """
    case .session: SharedQueries.session
    case .sessions: SharedQueries.sessions
    case .touch: SharedQueries.touch
    case .endByReuse:
      """
      WITH ended AS (DELETE FROM sessions WHERE token_hash = $1::bytea RETURNING 1),
      noted AS (\(Self.appending(2))) SELECT count(*) FROM ended
      """
    case .endSession: Self.ending("token_hash = $1::bytea", 2)
    case .endSessionByID: Self.ending("id = $1::uuid AND account = $2::uuid", 3)
    case .endSessions: Self.endingMany("account = $1::uuid", 2)
    case .endOtherSessions: Self.endingMany("account = $1::uuid AND token_hash <> $2::bytea", 3)
    case .appendAudit: Self.appending(1)
    case .audit: SharedQueries.audit
    case .pruneAudit:
      """
      DELETE FROM audit WHERE id = ANY (ARRAY(
        SELECT id FROM audit
        WHERE at < least($1::bigint, extract(epoch FROM clock_timestamp())::bigint - \(Migration.youngestSeconds))
        LIMIT $2::bigint FOR UPDATE SKIP LOCKED))
      """
    case .takeLimit: SharedQueries.takeLimit
    case .limitFullAt: SharedQueries.limitFullAt
    case .pruneLimits:
      """
      DELETE FROM limit_counters WHERE key = ANY (ARRAY(
        SELECT key FROM limit_counters WHERE full_at <= $1::bigint LIMIT $2::bigint FOR UPDATE SKIP LOCKED))
      """
    case .accountsByEmail: SharedQueries.accountsByEmail
    case .accountByID: SharedQueries.accountByID
    case .endCodes: SharedQueries.endCodes
    case .endLinks: SharedQueries.endLinks
    case .identities: SharedQueries.identities
    case .code: SharedQueries.code
    }
  }
}
