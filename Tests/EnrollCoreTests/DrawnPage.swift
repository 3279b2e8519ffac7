// Pages of the documentation that are drawn from tables in the code.

import Expectations
import Foundation
import Testing

enum DrawnPage {
  private static let docs = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("docs")

  /// Compares the page with what it should be; ENROLL_WRITE_DOCS=1 writes it anew.
  static func check(_ name: String, _ text: String) throws {
    let page = docs.appendingPathComponent(name)
    if ProcessInfo.processInfo.environment["ENROLL_WRITE_DOCS"] == "1" {
      try text.write(to: page, atomically: true, encoding: .utf8)
    }
    try expect(
      String(contentsOf: page, encoding: .utf8), is: text,
      "run with ENROLL_WRITE_DOCS=1 and look at the difference")
  }

  /// Compares what stands in the page between `<!-- part -->` and `<!-- end of part -->`; ENROLL_WRITE_DOCS=1 writes it anew.
  static func checkPart(_ name: String, _ part: String, _ text: String) throws {
    let page = try String(contentsOf: docs.appendingPathComponent(name), encoding: .utf8)
    let start = try #require(page.range(of: "<!-- \(part) -->\n"))
    let end = try #require(
      page.range(of: "\n<!-- end of \(part) -->", range: start.upperBound..<page.endIndex))
    try check(name, page.replacingCharacters(in: start.upperBound..<end.lowerBound, with: text))
  }
}
