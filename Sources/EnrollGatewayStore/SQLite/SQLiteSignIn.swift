// The changes that SQLite makes in several statements, because it has no statement that changes several tables. The transaction
// holds the only write lock, so nothing that a statement has read changes before the end.

import EnrollRules
import EnrollGateway

extension SQLStatement {
  /// $1 … $6: provider, subject, e-mail, whether it is verified, name, now. Returns the account.
  fileprivate static let updateIdentity = SQLStatement(
    """
    UPDATE identities SET
      email_verified = CASE WHEN $3 IS NULL THEN email_verified ELSE $4 END,
      email = coalesce($3, email),
      name = coalesce($5, name),
      last_login = $6
    WHERE provider = $1 AND subject = $2 RETURNING account
    """)
  /// $1: account; $2: now. Returns the account's creation time.
  fileprivate static let updateAccount = SQLStatement(
    "UPDATE accounts SET last_login = $2 WHERE id = $1 RETURNING created")
  /// $1: account; $2: now.
  fileprivate static let insertAccount = SQLStatement(
    "INSERT INTO accounts (id, created, last_login) VALUES ($1, $2, $2)")
  /// $1 … $7: provider, subject, account, e-mail, whether it is verified, name, now.
  fileprivate static let insertIdentity = SQLStatement(
    """
    INSERT INTO identities (provider, subject, account, email, email_verified, name, created, last_login)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
    """)
  /// $1 … $12: hash, id, account, provider, subject, app, device, now, idle seconds, absolute end, expiry, the
  /// provider's session.
  fileprivate static let insertSession = SQLStatement(
    """
    INSERT INTO sessions (token_hash, id, account, provider, subject, app, device, created, last_seen,
      idle_seconds, absolute_expires, expires, provider_session)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10, $11, $12)
    ON CONFLICT (token_hash) DO NOTHING
    """)
  /// $1: account; $2: now. Ends as many sessions as necessary, so that one more can begin within the limit.
  fileprivate static let endSurplus = SQLStatement(
    """
    DELETE FROM sessions WHERE rowid IN
      (SELECT rowid FROM sessions WHERE account = $1 AND expires > $2 \(SessionLimits.surplus))
    """)
  /// $1 … $8: hash, account, provider, subject, app, challenge, expiry, the provider's session.
  fileprivate static let insertCode = SQLStatement(
    """
    INSERT INTO app_codes
      (code_hash, account, provider, subject, app, challenge, expires, provider_session)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    ON CONFLICT (code_hash) DO NOTHING
    """)
  /// $1: the code's hash; $2: now; $3: the session's hash.
  fileprivate static let spendCode = SQLStatement(
    "UPDATE app_codes SET spent = $2, session_hash = $3 WHERE code_hash = $1")
  /// $1: the address's key; $2: purpose.
  fileprivate static let removeLinks = SQLStatement(
    "DELETE FROM mail_links WHERE email_key = $1 AND purpose = $2")
  /// $1 … $11: ``CheckedLink/values``.
  fileprivate static let insertLink = SQLStatement(
    """
    INSERT INTO mail_links (token_hash, purpose, email_key, email, name, subject, device, browser_hash, visit,
      created, expires)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
    """)
  /// $1 … $7: id, the address's key, address, password's hash, provider, subject, now.
  fileprivate static let insertPerson = SQLStatement(
    """
    INSERT INTO people (id, email_key, email, password, provider, subject, created)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    """)
}

extension SQLiteConnection {
  func signIn(
    _ identity: CheckedIdentity, newID: AccountID, creating credential: CheckedCredential, at now: UnixTime,
    from origin: AuditOrigin
  ) throws(SQLFailure) -> BegunSignIn {
    let moment = SQLValue.integer(now.seconds)
    let known = try first(
      .updateIdentity,
      [
        identity.provider, identity.subject, identity.email, identity.isEmailVerified, identity.name,
        moment,
      ]
    ) { $0.accountID(0) }
    let id = known ?? newID
    var created = now
    if known == nil {
      try change(.insertAccount, [.id(id), moment])
      try change(
        .insertIdentity,
        [
          identity.provider, identity.subject, .id(id), identity.email, identity.isEmailVerified,
          identity.name, moment,
        ])
    } else if let before = try first(.updateAccount, [.id(id), moment], { $0.time(0) }) {
      created = before
    }
    var surplus = 0
    switch credential {
    case .session(let session):
      surplus = try endSurplus(of: id, at: now, from: origin)
      try change(
        .insertSession,
        session.values(
          account: id, identity.provider, identity.subject, providerSession: identity.providerSession,
          at: now))
    case .code(let code):
      try change(
        .insertCode,
        code.values(account: id, subject: identity.subject, providerSession: identity.providerSession))
    }
    let event = known == nil ? AuditEvent.registered : .signedIn
    try change(
      .appendAudit,
      [
        moment, .text(event.rawValue), .text(AuditEntry.Outcome.done.rawValue), .id(id),
        identity.provider,
      ] + AuditRow.origin(origin))
    let account = Account(id: id, created: created, lastLogin: now)
    return BegunSignIn(signedIn: SignedIn(account: account, isNew: id == newID), surplus: surplus)
  }

  /// - Returns: how many sessions ended because the account would have too many.
  private func endSurplus(
    of account: AccountID, at now: UnixTime, from origin: AuditOrigin
  ) throws(SQLFailure) -> Int {
    let count = try change(.endSurplus, [.id(account), .integer(now.seconds)])
    guard count > 0 else { return 0 }
    let entry = AuditEntry(at: now, .surplusEnded, account: account, detail: String(count), from: origin)
    try note(entry)
    return count
  }

  func redeem(
    _ codeHash: [UInt8], provider: String, challenge: String, for session: CheckedSession, at now: UnixTime,
    from origin: AuditOrigin
  ) throws(SQLFailure) -> (account: Account, surplus: Int)? {
    guard let code = try first(.code, [.bytes(codeHash)], { CodeRecord($0) }),
      code.refusal(provider: provider, challenge: challenge, at: now) == nil
    else { return nil }
    try change(.spendCode, [.bytes(codeHash), .integer(now.seconds), session.tokenHash])
    let surplus = try endSurplus(of: code.account.id, at: now, from: origin)
    try change(
      .insertSession,
      session.values(
        account: code.account.id, .text(code.provider), .text(code.subject), app: .text(code.app),
        providerSession: .text(orNull: code.providerSession), at: now))
    let entry = AuditEntry(
      at: now, .sessionBegun, account: code.account.id, detail: code.app, from: origin)
    try note(entry)
    return (code.account, surplus)
  }

  func end(_ session: SessionName, at now: UnixTime, from origin: AuditOrigin) throws(SQLFailure) -> Bool {
    let statement: SQLStatement =
      switch session {
      case .token: .endSession
      case .id: .endSessionByID
      }
    let ended = try first(statement, session.values) {
      (account: $0.accountID(0), id: SessionID(bytes: $0.bytes(1)))
    }
    guard let ended else { return false }
    let entry = AuditEntry(
      at: now, .sessionEnded, account: ended.account, detail: ended.id.text, from: origin)
    try note(entry)
    return true
  }

  // MARK: Links

  func keep(_ link: CheckedLink, _ mail: CheckedMail?, replacingOlder: Bool) throws(SQLFailure) {
    if replacingOlder { try change(.removeLinks, [link.emailKey, link.purpose]) }
    try change(.insertLink, link.values)
    if let mail { try change(.insertMail, mail.values) }
  }

  func spend(
    _ tokenHash: [UInt8], _ purpose: NewMailLink.Purpose, of owner: CheckedOwner,
    creating credential: CheckedCredential, at now: UnixTime
  ) throws(SQLFailure) -> BegunSignIn? {
    guard let record = try link(tokenHash, purpose), record.refusal(at: now) == nil,
      let begun = try signIn(owner, record.link, tokenHash, creating: credential, at: now)
    else { return nil }
    try change(
      .spendLink,
      [.bytes(tokenHash), .text(purpose.rawValue), .integer(now.seconds), credential.hash])
    return begun
  }

  /// - Returns: nil if the person that the link names does not exist any more.
  private func signIn(
    _ owner: CheckedOwner, _ link: MailLink, _ tokenHash: [UInt8], creating credential: CheckedCredential,
    at now: UnixTime
  ) throws(SQLFailure) -> BegunSignIn? {
    switch owner {
    case .identity(let identity, let newID):
      return try signIn(identity, newID: newID, creating: credential, at: now, from: .current)
    case .newPerson(let newID, let password):
      return try signIn(
        newPerson: newID, password, link, accountID: owner.newID, creating: credential, at: now)
    case .knownPerson(let password):
      guard let subject = link.subject, let id = PersonID(subject),
        let person = try first(.personByID, [.id(id)], { StoredPerson(row: $0) })
      else { return nil }
      var ended = 0
      if let password {
        try change(.updatePassword, [.id(id), .text(password)])
        ended = try endAccess(of: subject, sessionThatStays: .null, linkThatStays: .bytes(tokenHash))
      }
      var begun = try signIn(
        Identity(provider: OwnPeople.provider, subject: subject, email: person.email, isEmailVerified: true),
        newID: owner.newID, creating: credential, at: now)
      begun.endedByPassword = ended
      if password != nil {
        try notePassword(
          of: begun.signedIn.account.id, before: person.password, detail: String(ended), at: now)
      }
      return begun
    }
  }

  private func signIn(
    newPerson newID: PersonID, _ password: String?, _ link: MailLink, accountID: AccountID,
    creating credential: CheckedCredential, at now: UnixTime
  ) throws(SQLFailure) -> BegunSignIn {
    guard let address = try? EmailAddress(link.email) else {
      throw .store(.fault("A stored link has no e-mail address. The store expects one."))
    }
    let known = try first(.personByEmail, [.text(address.key)]) { StoredPerson(row: $0) }
    let personID = known?.id ?? newID
    let begun = try signIn(
      Identity(
        provider: OwnPeople.provider, subject: personID.text, email: known?.email ?? link.email,
        isEmailVerified: true, name: link.name),
      newID: accountID, creating: credential, at: now)
    if known == nil {
      try change(
        .insertPerson,
        [
          .id(newID), .text(address.key), .text(link.email), .text(orNull: password),
          .text(OwnPeople.provider), .text(personID.text), .integer(now.seconds),
        ])
    } else if let password {
      try change(.updatePassword, [.id(personID), .text(password)])
    }
    if password != nil {
      try notePassword(of: begun.signedIn.account.id, before: known?.password, detail: nil, at: now)
    }
    return begun
  }

  private func signIn(
    _ identity: Identity, newID: AccountID, creating credential: CheckedCredential, at now: UnixTime
  ) throws(SQLFailure) -> BegunSignIn {
    let checked = try SQLFailure.converting { () throws(StoreFailure) in try CheckedIdentity(identity) }
    return try signIn(checked, newID: newID, creating: credential, at: now, from: .current)
  }

}
