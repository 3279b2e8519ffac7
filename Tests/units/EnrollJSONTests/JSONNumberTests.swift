// Numbers: exact if they fit, clamped if they do not (R32), refused if they are malformed.

import EnrollJSON
import Expectations
import Testing

@Suite struct JSONNumberTests {
  static let greatest = Double.greatestFiniteMagnitude

  @Test(
    "a number keeps its kind, and an absurd one never loses the document (R32)",
    arguments: [
      ("0", JSON.integer(0)), ("-0", .integer(0)), ("-1", .integer(-1)), ("3600", .integer(3600)),
      ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
      ("9223372036854775808", .number(9223372036854775808)),
      ("-9223372036854775809", .number(-9223372036854775808)),
      ("99999999999999999999", .number(1e20)), ("-99999999999999999999", .number(-1e20)),
      ("0.5", .number(0.5)), ("1.0", .number(1)), ("1e3", .number(1000)), ("1E+3", .number(1000)),
      ("25e-1", .number(2.5)), ("-0.0", .number(-0.0)), ("1700000000.123", .number(1700000000.123)),
      ("1e308", .number(1e308)), ("1.7976931348623157e308", .number(greatest)),
      ("1.7976931348623158e308", .number(greatest)),
      ("1.79769313486231570814527423731704356798071e308", .number(greatest)),
      ("1.797693134862315999999999999999999999999999e+308", .number(greatest)),
      ("1.8e308", .number(greatest)), ("-1.8e308", .number(-greatest)), ("1e309", .number(greatest)),
      ("-1e400", .number(-greatest)), ("1e99999999999999999999999999", .number(greatest)),
      ("0e99999999999999999999999999", .number(0)), ("1e-99999999999999999999999999", .number(0)),
      ("0.0000000001e318", .number(1e308)), ("0.0000000001e319", .number(greatest)),
      ("1e-400", .number(0)),
    ])
  func read(text: String, value: JSON) throws {
    for (before, after) in [
      ("", ""), ("[", "]"), ("[1,", " ,2]"), ("{\"a\":", "}"), ("{\"a\":", ",\"b\":\"1e999\"}"),
    ] {
      let whole = try JSON.parse(Array((before + text + after).utf8))
      let found = whole.array.map { $0.count == 1 ? $0[0] : $0[1] } ?? whole["a"] ?? whole
      expect(found, is: value, "\(before)\(text)\(after)")
    }
  }

  @Test("an integer of many digits is clamped, wherever the digits are")
  func longNumbers() throws {
    let ones = String(repeating: "1", count: 100_000)
    let zeros = String(repeating: "0", count: 400)
    try expect(JSON.parse(Array(ones.utf8)), is: .number(Self.greatest))
    try expect(JSON.parse(Array("-\(ones)".utf8)), is: .number(-Self.greatest))
    try expect(JSON.parse(Array("\(ones)e-99999".utf8)), is: .number(1.1111111111111112))
    try expect(JSON.parse(Array("0.\(zeros)1e401".utf8)), is: .number(1))
    try expect(JSON.parse(Array("0.\(ones)".utf8)), is: .number(0.1111111111111111))
    try expect(
      JSON.parse(Array("[9e999,99999999999999999999,7]".utf8)),
      is: .array([.number(Self.greatest), .number(1e20), .integer(7)]))
  }

  @Test(
    "taming never makes a bad number good",
    arguments: [
      "01", "-", "+1", "1.", ".5", "1e", "1e+", "--1", "1e999.5", "1e999e1", "99999999999999999999.", "0x10",
      "99999999999999999999e", "099999999999999999999", "-01e999", "99999999999999999999x", "1e999x",
      "1e9991e",
      "NaN", "Infinity", "-Infinity", "99999999999999999999 9", "1e999 1", "1e999-1",
    ])
  func refused(text: String) {
    for whole in [text, "[\(text)]", "{\"a\":\(text)}"] {
      #expect(throws: JSONError.self) { try JSON.parse(Array(whole.utf8)) }
    }
  }

  @Test("digits in strings are text")
  func digitsInStrings() throws {
    let text = #"["1e999","\"1e999","99999999999999999999\\",1e999]"#
    try expect(
      JSON.parse(Array(text.utf8)),
      is: .array([
        .string("1e999"), .string("\"1e999"), .string("99999999999999999999\\"), .number(Self.greatest),
      ]))
  }
}
