// The statements about e-mail links, people and the outbox that are written only for PostgreSQL.

import EnrollGateway

enum PostgreSQLMailStatements {
  /// $1 … $11: ``CheckedLink/values``. $12 … $14: the mail's id, sealed text and end, or nulls. $15: whether older links are
  /// deleted.
  static let keepLink = """
    WITH older AS (
      DELETE FROM mail_links WHERE email_key = $3::text AND purpose = $2::text AND token_hash <> $1::bytea
        AND $15::boolean
    ), mail AS (
      INSERT INTO outbox (id, sealed, due, expires, attempts)
      SELECT $12::uuid, $13::text, $10::bigint, $14::bigint, 0 WHERE $12::uuid IS NOT NULL
      ON CONFLICT (id) DO NOTHING
    )
    INSERT INTO mail_links (token_hash, purpose, email_key, email, name, subject, device, browser_hash, visit,
      created, expires)
    VALUES ($1::bytea, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text, $8::bytea, $9::text,
      $10::bigint, $11::bigint)
    ON CONFLICT (token_hash) DO NOTHING
    """

  /// $1 … $4: the token's hash, the purpose, the hash of the new session or code, now. $5: the kind of the link's owner: new,
  /// known or other. $6, $7: the id of a new person or account, the password's hash. $8 … $12: provider, subject, e-mail,
  /// whether it is verified, name. The other parameters describe the new session or code.
  ///
  /// Of several concurrent calls one updates the link; the others wait for it, and then find it spent. The person is inserted
  /// first: of two links for one address one inserts the person, and the other gets that person. The account is inserted with
  /// the id that the identity names, as in a sign-in at a provider.
  private static let person = """
    WITH link AS (
      UPDATE mail_links SET spent = $4::bigint, spent_for = $3::bytea
      WHERE token_hash = $1::bytea AND purpose = $2::text
        AND (spent IS NULL AND expires > $4::bigint OR spent_for = $3::bytea)
        AND ($5::text <> 'known' OR EXISTS (SELECT 1 FROM people p WHERE p.subject = mail_links.subject))
      RETURNING email, email_key, name, subject
    ), made AS (
      INSERT INTO people AS known (id, email_key, email, password, provider, subject, created)
      SELECT $6::uuid, email_key, email, $7::text, $8::text, $9::text, $4::bigint FROM link
      WHERE $5::text = 'new'
      ON CONFLICT (email_key) DO UPDATE SET password = coalesce(excluded.password, known.password)
      RETURNING subject, email
    ), changed AS (
      UPDATE people SET password = coalesce($7::text, password) FROM link
      WHERE $5::text = 'known' AND people.subject = link.subject
      RETURNING people.subject, people.email
    ), told AS (
      SELECT subject, email, true AS is_verified, (SELECT name FROM link) AS name FROM made
      UNION ALL SELECT subject, email, true, NULL FROM changed
      UNION ALL SELECT $9::text, $10::text, $11::boolean, $12::text FROM link WHERE $5::text = 'other'
    ), person AS (
      INSERT INTO identities AS known
        (provider, subject, account, email, email_verified, name, created, last_login)
      SELECT $8::text, subject, $6::uuid, email, is_verified, name, $4::bigint, $4::bigint FROM told
      ON CONFLICT (provider, subject) DO UPDATE SET
        email_verified =
          CASE WHEN excluded.email IS NULL THEN known.email_verified ELSE excluded.email_verified END,
        email = coalesce(excluded.email, known.email),
        name = coalesce(excluded.name, known.name),
        last_login = excluded.last_login
      RETURNING account, subject, xmax = 0 AS is_new
    ), owner AS (
      INSERT INTO accounts (id, created, last_login)
      SELECT account, $4::bigint, $4::bigint FROM person
      ON CONFLICT (id) DO UPDATE SET
        last_login = CASE WHEN (SELECT is_new FROM person) THEN NULL ELSE excluded.last_login END
      RETURNING id, created
    ), ended AS (
      DELETE FROM sessions WHERE $5::text = 'known' AND $7::text IS NOT NULL AND token_hash <> $3::bytea
        AND account IN (SELECT account FROM person)
      RETURNING 1
    ), ended_codes AS (
      DELETE FROM app_codes WHERE $5::text = 'known' AND $7::text IS NOT NULL AND code_hash <> $3::bytea
        AND spent IS NULL AND account IN (SELECT account FROM person)
    ), ended_links AS (
      DELETE FROM mail_links WHERE $5::text = 'known' AND $7::text IS NOT NULL AND token_hash <> $1::bytea
        AND spent IS NULL AND subject IN (SELECT subject FROM changed)
    )
    """

  /// The audit entries of a new session or code. A repeated call begins nothing, and writes no entry again. The subquery on
  /// `people` sees the password as it was before the statement.
  private static func noting(_ address: String, _ request: String) -> String {
    """
    noted AS (
      INSERT INTO audit (\(AuditRow.columns))
      SELECT $4::bigint, CASE WHEN is_new THEN '\(AuditEvent.registered.rawValue)'
        ELSE '\(AuditEvent.signedIn.rawValue)' END, 'done', account, $8::text, \(address)::text, \(request)::text
      FROM person WHERE EXISTS (SELECT 1 FROM begun)
    ), password_noted AS (
      INSERT INTO audit (\(AuditRow.columns))
      SELECT $4::bigint, CASE WHEN EXISTS (
          SELECT 1 FROM people before WHERE before.subject = person.subject AND before.password IS NOT NULL)
        THEN '\(AuditEvent.passwordChanged.rawValue)' ELSE '\(AuditEvent.passwordSet.rawValue)' END, 'done', account,
        CASE WHEN $5::text = 'known' THEN (SELECT count(*) FROM ended)::text END, \(address)::text, \(request)::text
      FROM person WHERE $7::text IS NOT NULL AND EXISTS (SELECT 1 FROM begun)
    )
    """
  }

  /// $13 … $19: the session's hash, id, app, device, idle seconds, absolute end, end. $20, $21: the client's address, the
  /// request id. Returns the account's id and creation time, how many sessions a new password ended, and how many ended because
  /// there were too many.
  static let spendForSession = """
    \(person), begun AS (
      INSERT INTO sessions (token_hash, id, account, provider, subject, app, device, created, last_seen,
        idle_seconds, absolute_expires, expires)
      SELECT $13::bytea, $14::uuid, account, $8::text, subject, $15::text, $16::text, $4::bigint, $4::bigint,
        $17::bigint, $18::bigint, $19::bigint FROM person
      ON CONFLICT (token_hash) DO NOTHING RETURNING 1
    ), \(noting("$20", "$21")),
    \(PostgreSQLStatement.ending(
      surplusOf: "SELECT id FROM owner", at: "$4", beside: "$13", from: "$20", "$21"))
    SELECT id, created, (SELECT count(*) FROM ended), \(PostgreSQLStatement.surplusCount) FROM owner
    """

  /// $13 … $17: the code's hash, provider, app, challenge, end. $18, $19: the client's address, the request id.
  static let spendForCode = """
    \(person), begun AS (
      INSERT INTO app_codes (code_hash, account, provider, subject, app, challenge, expires)
      SELECT $13::bytea, account, $14::text, subject, $15::text, $16::text, $17::bigint FROM person
      ON CONFLICT (code_hash) DO NOTHING RETURNING 1
    ), \(noting("$18", "$19"))
    SELECT id, created, (SELECT count(*) FROM ended), 0::bigint FROM owner
    """

  /// $1: the token's hash; $2: purpose; $3: now.
  static let spendLink = """
    UPDATE mail_links SET spent = $3::bigint
    WHERE token_hash = $1::bytea AND purpose = $2::text AND spent IS NULL AND expires > $3::bigint
    """

  /// $1: the person; $2: the password's hash; $3: the hash of the token whose session stays; $4: now; $5, $6: the client's
  /// address, the request id. Returns how many sessions ended.
  static let setPassword = """
    WITH before AS (SELECT password IS NOT NULL AS had_one FROM people WHERE id = $1::uuid),
    changed AS (
      UPDATE people SET password = $2::text WHERE id = $1::uuid RETURNING id, provider, subject
    ), ended AS (
      DELETE FROM sessions WHERE token_hash IS DISTINCT FROM $3::bytea AND account IN (
        SELECT i.account FROM identities i JOIN changed c ON c.provider = i.provider AND c.subject = i.subject)
      RETURNING 1
    ), ended_codes AS (
      DELETE FROM app_codes WHERE spent IS NULL AND account IN (
        SELECT i.account FROM identities i JOIN changed c ON c.provider = i.provider AND c.subject = i.subject)
    ), ended_links AS (
      DELETE FROM mail_links WHERE spent IS NULL AND subject IN (SELECT subject FROM changed)
    ), noted AS (
      INSERT INTO audit (\(AuditRow.columns))
      SELECT $4::bigint, CASE WHEN (SELECT had_one FROM before) THEN '\(AuditEvent.passwordChanged.rawValue)'
        ELSE '\(AuditEvent.passwordSet.rawValue)' END, 'done', i.account, (SELECT count(*) FROM ended)::text,
        $5::text, $6::text
      FROM identities i JOIN changed c ON c.provider = i.provider AND c.subject = i.subject
    )
    SELECT (SELECT count(*) FROM ended) FROM changed
    """

  /// $1: the person; $2: the password's hash. `FOR SHARE` waits for a concurrent change of the password.
  static let passwordIsCurrent =
    "SELECT id FROM people WHERE id = $1::uuid AND password = $2::text FOR SHARE"

  /// $1: now; $2: when the lease of the mails ends; $3: the limit; $4: ``RegistrationTimes/latestDue(at:)``.
  static let takeMails = """
    UPDATE outbox SET due = $2::bigint, attempts = attempts + 1 WHERE id = ANY (ARRAY(
      SELECT id FROM outbox WHERE due <= $1::bigint OR due > $4::bigint ORDER BY due LIMIT $3::bigint FOR UPDATE SKIP LOCKED))
    RETURNING id, sealed, expires, attempts
    """

  /// $1: now, less ``RegistrationTimes/keptSeconds``; $2: the limit.
  static let pruneLinks = """
    DELETE FROM mail_links WHERE token_hash = ANY (ARRAY(
      SELECT token_hash FROM mail_links
      WHERE expires <= least($1::bigint, extract(epoch FROM now())::bigint - \(RegistrationTimes.keptSeconds))
      LIMIT $2::bigint FOR UPDATE SKIP LOCKED))
    """
}
