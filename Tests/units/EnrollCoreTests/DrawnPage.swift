// Pages of the documentation that are generated from tables in the code.

import Expectations
import Foundation
import Testing

enum DrawnPage {
  private static let docs = Repository.top.appendingPathComponent("docs")

  /// Compares the page with the expected text; ENROLL_WRITE_DOCS=1 writes the page.
  static func check(_ name: String, _ text: String) throws {
    let page = docs.appendingPathComponent(name)
    if ProcessInfo.processInfo.environment["ENROLL_WRITE_DOCS"] == "1" {
      try text.write(to: page, atomically: true, encoding: .utf8)
    }
    try expect(
      String(contentsOf: page, encoding: .utf8), is: text,
      "run with ENROLL_WRITE_DOCS=1 and look at the difference")
  }

  /// Compares the text between `<!-- part -->` and `<!-- end of part -->`; ENROLL_WRITE_DOCS=1 writes the text into the
  /// page.
  static func checkPart(_ name: String, _ part: String, _ text: String) throws {
    let page = try String(contentsOf: docs.appendingPathComponent(name), encoding: .utf8)
    let start = try #require(page.range(of: "<!-- \(part) -->\n"))
    let end = try #require(
      page.range(of: "\n<!-- end of \(part) -->", range: start.upperBound..<page.endIndex))
    try check(name, page.replacingCharacters(in: start.upperBound..<end.lowerBound, with: text))
  }
}
