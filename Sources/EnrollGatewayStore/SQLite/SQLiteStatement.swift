// Every statement of the SQLite adapter, by name. A connection prepares each once, when it is first used.

#if Gateway

  enum SQLiteStatement: Int, CaseIterable {
    case begin
    case commit
    case rollback
    /// ?1 … ?6: provider, subject, e-mail, whether it is verified, name, now. Gives the account.
    case updateIdentity
    /// ?1: account; ?2: now. Gives when it was created.
    case updateAccount
    /// ?1: account; ?2: now.
    case insertAccount
    /// ?1 … ?7: provider, subject, account, e-mail, whether it is verified, name, now.
    case insertIdentity
    /// ?1 … ?12: hash, id, account, provider, subject, app, device, now, idle seconds, absolute end, end, the provider's session.
    case insertSession
    /// ?1: account; ?2: now. Ends the sessions that give way to one more.
    case endSurplus
    /// ?1 … ?8: hash, account, provider, subject, app, challenge, end, the provider's session.
    case insertCode
    /// ?1: the code's hash; ?2: now; ?3: the session's hash.
    case spendCode
    /// ?1: now; ?2: at most so many.
    case pruneSessions
    /// ?1: now; ?2: at most so many.
    case pruneCodes
    /// ?1: now; ?2: at most so many.
    case pruneSpent
    case session
    case sessions
    case touch
    case endSession
    case endSessionByID
    case endSessions
    case endOtherSessions
    case endCodes
    case identities
    case code

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
      case .pruneSpent:
        "DELETE FROM spent WHERE hash IN (SELECT hash FROM spent WHERE expires <= ?1 LIMIT ?2)"
      case .session: numbered(SharedQueries.session)
      case .sessions: numbered(SharedQueries.sessions)
      case .touch: numbered(SharedQueries.touch)
      case .endSession: numbered(SharedQueries.endSession)
      case .endSessionByID: numbered(SharedQueries.endSessionByID)
      case .endSessions: numbered(SharedQueries.endSessions)
      case .endOtherSessions: numbered(SharedQueries.endOtherSessions)
      case .endCodes: numbered(SharedQueries.endCodes)
      case .identities: numbered(SharedQueries.identities)
      case .code: numbered(SharedQueries.code)
      }
    }

    /// ?1: now, by the replica's clock.
    private static let isLongOver =
      "expires <= min(?1, CAST(strftime('%s', 'now') AS integer)) - \(SharedQueries.keptSeconds)"

    private func numbered(_ text: String) -> String { SharedQueries.numbered(text) }
  }
#endif
