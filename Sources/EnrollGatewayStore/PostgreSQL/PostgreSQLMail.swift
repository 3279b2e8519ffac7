// E-mail links, people and the outbox in PostgreSQL. Spending a link is one statement: the link, the person, the account and
// the session change together or not at all.

public import EnrollRules
public import EnrollGateway

extension PostgreSQLStore {
  public func keep(
    _ link: NewMailLink?, mail: NewMail?, replacingOlder: Bool, at now: UnixTime
  ) throws(StoreFailure) {
    let mail: [SQLValue]? = if let mail { try CheckedMail(mail, at: now).values } else { nil }
    guard let link else {
      guard let mail else { return }
      return try perform(.repeatable) { (connection, _) throws(PostgreSQLError) in
        _ = try connection.change(.insertMail, mail)
      }
    }
    let values = try CheckedLink(link, at: now).values
    let rest = mail.map { [$0[0], $0[1], $0[3]] } ?? [.null, .null, .null]
    try perform(.repeatable) { (connection, _) throws(PostgreSQLError) in
      _ = try connection.change(.keepLink, values + rest + [.boolean(replacingOlder)])
    }
  }

  public func spendLink(
    tokenHash: [UInt8], purpose: NewMailLink.Purpose, at now: UnixTime
  ) throws(StoreFailure) -> Bool {
    try perform(.once) { (connection, _) throws(PostgreSQLError) in
      try connection.change(
        .spendLink, [.bytes(tokenHash), .text(purpose.rawValue), .integer(now.seconds)]) > 0
    }
  }

  public func link(
    tokenHash: [UInt8], purpose: NewMailLink.Purpose, at now: UnixTime
  ) throws(StoreFailure) -> LinkState {
    try perform(.reading) { (connection, _) throws(PostgreSQLError) in
      try connection.first(.link, [.bytes(tokenHash), .text(purpose.rawValue)]) { LinkRecord($0) }
    }?.state(at: now) ?? .unknown
  }

  public func spend(
    tokenHash: [UInt8], purpose: NewMailLink.Purpose, owner: LinkOwner, creating credential: NewCredential,
    at now: UnixTime
  ) throws(StoreFailure) -> LinkSpending {
    let credential = try CheckedCredential(credential, at: now)
    var values: [SQLValue] = [
      .bytes(tokenHash), .text(purpose.rawValue), credential.hash, .integer(now.seconds),
    ]
    let newID: [UInt8]
    let null = SQLValue.null
    switch owner {
    case .newPerson(let id, let password):
      newID = try CheckedID.bytes(id, "The person's id")
      values += [.text("new"), .bytes(newID), .text(orNull: password)]
      values += [.text(OwnPeople.provider), .text(id), null, .boolean(true), null]
    case .knownPerson(let password):
      // No account is made, because the person refers to an existing identity. The id only fills a parameter.
      newID = [UInt8](repeating: 0, count: 16)
      values += [.text("known"), .bytes(newID), .text(orNull: password)]
      values += [.text(OwnPeople.provider), .text(""), null, .boolean(true), null]
    case .identity(let identity, let newAccountID):
      newID = try CheckedID.bytes(newAccountID, "The new account's id")
      let identity = try CheckedIdentity(identity)
      values += [.text("other"), .bytes(newID), null]
      values += [
        identity.provider, identity.subject, identity.email, identity.isEmailVerified, identity.name,
      ]
    }
    let statement: PostgreSQLStatement
    switch credential {
    case .session(let session):
      statement = .spendLinkForSession
      values += [
        session.tokenHash, session.id, session.app, session.device, session.idleSeconds,
        session.absoluteExpires, session.expires,
      ]
    case .code(let code):
      statement = .spendLinkForCode
      values += [code.codeHash, code.provider, code.app, code.challenge, code.expires]
    }
    let parameters = values + AuditRow.origin(.current)
    var ended = (password: 0, surplus: 0)
    // A repeated statement finds the link spent for the same session or code.
    let spending = try perform(.repeatable) { (connection, _) throws(PostgreSQLError) -> LinkSpending in
      let found = try connection.first(statement, parameters) { row in
        ended = (Int(row.integer(2)), Int(row.integer(3)))
        return SignedIn(
          account: Account(id: StoredID.text(of: row.bytes(0)), created: row.time(1), lastLogin: now),
          isNew: row.bytes(0) == newID)
      }
      if let found { return .signedIn(found) }
      // A new statement has a new snapshot: it sees the change that the statement before waited for.
      let record = try connection.first(.link, [.bytes(tokenHash), .text(purpose.rawValue)]) {
        LinkRecord($0)
      }
      return record?.refusal(at: now) ?? .unknown
    }
    if case .signedIn = spending {
      observer.ended(ended.password, .password)
      observer.began(credential, ending: ended.surplus)
    }
    return spending
  }

  public func person(emailKey key: String) throws(StoreFailure) -> StoredPerson? {
    guard !key.utf8.contains(0) else { return nil }
    return try perform(.reading) { (connection, _) throws(PostgreSQLError) in
      try connection.first(.personByEmail, [.text(key)]) { StoredPerson(row: $0) }
    }
  }

  public func person(id: String) throws(StoreFailure) -> StoredPerson? {
    guard let id = StoredID.bytes(of: id) else { return nil }
    return try perform(.reading) { (connection, _) throws(PostgreSQLError) in
      try connection.first(.personByID, [.bytes(id)]) { StoredPerson(row: $0) }
    }
  }

  public func setPassword(
    _ password: String, ofPerson id: String, exceptTokenHash: [UInt8]?, at now: UnixTime
  ) throws(StoreFailure) -> Bool {
    guard let bytes = StoredID.bytes(of: id) else { return false }
    let values: [SQLValue] = [
      .bytes(bytes), try StoredText.exact(password, "The password's hash"),
      exceptTokenHash.map { .bytes($0) } ?? .null, .integer(now.seconds),
    ]
    let parameters = values + AuditRow.origin(.current)
    let ended = try perform(.repeatable) { (connection, _) throws(PostgreSQLError) in
      try connection.first(.setPassword, parameters) { Int($0.integer(0)) }
    }
    observer.ended(ended ?? 0, .password)
    return ended != nil
  }

  public func isCurrent(_ password: String, ofPerson id: String) throws(StoreFailure) -> Bool {
    guard let id = StoredID.bytes(of: id) else { return false }
    let values: [SQLValue] = [.bytes(id), try StoredText.exact(password, "The password's hash")]
    return try perform(.repeatable) { (connection, _) throws(PostgreSQLError) in
      try connection.first(.passwordIsCurrent, values) { $0.bytes(0) } != nil
    }
  }

  public func takeMails(
    _ most: Int, leaseSeconds: Int64, at now: UnixTime
  ) throws(StoreFailure) -> [TakenMail] {
    let values: [SQLValue] = [
      .integer(now.seconds), .integer((now + leaseSeconds).seconds), .integer(Int64(most)),
      RegistrationTimes.latestDue(at: now),
    ]
    return try perform(.once) { (connection, _) throws(PostgreSQLError) in
      try connection.rows(.takeMails, values) { TakenMail(row: $0) }
    }
  }

  public func removeMail(_ id: String) throws(StoreFailure) {
    guard let id = StoredID.bytes(of: id) else { return }
    try perform(.repeatable) { (connection, _) throws(PostgreSQLError) in
      _ = try connection.change(.removeMail, [.bytes(id)])
    }
  }

  public func putOffMail(_ id: String, until due: UnixTime) throws(StoreFailure) {
    guard let id = StoredID.bytes(of: id) else { return }
    try perform(.repeatable) { (connection, _) throws(PostgreSQLError) in
      _ = try connection.change(.putOffMail, [.bytes(id), .integer(due.seconds)])
    }
  }

  public func waitingMails() throws(StoreFailure) -> Int {
    try perform(.reading) { (connection, _) throws(PostgreSQLError) in
      try connection.first(.waitingMails, []) { Int($0.integer(0)) } ?? 0
    }
  }
}
