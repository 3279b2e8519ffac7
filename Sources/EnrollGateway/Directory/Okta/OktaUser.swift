// A user in Okta's Users API, and the names of user states.

import EnrollRules
import EnrollJSON

struct OktaUser: Equatable {
  var id: String
  /// The user's state; nil if the answer contains no state, as the answers to a sign-in do.
  var state: DirectoryPerson.State?
  var login: String
  var email: String?
  var name: String?
  var hasPassword: Bool

  /// Reads a user from JSON; nil if the JSON is not a user.
  init?(_ json: JSON) {
    let profile = json["profile"]
    guard let id = json["id"]?.string, (1...255).contains(id.utf8.count),
      let login = profile?["login"]?.string
    else { return nil }
    self.id = id
    self.login = login
    email = profile?["email"]?.string
    let names = [profile?["firstName"]?.string, profile?["lastName"]?.string].compactMap { $0 }
    name = PersonalText.shown(names.joined(separator: " "))
    state = json["status"]?.string.flatMap { Self.state($0) }
    hasPassword = json["credentials"]?["password"] != nil
  }

  /// The state that Okta calls `status`; nil for a name that is not known here.
  static func state(_ status: String) -> DirectoryPerson.State? {
    switch status {
    // A user in the state PROVISIONED was activated by the API, but still has no password.
    case "STAGED", "PROVISIONED": .staged
    case "ACTIVE", "RECOVERY", "PASSWORD_EXPIRED": .active
    case "LOCKED_OUT": .locked
    case "SUSPENDED", "DEPROVISIONED": .suspended
    default: nil
    }
  }

  /// Whether the user has this address. The whole address is compared, because Okta also finds users by the beginning
  /// of their login, such as `ada` for `ada@example.org`.
  func has(_ address: EmailAddress) -> Bool {
    ASCII.equalsIgnoringCase(login, address.key)
      || email.map { ASCII.equalsIgnoringCase($0, address.key) } ?? false
  }

  /// The user as a person of the directory.
  /// - Throws: `.fault` if the state is missing or unknown.
  func person() throws(DirectoryFailure) -> DirectoryPerson {
    guard let state else { throw .fault("the directory names a state that the gateway does not know") }
    return DirectoryPerson(
      id: id, email: email ?? login, name: name, state: state, hasPassword: hasPassword)
  }
}
