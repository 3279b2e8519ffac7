// Makes texts from outside safe to show on a terminal: a name from a provider must not move the cursor, change the
// title, or reverse the line.

import EnrollJSON

enum Shown {
  /// The limit of a text in characters. A longer text could push the question to the user off the screen.
  private static let limit = 500
  /// The limit of an error text, which may have advice after a provider's description
  /// (``EnrollError/maximumDescriptionBytes``).
  private static let messageLimit = 2000

  /// The text with U+FFFD in place of every control and format character.
  static func text(_ text: String) -> String { shown(text, limit) }

  /// An error text of EnrollKit, safe to print.
  static func message(_ text: String) -> String { shown(text, messageLimit) }

  private static func shown(_ text: String, _ limit: Int) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.prefix(limit) { shown.append(isPlain(scalar) ? scalar : "\u{FFFD}") }
    return String(shown)
  }

  /// JSON with every control and format character escaped (RFC 8259 §7).
  static func escaped(_ json: String) -> String {
    var shown = ""
    for scalar in json.unicodeScalars {
      if isPlain(scalar) {
        shown.unicodeScalars.append(scalar)
      } else {
        for unit in String(scalar).utf16 {
          let digits = String(unit, radix: 16)
          shown += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
      }
    }
    return shown
  }

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
    default: true
    }
  }

  /// A user's name and address, from the claims of OpenID Connect Core §5.1: `Alice Example <alice@example.com>`.
  static func person(_ profile: JSONObject?) -> String {
    func claim(_ name: String) -> String? {
      guard let text = profile?[name]?.string, !text.isEmpty else { return nil }
      return self.text(text)
    }
    let name = claim("name") ?? claim("preferred_username") ?? claim("given_name")
    switch (name, claim("email")) {
    case (let name?, let email?): return "\(name) <\(email)>"
    case (let name?, nil): return name
    case (nil, let email?): return email
    case (nil, nil): return claim("sub").map { "user \($0)" } ?? "a user whom the provider does not name"
    }
  }

  /// The question whether the profile is the user's. If the provider sends no name, the question says so, because
  /// without a name the user cannot recognize the account.
  static func question(_ profile: JSONObject) -> String {
    func has(_ claim: String) -> Bool { !(profile[claim]?.string ?? "").isEmpty }
    if ["name", "preferred_username", "given_name", "email"].contains(where: has) {
      return "Signed in as \(person(profile)). Continue?"
    }
    return has("sub")
      ? "Signed in as \(person(profile)), whose name the provider does not give. Continue?"
      : "Signed in; the provider does not say who the user is. Continue?"
  }

  /// A duration in words, rounded down.
  static func span(seconds: Int64) -> String {
    let seconds = max(0, seconds)
    switch seconds {
    case ..<120: return "\(seconds) s"
    case ..<7200: return "\(seconds / 60) min"
    case ..<172_800: return "\(seconds / 3600) h"
    default: return "\(seconds / 86_400) days"
    }
  }
}
