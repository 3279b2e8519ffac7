// Makes texts from elsewhere safe to show on a terminal: a name from a provider must not move the cursor, change the
// title, or reverse the line.

import EnrollJSON

enum Shown {
  /// Longer texts are cut: nobody reads them, and they push the question off the screen.
  private static let limit = 500

  /// Every control and format character is replaced.
  static func text(_ text: String) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.prefix(limit) { shown.append(isPlain(scalar) ? scalar : "\u{FFFD}") }
    return String(shown)
  }

  /// JSON text in which every control and format character is escaped (RFC 8259 §7).
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
  static func person(_ profile: JSON?) -> String {
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

  /// The question whether the user is the one of the profile. Where the provider names nobody, a yes says little, and the
  /// question says so.
  static func question(_ profile: JSON?) -> String {
    func has(_ claim: String) -> Bool { !(profile?[claim]?.string ?? "").isEmpty }
    if ["name", "preferred_username", "given_name", "email"].contains(where: has) {
      return "Signed in as \(person(profile)). Continue?"
    }
    return has("sub")
      ? "Signed in as \(person(profile)), whose name the provider does not give. Continue?"
      : "Signed in; the provider does not say who the user is. Continue?"
  }

  /// A span of time, roughly.
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
