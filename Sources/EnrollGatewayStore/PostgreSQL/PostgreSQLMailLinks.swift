// E-mail links in PostgreSQL. Spending a link is one statement: the link, the person, the account and the session change together
// or not at all.

import EnrollRules
import EnrollGateway

extension SQLStatement {
  /// Stores a link and its mail. $1 … $11: ``CheckedLink/values``. $12 … $14: the mail's id, sealed text and expiry, or
  /// nulls. $15: whether older links are deleted.
  fileprivate static let keepLink = SQLStatement(
    """
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
    """)

  /// $1 … $4: the token's hash, the purpose, the hash of the new session or code, now. $5: the kind of the link's owner: new,
  /// known or other. $6, $7: the id of a new person or account, the password's hash. $8 … $12: provider, subject, e-mail,
  /// whether it is verified, name. The other parameters describe the new session or code.
  ///
  /// If several calls run concurrently, one updates the link; the others wait, and then find the link spent. The
  /// person is inserted first: if two links for one address are spent concurrently, one call inserts the person, and
  /// the other call gets that person. The account is inserted with the id that the identity names, as in a sign-in at
  /// a provider.
  private static let personOfLink = """
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
    ), \(person(
      """
      SELECT $8::text, subject, $6::uuid, email, is_verified, name, $4::bigint, $4::bigint FROM told
      """, at: "$4")), ended AS (
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

  /// The audit entries of a new session or code. A repeated call begins no second session or code, and writes no second
  /// entry. The subquery on `people` sees the password as it was before the statement.
  private static func notingLink(_ address: String, _ request: String) -> String {
    """
    \(noting("$8", at: "$4", from: address, request)), password_noted AS (
      INSERT INTO audit (\(AuditRow.columns))
      SELECT $4::bigint, CASE WHEN EXISTS (
          SELECT 1 FROM people before WHERE before.subject = person.subject AND before.password IS NOT NULL)
        THEN '\(AuditEvent.passwordChanged.rawValue)' ELSE '\(AuditEvent.passwordSet.rawValue)' END, 'done', account,
        CASE WHEN $5::text = 'known' THEN (SELECT count(*) FROM ended)::text END, \(address)::text, \(request)::text
      FROM person WHERE $7::text IS NOT NULL AND EXISTS (SELECT 1 FROM begun)
    )
    """
  }

  /// Spends a link for a session. $13 … $19: the session's hash, id, app, device, idle seconds, absolute end, expiry.
  /// $20, $21: the client's address, the request id. Returns the account's id and creation time, how many sessions a
  /// new password ended, and how many ended because there were too many.
  fileprivate static let spendLinkForSession = SQLStatement(
    """
    \(personOfLink), \(beginningSession(13, at: "$4", "$8")),
    \(notingLink("$20", "$21")),
    \(ending(
      surplusOf: "SELECT id FROM owner", at: "$4", beside: "$13", from: "$20", "$21"))
    SELECT id, created, (SELECT count(*) FROM ended), \(surplusCount) FROM owner
    """)

  /// Spends a link for an app's code. $13 … $17: the code's hash, provider, app, challenge, expiry. $18, $19: the
  /// client's address, the request id.
  fileprivate static let spendLinkForCode = SQLStatement(
    """
    \(personOfLink), \(beginningCode(13)), \(notingLink("$18", "$19"))
    SELECT id, created, (SELECT count(*) FROM ended), 0::bigint FROM owner
    """)
}

extension PostgreSQLConnection {
  func keep(_ link: CheckedLink, _ mail: CheckedMail?, replacingOlder: Bool) throws(SQLFailure) {
    let rest = mail.map { [$0.values[0], $0.values[1], $0.values[3]] } ?? [.null, .null, .null]
    try change(.keepLink, link.values + rest + [.boolean(replacingOlder)])
  }

  func spend(
    _ tokenHash: [UInt8], _ purpose: NewMailLink.Purpose, of owner: CheckedOwner,
    creating credential: CheckedCredential, at now: UnixTime
  ) throws(SQLFailure) -> BegunSignIn? {
    let newID = owner.newID
    var values: [SQLValue] = [
      .bytes(tokenHash), .text(purpose.rawValue), credential.hash, .integer(now.seconds),
    ]
    switch owner {
    case .newPerson(_, let password):
      values += [.text("new"), .id(newID), .text(orNull: password), .text(OwnPeople.provider)]
      values += [.text(newID.text), .null, .boolean(true), .null]
    case .knownPerson(let password):
      values += [.text("known"), .id(newID), .text(orNull: password), .text(OwnPeople.provider)]
      values += [.text(""), .null, .boolean(true), .null]
    case .identity(let identity, _):
      values += [.text("other"), .id(newID), .null, identity.provider]
      values += [identity.subject, identity.email, identity.isEmailVerified, identity.name]
    }
    let statement: SQLStatement =
      switch credential {
      case .session: .spendLinkForSession
      case .code: .spendLinkForCode
      }
    return try first(statement, values + credential.values + AuditRow.origin(.current)) { row in
      BegunSignIn(
        row, newID: newID, at: now, surplus: Int(row.integer(3)), endedByPassword: Int(row.integer(2)))
    }
  }
}
