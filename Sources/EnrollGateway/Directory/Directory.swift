// Where people who register by e-mail are kept: the gateway's own tables, a SCIM directory, Okta. The gateway proves the address and
// holds sessions; the directory holds persons and passwords. Calls block, and each may be repeated: after a failure
// nobody knows whether it happened, unless the failure says so.

public import EnrollCrypto

/// A person of a directory.
public struct DirectoryPerson: Sendable, Equatable {
  public enum State: String, Sendable {
    /// Made, and never activated.
    case staged
    case active
    /// After too many wrong passwords; ends by itself, or by an administrator.
    case locked
    /// By an administrator. Nobody signs in.
    case suspended
  }

  /// The directory's own name for the person, 1 to 255 bytes. The gateway keys its identity by it, never by the address.
  public var id: String
  /// As the directory has it: mail goes there, not to what somebody typed.
  public var email: String
  public var name: String?
  public var state: State
  public var hasPassword: Bool

  public init(id: String, email: String, name: String? = nil, state: State, hasPassword: Bool = false) {
    self.id = id
    self.email = email
    self.name = name
    self.state = state
    self.hasPassword = hasPassword
  }
}

/// The result of a password.
public enum PasswordCheck: Sendable, Equatable {
  /// `session` is what the directory's own sign-in pages take for a session (Okta's `sessionToken`); nil where it has none.
  case right(DirectoryPerson, session: Secret? = nil)
  /// Or there is no such person, or the person has no password: the answer is the same, and so is the time.
  case wrong
  case locked
  /// Right, but the directory wants a new one.
  case expired
  /// Right, but the directory wants a further step that these pages do not have: a second factor, an enrolment.
  case incomplete
}

/// Why a directory did not do what it was asked.
public enum DirectoryFailure: Error, Sendable, Equatable {
  /// It cannot be reached, answers 5xx, or has no time. Trying later helps.
  case unavailable(String)
  /// It refuses the gateway: its credentials, or its rights.
  case refused(String)
  /// It refuses this value; people may be told that their password is not taken, and nothing else of the text.
  case invalidPassword(String)
  /// No person has this id.
  case unknownPerson
  /// It has no such operation: SCIM checks no passwords.
  case unsupported(String)
  /// Its answer makes no sense, or this program is at fault.
  case fault(String)
  /// Of the gateway's own store.
  case store(StoreFailure)

  /// For the log; without secrets.
  public var message: String {
    switch self {
    case .unavailable(let text), .refused(let text), .invalidPassword(let text), .unsupported(let text),
      .fault(let text):
      text
    case .unknownPerson: "the directory does not know the person"
    case .store(let failure): failure.message
    }
  }
}

/// People and their passwords. Any thread may call at any time.
public protocol Directory: AnyObject, Sendable {
  /// Stands in the log and in the subjects of its identities, so that two directories never share one: `scim`, `okta`.
  var name: String { get }
  /// Whether ``check(_:of:)`` works: without it people of this directory sign in by a mailed link.
  var checksPasswords: Bool { get }

  /// The person of an address; nil for none. Compared by ``EmailAddress/key``.
  func person(with email: EmailAddress) throws(DirectoryFailure) -> DirectoryPerson?

  /// Makes a person who is staged, or finds the one that is there: repeated or at once, one address has one person.
  func create(_ email: EmailAddress, name: String?) throws(DirectoryFailure) -> DirectoryPerson

  /// Of one who is active already: nothing to do.
  func activate(_ id: String) throws(DirectoryFailure)

  /// - Parameter password: 1 to 1,024 bytes of UTF-8; the gateway has checked its own rules.
  func setPassword(_ password: Secret, of id: String) throws(DirectoryFailure)

  /// Costs the same for an address that nobody has.
  func check(_ password: Secret, of email: EmailAddress) throws(DirectoryFailure) -> PasswordCheck

  /// Whether the person may sign in now; asked before a mailed link signs somebody in.
  func state(of id: String) throws(DirectoryFailure) -> DirectoryPerson.State

  /// Whether the directory answers, and takes the gateway's credentials: for `enroll-gateway check`.
  func probe() throws(DirectoryFailure)
}

extension Directory {
  public func probe() throws(DirectoryFailure) {}
}
