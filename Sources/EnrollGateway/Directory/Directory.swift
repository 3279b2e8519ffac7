// The directory of users who register by e-mail: the gateway's own tables, a SCIM directory, or Okta. The
// gateway verifies the address and keeps sessions; the directory keeps users and passwords. Calls block, and
// every call may be repeated. After a failure the outcome of a call is unknown, unless the failure says
// otherwise.

public import EnrollCrypto

/// A user of a directory.
public struct DirectoryPerson: Sendable, Equatable {
  public enum State: String, Sendable {
    /// The user was created, and never activated.
    case staged
    case active
    /// Locked after too many wrong passwords, until the lock expires or an administrator removes it.
    case locked
    /// Suspended by an administrator: the user cannot sign in.
    case suspended
  }

  /// The directory's id of the user, 1 to 255 bytes. The subject of the gateway's identity is always this id, never the
  /// address.
  public var id: String
  /// The address in the directory. Mail goes to this address, not to the address that the user typed.
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

/// The result of checking a password.
public enum PasswordCheck: Sendable, Equatable {
  /// `session` is a token that the directory's own sign-in accepts in exchange for a session (Okta's `sessionToken`);
  /// nil if the directory gives no such token.
  case accepted(DirectoryPerson, session: Secret? = nil)
  /// The password is wrong, the user does not exist, or the user has no password. The answer and its duration are the
  /// same in all three cases.
  case rejected
  case locked
  /// The password is right, but the directory requires a new password.
  case expired
  /// The password is right, but the directory requires a further step that these pages do not have, such as a second factor.
  case incomplete
}

/// Why a call of a directory failed.
public enum DirectoryFailure: Error, Sendable, Equatable {
  /// The directory cannot be reached, answers 5xx, or is too busy. A later attempt may succeed.
  case unavailable(String)
  /// The directory refuses the gateway's credentials, or they lack the right for this call.
  case refused(String)
  /// The directory refuses the new password. The user learns only that; the text is for the log.
  case invalidPassword(String)
  /// No user has this id.
  case unknownPerson
  /// The directory does not have this operation: SCIM checks no passwords, for example.
  case unsupported(String)
  /// The directory's answer is invalid, or this program has a defect.
  case fault(String)
  /// The gateway's own store failed.
  case store(StoreFailure)

  /// A message for the log, without secrets.
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

/// Users and their passwords. Any thread may call at any time.
public protocol Directory: AnyObject, Sendable {
  /// The directory's name in the log and in the subjects of its identities, so that two directories never share a
  /// subject: `scim`, `okta`.
  var name: String { get }
  /// Whether ``check(_:of:)`` works. If not, users of this directory sign in with a mailed link.
  var checksPasswords: Bool { get }

  /// The user with an address, compared by ``EmailAddress/key``; nil if no user has the address.
  func person(with email: EmailAddress) throws(DirectoryFailure) -> DirectoryPerson?

  /// Creates a user in the state `staged`, or returns the existing user, so that repeated or concurrent calls create
  /// only one user for an address.
  func create(_ email: EmailAddress, name: String?) throws(DirectoryFailure) -> DirectoryPerson

  /// Activates a user. Does nothing if the user is active already.
  func activate(_ id: String) throws(DirectoryFailure)

  /// - Parameter password: 1 to 1,024 bytes of UTF-8, which satisfy the gateway's own rules.
  func setPassword(_ password: Secret, of id: String) throws(DirectoryFailure)

  /// Checks a password. A check for an address that no user has takes the same time.
  func check(_ password: Secret, of email: EmailAddress) throws(DirectoryFailure) -> PasswordCheck

  /// The user's state. The gateway asks for the state before a mailed link signs the user in.
  func state(of id: String) throws(DirectoryFailure) -> DirectoryPerson.State

  /// Checks that the directory answers and accepts the gateway's credentials, for `enroll-gateway check`.
  func probe() throws(DirectoryFailure)
}

extension Directory {
  public func probe() throws(DirectoryFailure) {}
}
