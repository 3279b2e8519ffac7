// The store of registration by e-mail: links that were mailed, people of the gateway's own directory, and the e-mails to send.
// The guarantees of ``AccountStore`` hold here, too.

public import EnrollRules

/// A link that is mailed. The store keeps only the hash of its token.
public struct NewMailLink: Sendable, Equatable {
  public enum Purpose: String, Sendable, CaseIterable {
    /// Completes a registration.
    case activation
    /// Signs the user in.
    case signIn = "sign-in"
    /// Replaces a password.
    case reset

    /// The path of the link in the e-mail, with this token.
    func path(_ token: String) -> String {
      switch self {
      case .activation: "/welcome/" + token
      case .signIn: "/signin/" + token
      case .reset: "/password/reset/" + token
      }
    }
  }

  /// SHA-256 of the token, 32 bytes.
  public var tokenHash: [UInt8]
  public var purpose: Purpose
  public var email: EmailAddress
  /// The name that the user entered in a registration.
  public var name: String?
  /// The subject of the identity that the link signs in; nil for a registration.
  public var subject: String?
  /// The User-Agent of the browser that asked for the link.
  public var device: String?
  /// The hash of the form cookie of the browser that asked for the link.
  public var browserHash: [UInt8]?
  /// The destination after the sign-in, as ``SignInDestination/text``.
  public var destination: String?
  public var expires: UnixTime

  public init(
    tokenHash: [UInt8], purpose: Purpose, email: EmailAddress, name: String? = nil, subject: String? = nil,
    device: String? = nil, browserHash: [UInt8]? = nil, destination: String? = nil, expires: UnixTime
  ) {
    self.tokenHash = tokenHash
    self.purpose = purpose
    self.email = email
    self.name = name
    self.subject = subject
    self.device = device
    self.browserHash = browserHash
    self.destination = destination
    self.expires = expires
  }
}

/// A link in the store.
public struct MailLink: Sendable, Equatable {
  /// The address as it was entered.
  public var email: String
  public var name: String?
  public var subject: String?
  public var device: String?
  public var browserHash: [UInt8]?
  public var destination: String?

  public init(
    email: String, name: String?, subject: String?, device: String?, browserHash: [UInt8]?,
    destination: String?
  ) {
    self.email = email
    self.name = name
    self.subject = subject
    self.device = device
    self.browserHash = browserHash
    self.destination = destination
  }
}

/// The state of a link.
public enum LinkState: Sendable, Equatable {
  case live(MailLink)
  case spent
  case expired
  /// The link never existed, was replaced by a newer link, or has another purpose.
  case unknown
}

/// The user whom a link signs in.
public enum LinkOwner: Sendable, Equatable {
  /// The person in the gateway's own directory who has the link's address. If there is no such person, a person with
  /// this id is created. `password`, if there is one, becomes the person's password.
  case newPerson(id: PersonID, password: String?)
  /// The person of the gateway's own directory that the link names. `password`, if there is one, replaces the
  /// person's password and ends the access that the old password gave, as in
  /// ``RegistrationStore/setPassword(_:ofPerson:exceptTokenHash:at:)``.
  case knownPerson(password: String?)
  /// An identity of another directory; `newAccountID` is used if the identity was never seen before.
  case identity(Identity, newAccountID: AccountID)
}

/// The result of spending a link.
public enum LinkSpending: Sendable, Equatable {
  case signedIn(SignedIn)
  case spent
  case expired
  case unknown
}

/// A person of the gateway's own directory.
public struct StoredPerson: Sendable, Equatable {
  public var id: PersonID
  public var email: String
  /// The hash that ``PasswordHasher`` wrote.
  public var password: String?

  public init(id: PersonID, email: String, password: String?) {
    self.id = id
    self.email = email
    self.password = password
  }
}

/// An e-mail for the outbox.
public struct NewMail: Sendable, Equatable {
  public var id: MailID
  /// The e-mail, sealed with the gateway's keys, because it contains links.
  public var sealed: String
  /// The time after which the e-mail is not sent any more.
  public var expires: UnixTime

  public init(id: MailID, sealed: String, expires: UnixTime) {
    self.id = id
    self.sealed = sealed
    self.expires = expires
  }
}

/// An e-mail that was taken from the outbox for sending.
public struct TakenMail: Sendable, Equatable {
  public var id: MailID
  public var sealed: String
  public var expires: UnixTime
  /// The number of attempts, including this one.
  public var attempts: Int64

  public init(id: MailID, sealed: String, expires: UnixTime, attempts: Int64) {
    self.id = id
    self.sealed = sealed
    self.expires = expires
    self.attempts = attempts
  }
}

public protocol RegistrationStore: AnyObject, Sendable {
  /// Stores a link and puts its e-mail into the outbox, atomically. Older links of the same purpose and address are deleted.
  /// - Parameters:
  ///   - link: nil to queue only the e-mail.
  ///   - mail: nil to store only the link.
  ///   - replacingOlder: false to keep older links.
  func keep(
    _ link: NewMailLink?, mail: NewMail?, replacingOlder: Bool, at now: UnixTime
  ) throws(StoreFailure)

  /// Reads the state of a link, and changes nothing.
  func link(
    tokenHash: [UInt8], purpose: NewMailLink.Purpose, at now: UnixTime
  ) throws(StoreFailure) -> LinkState

  /// Spends a link for a sign-in, atomically: of several concurrent calls only one returns `.signedIn`.
  func spend(
    tokenHash: [UInt8], purpose: NewMailLink.Purpose, owner: LinkOwner, creating credential: NewCredential,
    at now: UnixTime
  ) throws(StoreFailure) -> LinkSpending

  /// Spends a link without a sign-in in this gateway.
  /// - Returns: whether the link was live.
  func spendLink(
    tokenHash: [UInt8], purpose: NewMailLink.Purpose, at now: UnixTime
  ) throws(StoreFailure) -> Bool

  /// - Parameter key: ``EmailAddress/key``.
  func person(emailKey key: String) throws(StoreFailure) -> StoredPerson?
  func person(id: PersonID) throws(StoreFailure) -> StoredPerson?

  /// Replaces a password, and ends the access that the old password gave: the sessions of the person's account (except
  /// the session with the given token), unredeemed codes of apps, and unused links of e-mails.
  /// - Returns: whether the person exists.
  func setPassword(
    _ password: String, ofPerson id: PersonID, exceptTokenHash: [UInt8]?, at now: UnixTime
  ) throws(StoreFailure) -> Bool

  /// Whether this is the current hash of the person's password. The call waits for a concurrent change.
  func isCurrent(_ password: String, ofPerson id: PersonID) throws(StoreFailure) -> Bool

  /// Takes e-mails that are due: no other caller gets them within `leaseSeconds`.
  func takeMails(_ most: Int, leaseSeconds: Int64, at now: UnixTime) throws(StoreFailure) -> [TakenMail]

  /// Removes an e-mail that was sent, or will not be sent.
  func removeMail(_ id: MailID) throws(StoreFailure)

  /// Sets the time of the next try to send an e-mail.
  func putOffMail(_ id: MailID, until due: UnixTime) throws(StoreFailure)

  /// The number of e-mails in the outbox.
  func waitingMails() throws(StoreFailure) -> Int
}

extension RegistrationStore {
  public func keep(_ link: NewMailLink?, mail: NewMail, at now: UnixTime) throws(StoreFailure) {
    try keep(link, mail: mail, replacingOlder: true, at: now)
  }
}
