// Text from outside, on a terminal.

import EnrollRules
import EnrollJSON
import Testing

@testable import enroll

@Suite("What comes from elsewhere")
struct ShownTests {
  @Test(
    "nothing that a terminal would obey, and nothing that turns a line around",
    arguments: [
      ("Zoë 山田", "Zoë 山田"), ("a\u{1B}[2Jb", "a\u{FFFD}[2Jb"), ("a\r\nb", "a\u{FFFD}\u{FFFD}b"),
      ("a\u{9B}1mb", "a\u{FFFD}1mb"), ("a\u{202E}b", "a\u{FFFD}b"),
      ("a\u{2066}b\u{200B}", "a\u{FFFD}b\u{FFFD}"),
      ("a\u{7F}\u{0}", "a\u{FFFD}\u{FFFD}"),
    ])
  func text(given: String, shown: String) {
    #expect(Shown.text(given) == shown)
  }

  @Test("what is very long is cut")
  func long() {
    #expect(Shown.text(String(repeating: "x", count: 10_000)).count == 500)
  }

  @Test("an error text keeps the advice after the longest description of a provider")
  func message() {
    let text = String(repeating: "x", count: EnrollError.maximumDescriptionBytes) + ". Check redirectUri"
    #expect(Shown.message(text) == text)
    #expect(Shown.message(String(repeating: "x", count: 10_000)).count == 2000)
  }

  @Test(
    "people by their claims, the best that there is",
    arguments: [
      ([("name", "Alice"), ("email", "a@x.example")], "Alice <a@x.example>"),
      ([("preferred_username", "al"), ("sub", "1")], "al"), ([("email", "a@x.example")], "a@x.example"),
      ([("name", ""), ("sub", "1")], "user 1"), ([], "a user whom the provider does not name"),
    ] as [([(String, String)], String)])
  func person(claims: [(String, String)], expected: String) {
    #expect(Shown.person(JSONObject(claims.map { ($0.0, .string($0.1)) })) == expected)
  }

  @Test(
    "spans of time, roughly",
    arguments: [
      (-5, "0 s"), (119, "119 s"), (120, "2 min"), (7199, "119 min"), (7200, "2 h"), (172_800, "2 days"),
    ]
      as [(Int64, String)])
  func span(seconds: Int64, expected: String) {
    #expect(Shown.span(seconds: seconds) == expected)
  }
}
