// Sign-ins in PostgreSQL, each in one statement without an explicit transaction, and statements that end a single
// session. A call needs one round trip, and can be repeated if its answer was lost.

import EnrollRules
import EnrollGateway

extension SQLStatement {
  /// A sign-in in one statement, under READ COMMITTED. The identity is inserted first: if several calls for one new
  /// identity run concurrently, one call inserts the identity; the other calls wait, then update the identity and get
  /// the account that it names. The account is inserted after that, with the id that the identity names, so that no
  /// account is left without an identity; the foreign key is checked at the end of the statement. `ON CONFLICT (id)`
  /// finds an existing account even if it was committed after the statement began. `xmax` is 0 in a row that was just
  /// inserted. If a new identity names an existing account, it would join another person's account: `last_login` is
  /// then set to NULL, which the column refuses.
  /// - Parameter source: the eight values of the row, as VALUES or a query.
  static func person(_ source: String, at now: String) -> String {
    """
    person AS (
      INSERT INTO identities AS known
        (provider, subject, account, email, email_verified, name, created, last_login)
      \(source)
      ON CONFLICT (provider, subject) DO UPDATE SET
        email_verified =
          CASE WHEN excluded.email IS NULL THEN known.email_verified ELSE excluded.email_verified END,
        email = coalesce(excluded.email, known.email),
        name = coalesce(excluded.name, known.name),
        last_login = excluded.last_login
      RETURNING account, subject, xmax = 0 AS is_new
    ), owner AS (
      INSERT INTO accounts (id, created, last_login)
      SELECT account, \(now)::bigint, \(now)::bigint FROM person
      ON CONFLICT (id) DO UPDATE SET
        last_login = CASE WHEN (SELECT is_new FROM person) THEN NULL ELSE excluded.last_login END
      RETURNING id, created
    )
    """
  }

  /// - Parameter first: the number of the first of seven parameters: the session's hash, id, app, device, idle
  ///   seconds, absolute end, expiry.
  static func beginningSession(
    _ first: Int, at now: String, _ provider: String, providerSession: String = "NULL"
  ) -> String {
    """
    begun AS (
      INSERT INTO sessions (token_hash, id, account, provider, subject, app, device, created, last_seen,
        idle_seconds, absolute_expires, expires, provider_session)
      SELECT $\(first)::bytea, $\(first + 1)::uuid, account, \(provider)::text, subject, $\(first + 2)::text,
        $\(first + 3)::text, \(now)::bigint, \(now)::bigint, $\(first + 4)::bigint, $\(first + 5)::bigint,
        $\(first + 6)::bigint, \(providerSession)::text FROM person
      ON CONFLICT (token_hash) DO NOTHING RETURNING 1
    )
    """
  }

  /// - Parameter first: the number of the first of five parameters: the code's hash, provider, app, challenge, expiry.
  static func beginningCode(_ first: Int, providerSession: String = "NULL") -> String {
    """
    begun AS (
      INSERT INTO app_codes
        (code_hash, account, provider, subject, app, challenge, expires, provider_session)
      SELECT $\(first)::bytea, account, $\(first + 1)::text, subject, $\(first + 2)::text, $\(first + 3)::text,
        $\(first + 4)::bigint, \(providerSession)::text FROM person
      ON CONFLICT (code_hash) DO NOTHING RETURNING 1
    )
    """
  }

  /// Ends as many sessions as necessary, so that one more can begin within the limit. The statement does not see the
  /// session that it begins itself; a repeated call sees that session, and excludes it by its hash. Rows that another
  /// call is deleting are skipped. Concurrent calls do not see each other's sessions: until the next sign-in an
  /// account may exceed the limit by as many sessions as there are connections. `account` is a query for the account;
  /// `address` and `request` are for the audit. ``surplusCount`` is the number of ended sessions.
  static func ending(
    surplusOf account: String, at now: String, beside hash: String, from address: String, _ request: String
  ) -> String {
    """
    surplus AS (
      DELETE FROM sessions WHERE token_hash = ANY (ARRAY(
        SELECT token_hash FROM sessions WHERE token_hash = ANY (ARRAY(
          SELECT token_hash FROM sessions
          WHERE account = (\(account)) AND expires > \(now)::bigint AND token_hash <> \(hash)::bytea
          \(SessionLimits.surplus)))
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

  /// Writes the audit entry of a sign-in. If a call is repeated because the answer to the first call was lost, the
  /// repeated call begins nothing, and writes no second entry.
  static func noting(
    _ provider: String, at now: String, from address: String, _ request: String
  ) -> String {
    """
    noted AS (
      INSERT INTO audit (\(AuditRow.columns))
      SELECT \(now)::bigint, CASE WHEN is_new THEN '\(AuditEvent.registered.rawValue)'
        ELSE '\(AuditEvent.signedIn.rawValue)' END, 'done', account, \(provider)::text, \(address)::text,
        \(request)::text
      FROM person WHERE EXISTS (SELECT 1 FROM begun)
    )
    """
  }

  private static let identity = """
    WITH \(person(
      "VALUES ($1::text, $2::text, $3::uuid, $4::text, $5::boolean, $6::text, $7::bigint, $7::bigint)",
      at: "$7"))
    """

  /// $1 … $7: provider, subject, id of a new account, e-mail, whether it is verified, name, now. $8 … $15: the
  /// session's hash, id, app, device, idle seconds, absolute end, expiry, the provider's session. $16, $17: the
  /// client's address, the request id.
  fileprivate static let signInToSession = SQLStatement(
    """
    \(identity), \(beginningSession(8, at: "$7", "$1", providerSession: "$15")),
    \(noting("$1", at: "$7", from: "$16", "$17")),
    \(ending(surplusOf: "SELECT id FROM owner", at: "$7", beside: "$8", from: "$16", "$17"))
    SELECT id, created, \(surplusCount) FROM owner
    """)
  /// $1 … $7: as in ``signInToSession``. $8 … $13: the code's hash, provider, app, challenge, expiry, the provider's
  /// session. $14, $15: the client's address, the request id.
  fileprivate static let signInToCode = SQLStatement(
    """
    \(identity), \(beginningCode(8, providerSession: "$13")),
    \(noting("$1", at: "$7", from: "$14", "$15"))
    SELECT id, created, 0::bigint FROM owner
    """)
  /// $1 … $4: the code's hash, provider, challenge, now. $5 … $10: the session's hash, id, device, idle seconds,
  /// absolute end, expiry. $11, $12: the client's address, the request id.
  fileprivate static let redeem = SQLStatement(
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
    ), \(ending(surplusOf: "SELECT account FROM code", at: "$4", beside: "$5", from: "$11", "$12"))
    SELECT a.id, a.created, a.last_login, \(surplusCount) FROM code JOIN accounts a ON a.id = code.account
    """)

  /// Deletes a session and writes the audit entry. The number of changed rows is the number of ended sessions.
  /// - Parameter first: the number of the first of three parameters: now, the client's address, the request id.
  private static func ending(sessionWhere condition: String, _ first: Int) -> SQLStatement {
    SQLStatement(
      """
      WITH ended AS (DELETE FROM sessions WHERE \(condition) RETURNING account, id)
      INSERT INTO audit (\(AuditRow.columns))
      SELECT $\(first)::bigint, '\(AuditEvent.sessionEnded.rawValue)', 'done', account, id::text, $\(first + 1)::text,
        $\(first + 2)::text FROM ended
      """)
  }

  fileprivate static let endByToken = ending(sessionWhere: "token_hash = $1::bytea", 2)
  fileprivate static let endByID = ending(sessionWhere: "id = $1::uuid AND account = $2::uuid", 3)
}

extension PostgreSQLConnection {
  func signIn(
    _ identity: CheckedIdentity, newID: AccountID, creating credential: CheckedCredential, at now: UnixTime,
    from origin: AuditOrigin
  ) throws(SQLFailure) -> BegunSignIn {
    let values = [
      identity.provider, identity.subject, .id(newID), identity.email, identity.isEmailVerified,
      identity.name, .integer(now.seconds),
    ]
    let statement: SQLStatement =
      switch credential {
      case .session: .signInToSession
      case .code: .signInToCode
      }
    let begun = try first(
      statement, values + credential.values + [identity.providerSession] + AuditRow.origin(origin)
    ) { row in
      BegunSignIn(row, newID: newID, at: now, surplus: Int(row.integer(2)))
    }
    guard let begun else {
      throw .store(.fault("PostgreSQL gave no account for a sign-in. The store expected one."))
    }
    return begun
  }

  func redeem(
    _ codeHash: [UInt8], provider: String, challenge: String, for session: CheckedSession, at now: UnixTime,
    from origin: AuditOrigin
  ) throws(SQLFailure) -> (account: Account, surplus: Int)? {
    let values: [SQLValue] = [
      .bytes(codeHash), .text(provider), .text(challenge), .integer(now.seconds), session.tokenHash,
      session.id, session.device, session.idleSeconds, session.absoluteExpires, session.expires,
    ]
    return try first(.redeem, values + AuditRow.origin(origin)) { (Account(row: $0), Int($0.integer(3))) }
  }
}

extension PostgreSQLConnection {
  func end(_ session: SessionName, at now: UnixTime, from origin: AuditOrigin) throws(SQLFailure) -> Bool {
    let statement: SQLStatement =
      switch session {
      case .token: .endByToken
      case .id: .endByID
      }
    return try change(statement, session.values + [.integer(now.seconds)] + AuditRow.origin(origin)) > 0
  }
}

extension BegunSignIn {
  /// - Parameter row: the account's id and creation time.
  init(
    _ row: some SQLRow, newID: AccountID, at now: UnixTime, surplus: Int, endedByPassword: Int = 0
  ) {
    let id: AccountID = row.id(0)
    let account = Account(id: id, created: row.time(1), lastLogin: now)
    self.init(
      signedIn: SignedIn(account: account, isNew: id == newID), surplus: surplus,
      endedByPassword: endedByPassword)
  }
}

extension CheckedCredential {
  /// The parameters of ``SQLStatement/beginningSession(_:at:_:providerSession:)`` or
  /// ``SQLStatement/beginningCode(_:providerSession:)``.
  var values: [SQLValue] {
    switch self {
    case .session(let session):
      [
        session.tokenHash, session.id, session.app, session.device, session.idleSeconds,
        session.absoluteExpires, session.expires,
      ]
    case .code(let code): [code.codeHash, code.provider, code.app, code.challenge, code.expires]
    }
  }
}
