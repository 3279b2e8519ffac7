// What the store keeps for people who come by e-mail: the links that were mailed, the people of the gateway's own directory, and the
// mails that wait to be sent. The promises of ``AccountStore`` hold here, too.

public import EnrollCore

/// A link that is mailed. The store keeps the hash of its token only.
public struct NewMailLink: Sendable, Equatable {
  public enum Purpose: String, Sendable, CaseIterable {
    /// Ends a registration.
    case activation
    /// Signs somebody in.
    case signIn = "sign-in"
    /// Replaces a password.
    case reset
  }

  /// SHA-256 of the token, 32 bytes.
  public var tokenHash: [UInt8]
  public var purpose: Purpose
  public var email: EmailAddress
  /// Of a registration.
  public var name: String?
  /// The subject of the identity that it signs in; nil for a registration.
  public var subject: String?
  /// The browser that asked: a User-Agent.
  public var device: String?
  /// Hash of what that browser has in a cookie.
  public var browserHash: [UInt8]?
  /// Where the person goes afterwards, as ``Visit`` writes it.
  public var visit: String?
  public var expires: UnixTime

  public init(
    tokenHash: [UInt8], purpose: Purpose, email: EmailAddress, name: String? = nil, subject: String? = nil,
    device: String? = nil, browserHash: [UInt8]? = nil, visit: String? = nil, expires: UnixTime
  ) {
    self.tokenHash = tokenHash
    self.purpose = purpose
    self.email = email
    self.name = name
    self.subject = subject
    self.device = device
    self.browserHash = browserHash
    self.visit = visit
    self.expires = expires
  }
}

/// A link as the store has it.
public struct MailLink: Sendable, Equatable {
  /// As it was written.
  public var email: String
  public var name: String?
  public var subject: String?
  public var device: String?
  public var browserHash: [UInt8]?
  public var visit: String?

  public init(
    email: String, name: String?, subject: String?, device: String?, browserHash: [UInt8]?, visit: String?
  ) {
    self.email = email
    self.name = name
    self.subject = subject
    self.device = device
    self.browserHash = browserHash
    self.visit = visit
  }
}

/// What became of a link.
public enum LinkState: Sendable, Equatable {
  case live(MailLink)
  case spent
  case expired
  /// Never made, replaced by a newer one, or of another purpose.
  case unknown
}

/// Whom a link signs in.
public enum LinkOwner: Sendable, Equatable {
  /// The person of the gateway's own directory whose address the link proves: found, or made under this id. `password`, where there
  /// is one, becomes theirs.
  case newPerson(id: String, password: String?)
  /// The person of the gateway's own directory that the link names. `password` replaces theirs, and ends what was had by
  /// the one before, as ``RegistrationStore/setPassword(_:ofPerson:exceptTokenHash:at:)`` does.
  case knownPerson(password: String?)
  /// The identity that another directory vouches for; `newAccountID` is for one that was never seen.
  case identity(Identity, newAccountID: String)
}

/// How a link was spent.
public enum LinkSpending: Sendable, Equatable {
  case signedIn(SignedIn)
  case spent
  case expired
  case unknown
}

/// A person of the gateway's own directory.
public struct StoredPerson: Sendable, Equatable {
  /// A UUID of version 7; the subject of the identity.
  public var id: String
  public var email: String
  /// As ``PasswordHasher`` writes it.
  public var password: String?

  public init(id: String, email: String, password: String?) {
    self.id = id
    self.email = email
    self.password = password
  }
}

/// A mail that waits.
public struct NewMail: Sendable, Equatable {
  /// A UUID of version 7.
  public var id: String
  /// Sealed with the gateway's keys: links are in it.
  public var sealed: String
  /// Nobody needs it afterwards.
  public var expires: UnixTime

  public init(id: String, sealed: String, expires: UnixTime) {
    self.id = id
    self.sealed = sealed
    self.expires = expires
  }
}

/// A mail that was taken to be sent.
public struct TakenMail: Sendable, Equatable {
  public var id: String
  public var sealed: String
  public var expires: UnixTime
  /// This one included.
  public var attempts: Int64

  public init(id: String, sealed: String, expires: UnixTime, attempts: Int64) {
    self.id = id
    self.sealed = sealed
    self.expires = expires
    self.attempts = attempts
  }
}

public protocol RegistrationStore: AnyObject, Sendable {
  /// Keeps a link, and puts its mail into the outbox: both or neither. Older links of the same purpose and address are gone.
  /// - Parameters:
  ///   - link: nil: the mail alone.
  ///   - mail: nil: the link alone.
  ///   - replacingOlder: false: the older links stay.
  func keep(
    _ link: NewMailLink?, mail: NewMail?, replacingOlder: Bool, at now: UnixTime
  ) throws(StoreFailure)

  /// Looks at a link, and changes nothing.
  func link(
    tokenHash: [UInt8], purpose: NewMailLink.Purpose, at now: UnixTime
  ) throws(StoreFailure) -> LinkState

  /// Spends a link for a sign-in, atomically: of many calls at once one is answered with `.signedIn`.
  func spend(
    tokenHash: [UInt8], purpose: NewMailLink.Purpose, owner: LinkOwner, beginning: Beginning, at now: UnixTime
  ) throws(StoreFailure) -> LinkSpending

  /// Spends a link that signs nobody in here.
  /// - Returns: whether it was live.
  func spendLink(
    tokenHash: [UInt8], purpose: NewMailLink.Purpose, at now: UnixTime
  ) throws(StoreFailure) -> Bool

  /// - Parameter key: ``EmailAddress/key``.
  func person(emailKey key: String) throws(StoreFailure) -> StoredPerson?
  func person(id: String) throws(StoreFailure) -> StoredPerson?

  /// Replaces a password, and ends what was had by the one before: the sessions of the person's account but for that of a token, codes
  /// that no app has redeemed, and links of e-mails that nobody has used.
  /// - Returns: whether there is such a person.
  func setPassword(
    _ password: String, ofPerson id: String, exceptTokenHash: [UInt8]?, at now: UnixTime
  ) throws(StoreFailure) -> Bool

  /// Whether this is the hash of the person's password now. It waits for a change that is under way.
  func isCurrent(_ password: String, ofPerson id: String) throws(StoreFailure) -> Bool

  /// Takes mails that are due: nobody else gets them before `leaseSeconds` have passed.
  func takeMails(_ most: Int, leaseSeconds: Int64, at now: UnixTime) throws(StoreFailure) -> [TakenMail]

  /// Removes a mail that was sent, or never will be.
  func removeMail(_ id: String) throws(StoreFailure)

  /// Tries a mail again later.
  func putOffMail(_ id: String, until due: UnixTime) throws(StoreFailure)

  /// How many mails wait.
  func waitingMails() throws(StoreFailure) -> Int
}

extension RegistrationStore {
  public func keep(_ link: NewMailLink?, mail: NewMail, at now: UnixTime) throws(StoreFailure) {
    try keep(link, mail: mail, replacingOlder: true, at: now)
  }
}
