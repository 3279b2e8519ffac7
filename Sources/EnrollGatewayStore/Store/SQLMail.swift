// E-mail links, people of the gateway's own directory, and the outbox.

public import EnrollRules
public import EnrollGateway

extension SQLStore {
  // MARK: Links

  public func keep(
    _ link: NewMailLink?, mail: NewMail?, replacingOlder: Bool, at now: UnixTime
  ) throws(StoreFailure) {
    let mail: CheckedMail? = if let mail { try CheckedMail(mail, at: now) } else { nil }
    let link: CheckedLink? = if let link { try CheckedLink(link, at: now) } else { nil }
    try changing(.repeatable) { (connection) throws(SQLFailure) in
      if let link {
        try connection.keep(link, mail, replacingOlder: replacingOlder)
      } else if let mail {
        try connection.change(.insertMail, mail.values)
      }
    }
  }

  public func link(
    tokenHash: [UInt8], purpose: NewMailLink.Purpose, at now: UnixTime
  ) throws(StoreFailure) -> LinkState {
    let found = try reading { (connection) throws(SQLFailure) in
      try connection.link(tokenHash, purpose)
    }
    return found?.state(at: now) ?? .unknown
  }

  public func spend(
    tokenHash: [UInt8], purpose: NewMailLink.Purpose, owner: LinkOwner, creating credential: NewCredential,
    at now: UnixTime
  ) throws(StoreFailure) -> LinkSpending {
    let credential = try CheckedCredential(credential, at: now)
    let owner = try CheckedOwner(owner)
    var ended = (surplus: 0, password: 0)
    // A repeated call finds that the link was spent for the same session or code.
    let spending = try changing(.repeatable) { (connection) throws(SQLFailure) -> LinkSpending in
      let begun = try connection.spend(tokenHash, purpose, of: owner, creating: credential, at: now)
      if let begun {
        ended = (begun.surplus, begun.endedByPassword)
        return .signedIn(begun.signedIn)
      }
      // A new statement has a new snapshot: it sees the change for which the previous statement waited.
      return try connection.link(tokenHash, purpose)?.refusal(at: now) ?? .unknown
    }
    if case .signedIn = spending {
      observer.ended(ended.password, .password)
      observer.began(credential, ending: ended.surplus)
    }
    return spending
  }

  public func spendLink(
    tokenHash: [UInt8], purpose: NewMailLink.Purpose, at now: UnixTime
  ) throws(StoreFailure) -> Bool {
    try changing(.once) { (connection) throws(SQLFailure) in
      try connection.change(
        .spendLink, [.bytes(tokenHash), .text(purpose.rawValue), .integer(now.seconds), .null]) > 0
    }
  }

  // MARK: People

  public func person(emailKey key: String) throws(StoreFailure) -> StoredPerson? {
    guard !key.utf8.contains(0) else { return nil }
    return try reading { (connection) throws(SQLFailure) in
      try connection.first(.personByEmail, [.text(key)]) { StoredPerson(row: $0) }
    }
  }

  public func person(id: PersonID) throws(StoreFailure) -> StoredPerson? {
    return try reading { (connection) throws(SQLFailure) in
      try connection.first(.personByID, [.id(id)]) { StoredPerson(row: $0) }
    }
  }

  public func setPassword(
    _ password: String, ofPerson id: PersonID, exceptTokenHash: [UInt8]?, at now: UnixTime
  ) throws(StoreFailure) -> Bool {
    let password = try StoredText.exact(password, "The password's hash")
    let ended = try inTransaction(.repeatable) { (connection) throws(SQLFailure) -> Int? in
      let before = try connection.first(.personByID, [.id(id)]) { StoredPerson(row: $0) }
      guard let before, try connection.change(.updatePassword, [.id(id), password]) > 0 else {
        return nil
      }
      let ended = try connection.endAccess(
        of: id.text, sessionThatStays: exceptTokenHash.map { .bytes($0) } ?? .null, linkThatStays: .null)
      let identity: [SQLValue] = [.text(OwnPeople.provider), .text(id.text)]
      if let account = try connection.first(.accountOfIdentity, identity, { $0.accountID(0) }) {
        try connection.notePassword(of: account, before: before.password, detail: String(ended), at: now)
      }
      return ended
    }
    observer.ended(ended ?? 0, .password)
    return ended != nil
  }

  public func isCurrent(_ password: String, ofPerson id: PersonID) throws(StoreFailure) -> Bool {
    let values: [SQLValue] = [.id(id), try StoredText.exact(password, "The password's hash")]
    return try reading { (connection) throws(SQLFailure) in
      try connection.first(.passwordIsCurrent, values) { $0.bytes(0) } != nil
    }
  }

  // MARK: Outbox

  public func takeMails(
    _ most: Int, leaseSeconds: Int64, at now: UnixTime
  ) throws(StoreFailure) -> [TakenMail] {
    let values: [SQLValue] = [
      .integer(now.seconds), .integer((now + leaseSeconds).seconds), .integer(Int64(most)),
      RegistrationTimes.latestDue(at: now),
    ]
    return try changing(.once) { (connection) throws(SQLFailure) in
      try connection.rows(.takeMails, values) { TakenMail(row: $0) }
    }
  }

  public func removeMail(_ id: MailID) throws(StoreFailure) {
    try changing(.repeatable) { (connection) throws(SQLFailure) in
      _ = try connection.change(.removeMail, [.id(id)])
    }
  }

  public func putOffMail(_ id: MailID, until due: UnixTime) throws(StoreFailure) {
    try changing(.repeatable) { (connection) throws(SQLFailure) in
      _ = try connection.change(.putOffMail, [.id(id), .integer(due.seconds)])
    }
  }

  public func waitingMails() throws(StoreFailure) -> Int {
    try reading { (connection) throws(SQLFailure) in
      try connection.first(.waitingMails, []) { Int($0.integer(0)) } ?? 0
    }
  }
}

extension SQLConnection {
  func link(_ tokenHash: [UInt8], _ purpose: NewMailLink.Purpose) throws(SQLFailure) -> LinkRecord? {
    try first(.link, [.bytes(tokenHash), .text(purpose.rawValue)]) { LinkRecord($0) }
  }

  /// Ends everything that the old password gave access to: sessions, unredeemed codes of apps, unused links of e-mails.
  /// - Returns: how many sessions ended.
  func endAccess(
    of subject: String, sessionThatStays: SQLValue, linkThatStays: SQLValue
  ) throws(SQLFailure) -> Int {
    let identity: [SQLValue] = [.text(OwnPeople.provider), .text(subject)]
    try change(.endCodesOfPerson, identity)
    try change(.endLinksOfPerson, [.text(subject), linkThatStays])
    return try change(.endSessionsOfPerson, identity + [sessionThatStays])
  }

  /// Writes an audit entry about a password that was set or changed.
  /// - Parameter detail: the number of sessions that ended; nil for a registration, which ends no sessions.
  func notePassword(
    of account: AccountID, before: String?, detail: String?, at now: UnixTime
  ) throws(SQLFailure) {
    let entry = AuditEntry(
      at: now, before == nil ? .passwordSet : .passwordChanged, account: account, detail: detail,
      from: .current)
    try note(entry)
  }
}
