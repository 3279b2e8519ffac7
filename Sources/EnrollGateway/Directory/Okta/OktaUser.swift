// A user as Okta's Users API describes one, and the names of its states.

import EnrollCore
import EnrollJSON

struct OktaUser: Equatable {
  var id: String
  /// nil where the API does not tell it: sign-in answers do not.
  var state: DirectoryPerson.State?
  var login: String
  var email: String?
  var name: String?
  var hasPassword: Bool

  /// nil for what is no user.
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

  /// nil for a state that Okta did not have.
  static func state(_ status: String) -> DirectoryPerson.State? {
    switch status {
    // PROVISIONED: activated by the API, and without a password yet.
    case "STAGED", "PROVISIONED": .staged
    case "ACTIVE", "RECOVERY", "PASSWORD_EXPIRED": .active
    case "LOCKED_OUT": .locked
    case "SUSPENDED", "DEPROVISIONED": .suspended
    default: nil
    }
  }

  /// Okta finds people by the beginning of their login, too: `ada` for `ada@example.org`.
  func has(_ address: EmailAddress) -> Bool {
    ASCII.equalsIgnoringCase(login, address.key)
      || email.map { ASCII.equalsIgnoringCase($0, address.key) } ?? false
  }

  /// - Throws: `.fault` for a state that the gateway does not know.
  func person() throws(DirectoryFailure) -> DirectoryPerson {
    guard let state else { throw .fault("the directory names a state that the gateway does not know") }
    return DirectoryPerson(
      id: id, email: email ?? login, name: name, state: state, hasPassword: hasPassword)
  }
}
