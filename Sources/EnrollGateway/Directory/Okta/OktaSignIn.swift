// Okta's answer to a password in primary authentication: the state of a transaction. Only SUCCESS has a session token;
// every other state is a refusal, or asks for a step for which the gateway has no page.

import EnrollCrypto
import EnrollJSON

struct OktaSignIn {
  private let json: JSON?
  private let asked: EmailAddress

  init(_ json: JSON?, _ asked: EmailAddress) {
    self.json = json
    self.asked = asked
  }

  /// The result of the password check.
  /// - Throws: `.fault` for an unknown state, and for a success that has no token or names another user.
  func result() throws(DirectoryFailure) -> PasswordCheck {
    switch json?["status"]?.string {
    case "SUCCESS": return try success()
    case "LOCKED_OUT": return .locked
    case "PASSWORD_EXPIRED", "PASSWORD_RESET": return .expired
    case "PASSWORD_WARN", "MFA_ENROLL", "MFA_ENROLL_ACTIVATE", "MFA_REQUIRED", "MFA_CHALLENGE", "RECOVERY",
      "RECOVERY_CHALLENGE", "CONSENT_REQUIRED", "UNAUTHENTICATED":
      return .incomplete
    default: throw .fault("the directory answers a password with a state that the gateway does not know")
    }
  }

  private func success() throws(DirectoryFailure) -> PasswordCheck {
    guard let token = json?["sessionToken"]?.string, (1...512).contains(token.utf8.count),
      token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { throw .fault("the directory takes the password and gives no sessionToken") }
    guard let user = json?["_embedded"]?["user"].flatMap({ OktaUser($0) }), user.has(asked) else {
      throw .fault("the directory takes the password of another user than the one that was asked for")
    }
    return .accepted(
      DirectoryPerson(
        id: user.id, email: user.email ?? user.login, name: user.name, state: .active, hasPassword: true),
      session: Secret(token))
  }
}
