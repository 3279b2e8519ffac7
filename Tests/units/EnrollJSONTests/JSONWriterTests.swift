// Tests of writing JSON: a reader gets back the values that were written.

import EnrollJSON
import Expectations
import TestVectors
import Testing

@Suite struct JSONWriterTests {
  private func text(_ value: JSON) -> String { String(decoding: value.serialized(), as: UTF8.self) }

  @Test("text is compact, members in their order")
  func compact() {
    let value = JSON.object([
      ("b", .array([.null, .bool(true), .bool(false), .integer(-7)])), ("absent", nil), ("a", .object([])),
      ("n", .number(0.1)), ("e", .array([])),
    ])
    expect(text(value), is: #"{"b":[null,true,false,-7],"a":{},"n":0.1,"e":[]}"#)
  }

  @Test("quotes, backslashes and control characters are escaped, nothing else")
  func escapes() {
    let all = String(String.UnicodeScalarView((1...0x7F).compactMap { UnicodeScalar($0) }))
    let written = text(.string(all + "é😀/\u{2028}"))
    #expect(written.hasPrefix(#""\u0001\u0002\u0003\u0004\u0005\u0006\u0007\u0008\t\n\u000b\u000c\r\u000e"#))
    #expect(written.contains(##"\u001f !\"#$%&'"##))
    #expect(written.contains(#"[\\]"#))
    #expect(written.hasSuffix("~\u{7F}é😀/\u{2028}\""))
    expect(text(.object([("a\"\n", .null)])), is: #"{"a\"\n":null}"#)
  }

  @Test("a written line holds no line feed, whatever is in it")
  func oneLine() {
    #expect(!JSON.object([("a\nb", .string("\r\n"))]).serialized().contains(10))
  }

  @Test(
    "a number is read back as it was written",
    arguments: [
      0.1, 1, -0.0, 1e16, 1e21, .leastNonzeroMagnitude, .leastNormalMagnitude, .greatestFiniteMagnitude,
      -.greatestFiniteMagnitude, 1700000000.123, 1 / 3,
    ])
  func doubles(value: Double) throws {
    try expect(JSON.parse(JSON.number(value).serialized()), is: .number(value))
  }

  @Test("what is not a number to JSON is written as null")
  func notFinite() {
    expect(text(.array([.number(.infinity), .number(-.infinity), .number(.nan)])), is: "[null,null,null]")
  }

  @Test("integers are exact at both ends")
  func integers() {
    expect(text(.array([.integer(.max), .integer(.min)])), is: "[9223372036854775807,-9223372036854775808]")
  }

  @Test("every naughty string survives a round trip byte by byte", arguments: Vectors.atHand)
  func naughtyStrings(vectors: Vectors) throws {
    guard case .array(let strings) = try JSON.parse(vectors.bytes("blns/blns.json")) else {
      Issue.record("the vectors are not an array")
      return
    }
    #expect(strings.count >= vectors.least(own: 40, published: 300))
    for string in strings {
      let text = try #require(string.string)
      let value = JSON.object([(text, .array([string]))])
      let back = try JSON.parse(value.serialized())
      expect(back[text]?.array?.first?.string.map { Array($0.utf8) }, is: Array(text.utf8))
    }
  }

  @Test("what JSONTestSuite accepts survives a round trip", arguments: Vectors.atHand)
  func suiteRoundTrip(vectors: Vectors) throws {
    for name in try vectors.names("jsontestsuite") where name.hasPrefix("y_") {
      guard let value = try? JSON.parse(vectors.bytes("jsontestsuite/" + name)) else { continue }
      try expect(JSON.parse(value.serialized()), is: value, "\(name)")
    }
  }
}
