// Tests of reading JSON: first with whole test suites, then with each limit of R37.

import EnrollJSON
import Expectations
import TestVectors
import Testing

private func parse(_ text: String) throws -> JSON { try JSON.parse(Array(text.utf8)) }

private func message(_ bytes: [UInt8]) -> String? {
  do throws(JSONError) {
    _ = try JSON.parse(bytes)
    return nil
  } catch {
    return error.message
  }
}

private func message(_ text: String) -> String? { message(Array(text.utf8)) }

@Suite struct JSONReaderTests {
  @Test("the published vectors are at hand, too", Vectors.needPublished)
  func published() { expect(Vectors.atHand, is: Vectors.allCases) }

  /// Texts that RFC 8259 allows but this reader refuses, each with the reason.
  static let refusedThoughValid = [
    "y_object_duplicated_key.json": "duplicate object key",
    "y_object_duplicated_key_and_value.json": "duplicate object key",
    "y_object_escaped_null_in_key.json": "NUL in a string",
    "y_string_null_escape.json": "NUL in a string",
  ]
  /// Texts that RFC 8259 lets a parser accept or refuse (i_), and that this reader accepts: it clamps absurd
  /// numbers (R32).
  static let acceptedThoughFree: Set = [
    "i_number_double_huge_neg_exp.json", "i_number_huge_exp.json", "i_number_neg_int_huge_exp.json",
    "i_number_pos_double_huge_exp.json", "i_number_real_neg_overflow.json", "i_number_real_pos_overflow.json",
    "i_number_real_underflow.json", "i_number_too_big_neg_int.json", "i_number_too_big_pos_int.json",
    "i_number_very_big_negative_int.json",
  ]

  @Test("JSONTestSuite is read as RFC 8259 and R37 say", arguments: Vectors.atHand)
  func jsonTestSuite(vectors: Vectors) throws {
    let names = try vectors.names("jsontestsuite").filter { $0.hasSuffix(".json") }
    #expect(names.count >= vectors.least(own: 55, published: 180))
    for name in names {
      let refusal = message(try vectors.bytes("jsontestsuite/" + name))
      let expected =
        switch name.first {
        case "y": Self.refusedThoughValid[name] == nil
        case "i": Self.acceptedThoughFree.contains(name)
        default: false
        }
      expect((refusal == nil), is: expected, "\(name): \(refusal ?? "accepted")")
      if let reason = Self.refusedThoughValid[name] { expect(refusal, is: reason, "\(name)") }
    }
  }

  @Test("UTF-8 in a string is accepted if and only if it is valid (R37)", arguments: Vectors.atHand)
  func utf8(vectors: Vectors) throws {
    guard case .array(let cases) = try JSON.parse(vectors.bytes("utf8tests/utf8tests.json")) else {
      Issue.record("the vectors are not an array")
      return
    }
    #expect(cases.count >= vectors.least(own: 30, published: 100))
    for test in cases {
      let bytes = Vectors.bytes(hex: test["hex"]?.string ?? "")
      // JSON requires that these bytes are escaped in a string, although they are valid UTF-8.
      if bytes.contains(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C }) { continue }
      let refusal = message([0x22] + bytes + [0x22])
      expect((refusal == nil), is: test["valid"]?.bool, "\(test["id"]?.string ?? "")")
      if refusal == nil {
        try expect(JSON.parse([0x22] + bytes + [0x22]), is: .string(String(decoding: bytes, as: UTF8.self)))
      }
    }
  }

  @Test("an invalid byte outside a string is refused (R37)")
  func invalidByteOutsideString() {
    expect(message([0xFF]), isNot: nil)
    expect(message([0x5B, 0x31, 0xC3, 0x28, 0x5D]), isNot: nil)
  }

  @Test("64 levels are read, 65 are refused (R37)")
  func depth() throws {
    func nested(_ levels: Int, _ open: String, _ close: String) -> String {
      String(repeating: open, count: levels) + "1" + String(repeating: close, count: levels)
    }
    expect(message(nested(64, "[", "]")), is: nil)
    expect(message(nested(65, "[", "]")), is: "nested too deeply")
    expect(message(nested(64, "{\"a\":", "}")), is: nil)
    expect(message(nested(65, "{\"a\":", "}")), is: "nested too deeply")
    expect(message(String(repeating: "[", count: 1_000_000)), is: "nested too deeply")
    expect(message(String(repeating: "[{\"a\":", count: 100_000)), is: "nested too deeply")
    // Arrays beside each other are not nested, and brackets in strings are only text, so neither counts toward the
    // limit.
    expect(message("[" + String(repeating: "[],", count: 100) + "[]]"), is: nil)
    expect(message("\"" + String(repeating: "[", count: 100) + "\""), is: nil)
    expect(message("[\"\\\"[\\\\\"," + "\"" + String(repeating: "{\\\"", count: 100) + "\"]"), is: nil)
  }

  @Test("duplicate keys are refused, however they are spelt (R37)")
  func duplicateKeys() {
    expect(message(#"{"a":1,"a":1}"#), is: "duplicate object key")
    expect(message(#"{"a":1,"\u0061":2}"#), is: "duplicate object key")
    expect(message(#"[{"b":{"a":1,"c":0,"a":1}}]"#), is: "duplicate object key")
    expect(message(#"{"a":{"a":1}}"#), is: nil)
  }

  @Test("keys that only look alike are different keys")
  func keysAreBytes() throws {
    // The two ways to write é (one character, or e with a combining accent) are equal for String, but not for JSON.
    let value = try parse("{\"\u{E9}\":1,\"e\u{301}\":2}")
    expect(value["\u{E9}"], is: .integer(1))
    expect(value["e\u{301}"], is: .integer(2))
  }

  @Test("NUL and lone surrogates are refused (R37)")
  func strings() throws {
    expect(message(#""\u0000""#), is: "NUL in a string")
    expect(message(#"{"a\u0000b":1}"#), is: "NUL in a string")
    expect(message([0x22, 0x00, 0x22]), isNot: nil)
    expect(message(#""\uD800""#), isNot: nil)
    expect(message(#""\uDC00""#), isNot: nil)
    expect(message(#""\uD800\uD800""#), isNot: nil)
    expect(message(#""\uDC00\uD800""#), isNot: nil)
    expect(message(#""\uD83Dx""#), isNot: nil)
    try expect(parse(#""\uD83D\uDE00""#), is: .string("😀"))
  }

  @Test("the whole text is one value")
  func wholeText() throws {
    expect(message(""), is: "the text ends too early")
    expect(message(" \n"), is: "the text ends too early")
    expect(message("{} {}"), is: "more follows after the value")
    expect(message("1 x"), isNot: nil)
    expect(message([0x31, 0x00]), isNot: nil)
    expect(message("\u{FEFF}{}"), isNot: nil)
    try expect(parse(" \t\r\n1\n"), is: .integer(1))
  }

  @Test("members keep their order")
  func order() throws {
    let keys = (0..<200).map { "k\(($0 * 7919) % 200)" }
    let text = "{" + keys.map { "\"\($0)\":0" }.joined(separator: ",") + "}"
    try expect(parse(text).object?.members.map(\.key), is: keys)
  }

  @Test("an error says where, and never quotes the text")
  func errors() {
    do throws(JSONError) {
      _ = try JSON.parse(Array(#"{"token": hunter2}"#.utf8))
      Issue.record("accepted")
    } catch {
      #expect(!error.message.contains("hunter2"))
      #expect((10...17).contains(error.offset))
    }
  }

  @Test("an object of a hundred thousand members is read in linear time")
  func manyMembers() throws {
    let text = "{" + (0..<100_000).map { "\"key\($0)\":\($0)" }.joined(separator: ",") + "}"
    try expect(parse(text).object?.members.count, is: 100_000)
  }
}
