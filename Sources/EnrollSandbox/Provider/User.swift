// The users who can sign in. Their passwords are documented and not secret.

import EnrollJSON
import Foundation

/// A user of the sandbox.
public struct User: Sendable, Equatable {
  /// The user name, which is also the `preferred_username`.
  public var name: String
  public var givenName: String
  public var familyName: String
  public var email: String
  public var emailVerified: Bool
  public var password: String

  /// - Parameter password: the user's password; nil for `NAME-password`.
  public init(
    _ name: String, givenName: String? = nil, familyName: String = "Example", email: String? = nil,
    emailVerified: Bool = true, password: String? = nil
  ) {
    self.name = name
    self.givenName = givenName ?? name.prefix(1).uppercased() + name.dropFirst()
    self.familyName = familyName
    self.email = email ?? "\(name)@example.com"
    self.emailVerified = emailVerified
    self.password = password ?? "\(name)-password"
  }

  public static let alice = User("alice")
  /// A user whose e-mail address is not verified, to test flows that require a verified address.
  public static let bob = User("bob", familyName: "Builder", emailVerified: false)

  public var fullName: String { familyName.isEmpty ? givenName : "\(givenName) \(familyName)" }
  /// The `sub` claim. It differs from the name, so that no code relies on the two being equal.
  public var subject: String { "user-\(name)" }

  /// The second factor of every user.
  static let confirmationCode = "246810"

  /// The claims of OpenID Connect Core §5.4 for these scopes.
  func claims(for scopes: [String]) -> [(String, JSON?)] {
    var claims: [(String, JSON?)] = []
    if scopes.contains("profile") {
      claims += [
        ("name", .string(fullName)), ("given_name", .string(givenName)),
        ("family_name", familyName.isEmpty ? nil : .string(familyName)),
        ("preferred_username", .string(name)),
      ]
    }
    if scopes.contains("email") {
      claims += [("email", .string(email)), ("email_verified", .bool(emailVerified))]
    }
    return claims
  }
}

/// The checked input of the page that creates an account.
struct NewAccount {
  struct Problem: Equatable {
    /// The name of the form's field.
    var field: String
    /// The field's label on the page, in lower case.
    var label: String
    var text: String
  }

  static func isEmail(_ text: String) -> Bool {
    let sides = text.split(separator: "@", omittingEmptySubsequences: false)
    return sides.count == 2 && !sides.contains(where: \.isEmpty) && text.count <= 100
      && text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
  }

  /// Checks the form. Returns the user, or the problems that the user has to correct.
  static func check(_ form: Form, taken: (String) -> Bool) -> (user: User?, problems: [Problem]) {
    var problems: [Problem] = []
    let name = form["username"] ?? ""
    let letters = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyz0123456789-")
    if name.isEmpty || name.utf8.count > 32 || name.unicodeScalars.contains(where: { !letters.contains($0) })
    {
      problems.append(
        Problem(
          field: "username", label: "user name", text: "use 1 to 32 small letters, digits and hyphens."))
    } else if taken(name) {
      problems.append(Problem(field: "username", label: "user name", text: "somebody has that name already."))
    }
    let full = (form["name"] ?? "").split(separator: " ")
    if full.isEmpty || full.joined(separator: " ").count > 100 {
      problems.append(Problem(field: "name", label: "full name", text: "1 to 100 characters."))
    }
    let email = form["email"] ?? ""
    if !isEmail(email) {
      problems.append(
        Problem(field: "email", label: "e-mail address", text: "an address such as name@example.com."))
    }
    let password = form["password"] ?? ""
    if password.count < 8 || password.count > 100 {
      problems.append(Problem(field: "password", label: "password", text: "8 to 100 characters."))
    }
    guard problems.isEmpty, let first = full.first else { return (nil, problems) }
    let user = User(
      name, givenName: String(first), familyName: full.dropFirst().joined(separator: " "), email: email,
      emailVerified: false, password: password)
    return (user, [])
  }
}
