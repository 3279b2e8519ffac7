// The field `user` of Apple's first answer: the only place in which Apple ever tells a name. It passes through the browser and
// nobody signed it, so it is a name for pages and nothing else: who signed in, and with which address, the id_token says.

import EnrollCore
import EnrollJSON

enum AppleUser {
  /// Bytes of the field that are looked at; a longer one tells nothing.
  static let byteLimit = 2_048

  /// The first and the last name; nil for a field that is malformed, which ends no sign-in.
  static func name(in field: String?) -> String? {
    guard let field, field.utf8.count <= byteLimit, let json = try? JSON.parse(Array(field.utf8)) else {
      return nil
    }
    let parts = ["firstName", "lastName"].compactMap { PersonalText.shown(json["name"]?[$0]?.string) }
    return PersonalText.shown(parts.joined(separator: " "))
  }
}
