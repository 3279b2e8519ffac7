// A user in a SCIM directory (RFC 7643 §4.1). Members of a wrong type count as absent; a resource without an id is refused.

import EnrollRules
import EnrollJSON

/// A user resource.
struct SCIMUser: Equatable {
  /// 1 to 255 bytes.
  var id: String
  var userName: String?
  var emails: [String]
  var name: String?
  /// Whether the user is active. True if the attribute is absent, because directories may leave it out.
  var isActive: Bool
  /// True if the user was never changed: creation and last change have the same time (RFC 7643 §3.1), or differ by one second.
  var isUntouched: Bool
  /// The version from `meta.version`, for conditional requests (RFC 7644 §3.14).
  var version: String?

  static let schema = "urn:ietf:params:scim:schemas:core:2.0:User"

  /// Reads a user from JSON; nil if the JSON is not a user.
  init?(_ json: JSON) {
    guard let id = json["id"]?.string, (1...255).contains(id.utf8.count) else { return nil }
    self.id = id
    userName = json["userName"]?.string
    let listed = json["emails"]?.array ?? []
    // The primary address comes first. Some directories list the addresses as plain strings, not as objects.
    let sorted = listed.filter { $0["primary"]?.bool == true } + listed.filter { $0["primary"]?.bool != true }
    emails = sorted.compactMap { $0["value"]?.string ?? $0.string }
    name = PersonalText.shown(json["displayName"]?.string ?? json["name"]?["formatted"]?.string)
    isActive = Self.isTrue(json["active"])
    let meta = json["meta"]
    isUntouched = Self.isUntouched(created: meta?["created"]?.string, modified: meta?["lastModified"]?.string)
    version = meta?["version"]?.string
  }

  private static func isUntouched(created: String?, modified: String?) -> Bool {
    guard let created, let modified else { return false }
    if ASCII.equals(created, modified) { return true }
    guard let made = SCIMTime.seconds(created), let changed = SCIMTime.seconds(modified) else { return false }
    return changed - made == 1
  }

  /// Some directories write the boolean as a string.
  private static func isTrue(_ value: JSON?) -> Bool {
    switch value {
    case .bool(let isTrue): isTrue
    case .string(let text): !ASCII.equalsIgnoringCase(text, "false")
    default: true
    }
  }

  /// Whether the user has this address as the user name, or among the e-mail addresses.
  func has(_ email: EmailAddress, in attribute: SCIMLookup) -> Bool {
    switch attribute {
    case .userName: userName.map { ASCII.equalsIgnoringCase($0, email.key) } ?? false
    case .emails: emails.contains { ASCII.equalsIgnoringCase($0, email.key) }
    }
  }

  /// The user as a person of the directory.
  /// - Parameter asked: the address by which the user was found.
  func person(asked: EmailAddress?) -> DirectoryPerson {
    // Uses the requested address in the directory's spelling; without a requested address, the user's first address.
    let own = (emails + [userName].compactMap { $0 }).first { text in
      asked.map { ASCII.equalsIgnoringCase(text, $0.key) } ?? true
    }
    return DirectoryPerson(
      id: id, email: own ?? asked?.text ?? "", name: name,
      state: isActive ? .active : isUntouched ? .staged : .suspended,
      // SCIM never returns passwords (RFC 7643 §4.1.1), so every active user counts as having a password.
      hasPassword: isActive)
  }

  /// The body that creates an inactive user. Directories refuse users without a name. If no name is given, the part of
  /// the address before the `@` is used until the user enters a name.
  static func creation(_ email: EmailAddress, name: String?) -> JSON {
    let local = email.text.utf8.prefix { $0 != 0x40 }
    let shown = name ?? String(decoding: local, as: UTF8.self)
    return .object([
      ("schemas", .array([.string(schema)])), ("userName", .string(email.key)),
      ("name", .object([("formatted", .string(shown)), ("familyName", .string(shown))])),
      ("emails", .array([.object([("value", .string(email.text))])])),
      ("active", .bool(false)),
    ])
  }

  /// The body that replaces one attribute (RFC 7644 §3.5.2.3).
  static func change(_ attribute: String, to value: JSON) -> JSON {
    .object([
      ("schemas", .array([.string("urn:ietf:params:scim:api:messages:2.0:PatchOp")])),
      (
        "Operations",
        .array([
          .object([("op", .string("replace")), ("path", .string(attribute)), ("value", value)])
        ])
      ),
    ])
  }
}

/// The attribute by which to look up a user.
public enum SCIMLookup: String, Sendable, CaseIterable {
  case userName
  case emails

  /// The filter (RFC 7644 §3.4.2.2). The filter contains the address as a JSON string, so no character of the address
  /// can end the string.
  func filter(_ email: EmailAddress) -> String {
    let value = String(decoding: JSON.string(email.key).serialized(), as: UTF8.self)
    return switch self {
    case .userName: "userName eq \(value)"
    case .emails: "emails.value eq \(value)"
    }
  }
}
