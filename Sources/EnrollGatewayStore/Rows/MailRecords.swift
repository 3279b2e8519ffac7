// Links, people and mails: values checked before they become parameters, and rows read, for both adapters.

import EnrollCore
import EnrollGateway

/// The identities of the gateway's own directory.
enum OwnPeople {
  static let provider = "email"
}

enum RegistrationTimes {
  /// So long after its end a link is known, so that its owner is told that it is too old.
  static let keptSeconds: Int64 = 2 * 86_400

  /// No gateway with the right date puts a mail off beyond that. A clock that was ahead for a while does, and its mails would wait until
  /// then.
  static func latestDue(at now: UnixTime) -> SQLValue {
    .integer((now + 2 * Outbox.longestPauseSeconds).seconds)
  }
}

/// A new link as parameters.
struct CheckedLink {
  let tokenHash: SQLValue
  let purpose: SQLValue
  let emailKey: SQLValue
  /// In the order of the statement that inserts it.
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
      StoredText.shown(link.visit), .integer(now.seconds), .integer(link.expires.seconds),
    ]
  }
}

/// A new mail as parameters.
struct CheckedMail {
  let values: [SQLValue]

  init(_ mail: NewMail, at now: UnixTime) throws(StoreFailure) {
    values = [
      .bytes(try CheckedID.bytes(mail.id, "The mail's id")), try StoredText.exact(mail.sealed, "The mail"),
      .integer(now.seconds), .integer(mail.expires.seconds),
    ]
  }
}

/// A row of ``MailQueries/link``.
struct LinkRecord {
  let link: MailLink
  let expires: UnixTime
  let isSpent: Bool
  let spentFor: [UInt8]

  init(_ row: some SQLRow) {
    link = MailLink(
      email: row.text(0), name: row.textOrNil(1), subject: row.textOrNil(2), device: row.textOrNil(3),
      browserHash: row.isNull(4) ? nil : row.bytes(4), visit: row.textOrNil(5))
    expires = row.time(6)
    isSpent = !row.isNull(7)
    spentFor = row.isNull(8) ? [] : row.bytes(8)
  }

  func state(at now: UnixTime) -> LinkState {
    if isSpent { return .spent }
    return now < expires ? .live(link) : .expired
  }

  /// What stands against spending it; nil: nothing.
  func refusal(at now: UnixTime) -> LinkSpending? {
    if isSpent { return .spent }
    return now < expires ? nil : .expired
  }
}

extension StoredPerson {
  init(row: some SQLRow) {
    self.init(id: StoredID.text(of: row.bytes(0)), email: row.text(1), password: row.textOrNil(2))
  }
}

extension TakenMail {
  /// id, sealed, end, attempts.
  init(row: some SQLRow) {
    self.init(
      id: StoredID.text(of: row.bytes(0)), sealed: row.text(1), expires: row.time(2),
      attempts: row.integer(3))
  }
}

extension CheckedBeginning {
  /// Of the session or the code: a link that was spent for it was spent by this call.
  var hash: SQLValue {
    switch self {
    case .session(let session): session.tokenHash
    case .code(let code): code.codeHash
    }
  }
}
