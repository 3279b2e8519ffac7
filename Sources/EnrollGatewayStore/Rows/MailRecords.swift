// E-mail links, people and mails: checked parameters and parsed rows.

import EnrollRules
import EnrollGateway

/// The name of the provider in the identities of the gateway's own directory.
enum OwnPeople {
  static let provider = "email"
}

enum RegistrationTimes {
  /// How long an expired link is kept, so that a user who opens the link learns that it has expired.
  static let keptSeconds: Int64 = 2 * 86_400

  /// The latest due time that a gateway with the right clock writes. A gateway whose clock was ahead may have written
  /// later due times; mails with such times are sent at once.
  static func latestDue(at now: UnixTime) -> SQLValue {
    .integer((now + 2 * Outbox.longestPauseSeconds).seconds)
  }
}

/// A new link as parameters.
struct CheckedLink {
  let tokenHash: SQLValue
  let purpose: SQLValue
  let emailKey: SQLValue
  /// The values in the order of the statement that inserts the link.
  let values: [SQLValue]

  init(_ link: NewMailLink, at now: UnixTime) throws(StoreFailure) {
    guard link.tokenHash.count == 32 else {
      throw .fault("The hash of the link's token has \(link.tokenHash.count) bytes. The store expects 32.")
    }
    tokenHash = .bytes(link.tokenHash)
    purpose = .text(link.purpose.rawValue)
    emailKey = .text(link.email.key)
    let subject: SQLValue =
      if let subject = link.subject { try StoredText.exact(subject, "The link's subject") } else { .null }
    values = [
      tokenHash, purpose, emailKey, .text(link.email.text), StoredText.shown(link.name), subject,
      StoredText.shown(link.device), link.browserHash.map { .bytes($0) } ?? .null,
      StoredText.shown(link.destination), .integer(now.seconds), .integer(link.expires.seconds),
    ]
  }
}

/// A new mail as parameters.
struct CheckedMail {
  let values: [SQLValue]

  init(_ mail: NewMail, at now: UnixTime) throws(StoreFailure) {
    values = [
      .id(mail.id), try StoredText.exact(mail.sealed, "The mail"),
      .integer(now.seconds), .integer(mail.expires.seconds),
    ]
  }
}

/// A row of ``SQLStatement/link``.
struct LinkRecord {
  let link: MailLink
  let expires: UnixTime
  let isSpent: Bool
  let spentFor: [UInt8]

  init(_ row: some SQLRow) {
    link = MailLink(
      email: row.text(0), name: row.textOrNil(1), subject: row.textOrNil(2), device: row.textOrNil(3),
      browserHash: row.isNull(4) ? nil : row.bytes(4), destination: row.textOrNil(5))
    expires = row.time(6)
    isSpent = !row.isNull(7)
    spentFor = row.isNull(8) ? [] : row.bytes(8)
  }

  func state(at now: UnixTime) -> LinkState {
    if isSpent { return .spent }
    return now < expires ? .live(link) : .expired
  }

  /// Why the link cannot be spent; nil if it can be spent.
  func refusal(at now: UnixTime) -> LinkSpending? {
    if isSpent { return .spent }
    return now < expires ? nil : .expired
  }
}

extension StoredPerson {
  init(row: some SQLRow) {
    self.init(id: row.id(0), email: row.text(1), password: row.textOrNil(2))
  }
}

extension TakenMail {
  /// Columns: id, sealed, expiry, attempts.
  init(row: some SQLRow) {
    self.init(
      id: row.id(0), sealed: row.text(1), expires: row.time(2),
      attempts: row.integer(3))
  }
}

extension CheckedCredential {
  /// The hash of the session or code. A link whose `spent_for` has this hash was spent by the same call.
  var hash: SQLValue {
    switch self {
    case .session(let session): session.tokenHash
    case .code(let code): code.codeHash
    }
  }
}

/// The user whom a link signs in, as parameters of statements.
enum CheckedOwner {
  case newPerson(id: PersonID, password: String?)
  case knownPerson(password: String?)
  case identity(CheckedIdentity, newID: AccountID)

  init(_ owner: LinkOwner) throws(StoreFailure) {
    switch owner {
    case .newPerson(let id, let password):
      self = .newPerson(id: id, password: password)
    case .knownPerson(let password): self = .knownPerson(password: password)
    case .identity(let identity, let newAccountID):
      self = .identity(try CheckedIdentity(identity), newID: newAccountID)
    }
  }

  /// The id of an account that the sign-in may make. A new person and the account of that person have the same id. If
  /// the link names an existing person, that person already has an account, and the id is all zeros, because the
  /// statement needs a parameter.
  var newID: AccountID {
    switch self {
    case .newPerson(let id, _): AccountID(bytes: id.bytes)
    case .identity(_, let id): id
    case .knownPerson: AccountID(bytes: [UInt8](repeating: 0, count: 16))
    }
  }
}
