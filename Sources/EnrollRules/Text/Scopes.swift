// Lists of scopes (RFC 6749 §3.3).

public enum Scopes {
  public static let maximumCount = 64
  public static let maximumBytes = 256
  /// The scopes of OpenID Connect Core §5.4 and §11. Their names are public, so they need no redaction.
  static let standard = ["openid", "profile", "email", "address", "phone", "offline_access"]

  /// Splits a space-separated list; two spaces in a row leave an empty scope, which ``problem(in:)`` reports.
  public static func split(_ text: String) -> [String] {
    text.utf8.split(separator: 0x20, omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  public static func joined(_ scopes: [String]) -> String {
    var text = ""
    for scope in scopes {
      if !text.utf8.isEmpty { text += " " }
      text += scope
    }
    return text
  }

  public static func contains(_ scope: String, in scopes: [String]) -> Bool {
    scopes.contains { ASCII.equals($0, scope) }
  }

  package static func adding(_ scope: String, to scopes: [String]) -> [String] {
    contains(scope, in: scopes) ? scopes : scopes + [scope]
  }

  /// The scopes of the first list, then the scopes that only the second list has.
  package static func union(_ scopes: [String], _ more: [String]) -> [String] {
    more.reduce(scopes) { adding($1, to: $0) }
  }

  /// The fault of a list of scopes; nil if it is valid.
  public static func problem(in scopes: [String]) -> String? {
    guard scopes.count <= maximumCount else {
      return "expected at most \(maximumCount) scopes, got \(scopes.count)"
    }
    for (index, scope) in scopes.enumerated() {
      guard (1...maximumBytes).contains(scope.utf8.count), scope.utf8.allSatisfy(isScopeByte) else {
        return
          "scope \(index + 1) must be 1 to \(maximumBytes) printable characters without space, quote or backslash"
      }
      if contains(scope, in: Array(scopes[..<index])) { return "scope \(index + 1) is given twice" }
    }
    return nil
  }

  /// Whether the byte is allowed in a `scope-token` (RFC 6749 §3.3).
  private static func isScopeByte(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte < 0x7F && byte != 0x22 && byte != 0x5C
  }
}
