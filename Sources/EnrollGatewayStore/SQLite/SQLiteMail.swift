// E-mail links, people and the outbox in SQLite.

public import EnrollRules
public import EnrollGateway

extension SQLiteStore {
  public func keep(
    _ link: NewMailLink?, mail: NewMail?, replacingOlder: Bool, at now: UnixTime
  ) throws(StoreFailure) {
    let mail: CheckedMail? = if let mail { try CheckedMail(mail, at: now) } else { nil }
    let link: CheckedLink? = if let link { try CheckedLink(link, at: now) } else { nil }
    try changing { (connection) throws(StoreFailure) in
      if let link {
        if replacingOlder { try connection.change(.removeLinks, [link.emailKey, link.purpose]) }
        try connection.change(.insertLink, link.values)
      }
      if let mail { try connection.change(.insertMail, mail.values) }
    }
  }

  public func link(
    tokenHash: [UInt8], purpose: NewMailLink.Purpose, at now: UnixTime
  ) throws(StoreFailure) -> LinkState {
    let found = try reading { (connection) throws(StoreFailure) in
      try connection.first(.link, [.bytes(tokenHash), .text(purpose.rawValue)]) { LinkRecord($0) }
    }
    return found?.state(at: now) ?? .unknown
  }

  public func spend(
    tokenHash: [UInt8], purpose: NewMailLink.Purpose, owner: LinkOwner, creating credential: NewCredential,
    at now: UnixTime
  ) throws(StoreFailure) -> LinkSpending {
    let credential = try CheckedCredential(credential, at: now)
    var ended = (surplus: 0, password: 0)
    let spending = try changing { (connection) throws(StoreFailure) -> LinkSpending in
      let found = try connection.first(.link, [.bytes(tokenHash), .text(purpose.rawValue)]) {
        LinkRecord($0)
      }
      guard let record = found else { return .unknown }
      if let refusal = record.refusal(at: now) { return refusal }
      guard
        let (signedIn, surplus) = try self.signIn(
          owner, record.link, tokenHash, creating: credential, at: now, by: connection, &ended.password)
      else { return .unknown }
      ended.surplus = surplus
      try connection.change(.spendLink, [.bytes(tokenHash), .integer(now.seconds), credential.hash])
      return .signedIn(signedIn)
    }
    if case .signedIn = spending {
      observer.ended(ended.password, .password)
      observer.began(credential, ending: ended.surplus)
    }
    return spending
  }

  /// - Parameter ended: is set to the number of sessions that a new password ended.
  /// - Returns: nil if the person that the link names does not exist any more.
  private func signIn(
    _ owner: LinkOwner, _ link: MailLink, _ tokenHash: [UInt8], creating credential: CheckedCredential,
    at now: UnixTime, by connection: SQLiteConnection, _ ended: inout Int
  ) throws(StoreFailure) -> (SignedIn, surplus: Int)? {
    switch owner {
    case .identity(let identity, let newAccountID):
      return try signIn(
        try CheckedIdentity(identity), newID: try CheckedID.bytes(newAccountID, "The new account's id"),
        creating: credential, at: now, by: connection)
    case .newPerson(let id, let password):
      let newID = try CheckedID.bytes(id, "The person's id")
      let address: EmailAddress
      do { address = try EmailAddress(link.email) } catch {
        throw .fault("A stored link has no e-mail address. The store expects one.")
      }
      let known = try connection.first(.personByEmail, [.text(address.key)]) { StoredPerson(row: $0) }
      let personID = known?.id ?? id
      let signedIn = try signIn(
        try CheckedIdentity(
          Identity(
            provider: OwnPeople.provider, subject: personID, email: known?.email ?? link.email,
            isEmailVerified: true, name: link.name)),
        newID: newID, creating: credential, at: now, by: connection)
      if known == nil {
        try connection.change(
          .insertPerson,
          [
            .bytes(newID), .text(address.key), .text(link.email), .text(orNull: password),
            .text(OwnPeople.provider), .text(id), .integer(now.seconds),
          ])
      } else if let password, let bytes = StoredID.bytes(of: personID) {
        try connection.change(.updatePassword, [.bytes(bytes), .text(password)])
      }
      if password != nil {
        try notePassword(
          of: signedIn.0.account.id, before: known?.password, detail: nil, at: now, by: connection)
      }
      return signedIn
    case .knownPerson(let password):
      guard let subject = link.subject, let id = StoredID.bytes(of: subject),
        let person = try connection.first(.personByID, [.bytes(id)], { StoredPerson(row: $0) })
      else { return nil }
      if let password {
        try connection.change(.updatePassword, [.bytes(id), .text(password)])
        ended = try endAccess(
          of: subject, sessionThatStays: .null, linkThatStays: .bytes(tokenHash), by: connection)
      }
      // The person refers to an existing identity, so no account is made.
      let signedIn = try signIn(
        try CheckedIdentity(
          Identity(
            provider: OwnPeople.provider, subject: subject, email: person.email, isEmailVerified: true)),
        newID: [UInt8](repeating: 0, count: 16), creating: credential, at: now, by: connection)
      if password != nil {
        try notePassword(
          of: signedIn.0.account.id, before: person.password, detail: String(ended), at: now, by: connection
        )
      }
      return signedIn
    }
  }

  /// - Parameter detail: the number of sessions that ended; nil if none could end.
  private func notePassword(
    of account: String, before: String?, detail: String?, at now: UnixTime, by connection: SQLiteConnection
  ) throws(StoreFailure) {
    let entry = AuditEntry(
      at: now, before == nil ? .passwordSet : .passwordChanged, account: account, detail: detail,
      from: .current)
    try connection.change(.appendAudit, AuditRow.values(entry))
  }

  public func spendLink(
    tokenHash: [UInt8], purpose: NewMailLink.Purpose, at now: UnixTime
  ) throws(StoreFailure) -> Bool {
    try changing { (connection) throws(StoreFailure) in
      let found = try connection.first(.link, [.bytes(tokenHash), .text(purpose.rawValue)]) {
        LinkRecord($0)
      }
      guard let record = found, record.refusal(at: now) == nil else { return false }
      return try connection.change(.spendLink, [.bytes(tokenHash), .integer(now.seconds), .null]) > 0
    }
  }

  public func person(emailKey key: String) throws(StoreFailure) -> StoredPerson? {
    try reading { (connection) throws(StoreFailure) in
      try connection.first(.personByEmail, [.text(key)]) { StoredPerson(row: $0) }
    }
  }

  public func person(id: String) throws(StoreFailure) -> StoredPerson? {
    guard let id = StoredID.bytes(of: id) else { return nil }
    return try reading { (connection) throws(StoreFailure) in
      try connection.first(.personByID, [.bytes(id)]) { StoredPerson(row: $0) }
    }
  }

  public func setPassword(
    _ password: String, ofPerson id: String, exceptTokenHash: [UInt8]?, at now: UnixTime
  ) throws(StoreFailure) -> Bool {
    guard let bytes = StoredID.bytes(of: id) else { return false }
    let password = try StoredText.exact(password, "The password's hash")
    let ended = try changing { (connection) throws(StoreFailure) -> Int? in
      let before = try connection.first(.personByID, [.bytes(bytes)]) { StoredPerson(row: $0) }
      guard let before, try connection.change(.updatePassword, [.bytes(bytes), password]) > 0 else {
        return nil
      }
      let ended = try self.endAccess(
        of: id, sessionThatStays: exceptTokenHash.map { .bytes($0) } ?? .null, linkThatStays: .null,
        by: connection)
      let account = try connection.collect(
        SharedQueries.account, [.text(OwnPeople.provider), .text(id)]
      ) { StoredID.text(of: $0.bytes(0)) }.first
      if let account {
        try self.notePassword(
          of: account, before: before.password, detail: String(ended), at: now, by: connection)
      }
      return ended
    }
    observer.ended(ended ?? 0, .password)
    return ended != nil
  }

  /// Ends everything that the old password gave access to: sessions, unredeemed codes of apps, unused links of e-mails.
  /// - Returns: how many sessions ended.
  private func endAccess(
    of subject: String, sessionThatStays: SQLValue, linkThatStays: SQLValue, by connection: SQLiteConnection
  ) throws(StoreFailure) -> Int {
    let identity: [SQLValue] = [.text(OwnPeople.provider), .text(subject)]
    try connection.change(.endCodesOfPerson, identity)
    try connection.change(.endLinksOfPerson, [.text(subject), linkThatStays])
    return try connection.change(.endSessionsOfPerson, identity + [sessionThatStays])
  }

  public func isCurrent(_ password: String, ofPerson id: String) throws(StoreFailure) -> Bool {
    guard let id = StoredID.bytes(of: id) else { return false }
    let values: [SQLValue] = [.bytes(id), try StoredText.exact(password, "The password's hash")]
    return try reading { (connection) throws(StoreFailure) in
      try connection.first(.passwordIsCurrent, values) { $0.bytes(0) } != nil
    }
  }

  public func takeMails(
    _ most: Int, leaseSeconds: Int64, at now: UnixTime
  ) throws(StoreFailure) -> [TakenMail] {
    try changing { (connection) throws(StoreFailure) in
      try connection.rows(
        .takeMails,
        [
          .integer(now.seconds), .integer((now + leaseSeconds).seconds), .integer(Int64(most)),
          RegistrationTimes.latestDue(at: now),
        ]
      ) { TakenMail(row: $0) }
    }
  }

  public func removeMail(_ id: String) throws(StoreFailure) {
    guard let id = StoredID.bytes(of: id) else { return }
    try changing { (connection) throws(StoreFailure) in
      _ = try connection.change(.removeMail, [.bytes(id)])
    }
  }

  public func putOffMail(_ id: String, until due: UnixTime) throws(StoreFailure) {
    guard let id = StoredID.bytes(of: id) else { return }
    try changing { (connection) throws(StoreFailure) in
      _ = try connection.change(.putOffMail, [.bytes(id), .integer(due.seconds)])
    }
  }

  public func waitingMails() throws(StoreFailure) -> Int {
    try reading { (connection) throws(StoreFailure) in
      try connection.first(.waitingMails, []) { Int($0.integer(0)) } ?? 0
    }
  }
}
