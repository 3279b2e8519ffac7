// The calls of the store that the commands about accounts need. A missing database is not created, and a database with
// an older schema is refused.

import EnrollRules
import EnrollSteps
import EnrollGateway
import EnrollGatewayPages
import EnrollJSON
import EnrollPosix

/// The gateway's store, opened for the commands of an operator.
struct AccountAdministration {
  private let setup: Setup
  private let store: any AccountStore

  /// An account with its identities.
  struct Shown {
    let account: Account
    let identities: [Identity]
    /// The number of sessions that the account has; nil if the sessions were not counted.
    var sessions: Int?

    var json: JSON {
      .object([
        ("account", AccountCopy.json(account)),
        ("identities", .array(identities.map { AccountCopy.json($0) })),
        ("sessions", sessions.map { .integer(Int64($0)) }),
      ])
    }
  }

  /// - Parameter path: the configuration file.
  /// - Throws: `.configuration` for a database that is missing or cannot be used.
  init(_ path: String) throws(EnrollError) {
    setup = try Setup(path: path)
    store = try setup.existingStore()
  }

  func close() { store.close() }

  /// Finds accounts by an e-mail address, an account's id or PROVIDER:SUBJECT. The audit also records a search without
  /// a result.
  /// - Throws: `.notFound` if no account matches, `.invalidArgument` for a text in none of the three forms.
  func find(_ what: String) throws(EnrollError) -> [Shown] {
    let ids = try callingStore { () throws(StoreFailure) -> [AccountID]? in try self.ids(what) }
    guard let ids else {
      throw EnrollError(
        .invalidArgument,
        "\(Self.quoted(what)) is no e-mail address, no account's id and no PROVIDER:SUBJECT. Name one of the three."
      )
    }
    var found: [Shown] = []
    for id in ids {
      guard let one = try callingStore({ () throws(StoreFailure) in try look(id) }) else { continue }
      found.append(one)
      try note(.viewed, id, "find")
    }
    guard !found.isEmpty else {
      try note(.viewed, nil, "find")
      throw EnrollError(
        .notFound, "No account has \(Self.quoted(what)). Look at its spelling: a sub is compared exactly.")
    }
    return found
  }

  /// The ids of the accounts that match; nil for a text that is not an address, an id or PROVIDER:SUBJECT.
  private func ids(_ what: String) throws(StoreFailure) -> [AccountID]? {
    if let colon = what.utf8.firstIndex(of: 0x3A), !what[..<colon].utf8.contains(0x40) {
      return try ids(
        ofSubject: String(what[what.utf8.index(after: colon)...]), at: String(what[..<colon]))
    }
    if what.utf8.contains(0x40) { return try store.accounts(withEmail: what).map(\.id) }
    return what.utf8.count == 36 ? Self.id(what).map { [$0] } ?? [] : nil
  }

  /// The ids of the accounts with this subject. A subject is stored with its issuer. If the provider has a single
  /// issuer, the operator may enter the `sub` alone.
  private func ids(ofSubject subject: String, at provider: String) throws(StoreFailure) -> [AccountID] {
    let whole = setup.providers().first { ASCII.equals($0.name, provider) }?.key(ofSubject: subject)
    for text in [subject, whole].compactMap({ $0 }) {
      if let id = try store.account(of: IdentityKey(provider: provider, subject: text)) { return [id] }
    }
    return []
  }

  func show(_ text: String) throws(EnrollError) -> Shown {
    guard let id = Self.id(text),
      var shown = try callingStore({ () throws(StoreFailure) in try look(id) })
    else { throw try missing(text, "show") }
    shown.sessions = try callingStore { () throws(StoreFailure) in
      try store.sessions(ofAccount: id, at: setup.clock.wallTime()).count
    }
    try note(.viewed, id, "show")
    return shown
  }

  func sessions(_ text: String) throws(EnrollError) -> [LiveSession] {
    let id = try existing(text, "sessions")
    let sessions = try callingStore { () throws(StoreFailure) in
      try store.sessions(ofAccount: id, at: setup.clock.wallTime())
    }
    try note(.viewed, id, "sessions")
    return sessions
  }

  func endSessions(_ text: String) throws(EnrollError) -> Int {
    let id = try existing(text, "end-sessions")
    return try callingStore { () throws(StoreFailure) in
      try store.endSessions(
        ofAccount: id, exceptTokenHash: nil, at: setup.clock.wallTime(), from: .operator)
    }
  }

  /// Deletes an account. If mail is configured, the user gets an e-mail.
  /// - Returns: the account's id.
  func delete(_ text: String) throws(EnrollError) -> AccountID {
    let outbox = try outbox()
    guard let id = Self.id(text) else { throw try missing(text, "delete") }
    let result = AuditOrigin.$current.withValue(.operator) {
      Result { () throws(StoreFailure) in
        try store.deleteAccount(id, by: nil, at: setup.clock.wallTime())
      }
    }
    let deleted = try callingStore { () throws(StoreFailure) in try result.get() }
    guard let deleted else { throw try missing(text, "delete") }
    guard let (outbox, language) = outbox else { return id }
    do throws(StoreFailure) {
      for address in deleted.identities.verifiedAddresses {
        try outbox.post(AccountMail(.accountDeleted, to: address, in: language))
      }
    } catch {
      StandardStream.printLine("The person was not told by mail: \(error.message)", to: 2)
    }
    return id
  }

  func export(_ text: String) throws(EnrollError) -> JSON {
    let id = try existing(text, "export")
    try note(.exported, id, nil)
    let copy = try callingStore { () throws(StoreFailure) in
      try AccountCopy(of: id, in: store, at: setup.clock.wallTime())
    }
    guard let copy else { throw try missing(text, "export") }
    return copy.json
  }

  // MARK: Details

  private func look(_ id: AccountID) throws(StoreFailure) -> Shown? {
    guard let account = try store.account(id) else { return nil }
    return Shown(account: account, identities: try store.identities(ofAccount: id))
  }

  /// The id in the spelling in which the store has it. The case of the text does not matter, because UUIDs are
  /// case-insensitive (RFC 9562 §4).
  private static func id(_ text: String) -> AccountID? { AccountID(text.lowercased()) }

  /// - Returns: the id of an account that exists.
  private func existing(_ text: String, _ command: String) throws(EnrollError) -> AccountID {
    guard let id = Self.id(text),
      try callingStore({ () throws(StoreFailure) in try store.account(id) }) != nil
    else { throw try missing(text, command) }
    return id
  }

  private func note(_ event: AuditEvent, _ id: AccountID?, _ detail: String?) throws(EnrollError) {
    let entry = AuditEntry(
      at: setup.clock.wallTime(), event, account: id, detail: detail, from: .operator)
    try callingStore { () throws(StoreFailure) in try store.append(entry) }
  }

  /// The outbox, and the language of its e-mails; nil if no mail is configured.
  private func outbox() throws(EnrollError) -> (Outbox, Language)? {
    guard setup.settings.mail != nil else { return nil }
    let (keys, pages) = (try setup.keys(), try setup.pages())
    let log = GatewayLog(level: .info, clock: setup.clock)
    return setup.outbox(store, keys, pages, log, MailDelivery(log: log)).map {
      ($0, pages.languages.standard)
    }
  }

  private func callingStore<Result>(_ body: () throws(StoreFailure) -> Result) throws(EnrollError) -> Result {
    do throws(StoreFailure) { return try body() } catch {
      throw EnrollError(.storeIO, "database: \(error.message)")
    }
  }

  /// The error for an account that does not exist. The audit records the attempt, but not the id that the operator
  /// entered.
  private func missing(_ text: String, _ command: String) throws(EnrollError) -> EnrollError {
    try note(.viewed, nil, command)
    return EnrollError(
      .notFound,
      "No account has the id \(Self.quoted(text)). enroll-gateway accounts find tells the id of an e-mail address."
    )
  }

  private static func quoted(_ text: String) -> String {
    "\"" + PrintableText.bounded(text, maximumBytes: 100) + "\""
  }
}
