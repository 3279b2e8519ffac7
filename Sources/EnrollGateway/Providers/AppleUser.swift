// The field `user` of Apple's first answer: the only place where Apple ever sends a name. It passes through
// the browser unsigned, so it is used only as a name on pages; only the id_token says who signed in, and with
// which address.

import EnrollJSON

enum AppleUser {
  /// The limit of the field in bytes; a longer field is ignored.
  static let byteLimit = 2_048

  /// The first and the last name; nil for a malformed field, which does not fail the sign-in.
  static func name(in field: String?) -> String? {
    guard let field, field.utf8.count <= byteLimit, let json = try? JSON.parse(Array(field.utf8)) else {
      return nil
    }
    let parts = ["firstName", "lastName"].compactMap { PersonalText.shown(json["name"]?[$0]?.string) }
    return PersonalText.shown(parts.joined(separator: " "))
  }
}
