// The id of a request. Servers may write the id in another form than the host, such as 24.0 for 24, so ids are compared
// as JSON values.

import EnrollRules

/// The `id` of a request: a string or a number.
package struct MessageID: Equatable, Sendable {
  private enum Value: Equatable {
    /// A string, as UTF-8 without escapes.
    case text([UInt8])
    /// The number `digits` · 10^`exponent`, with no zero at the beginning or at the end of the digits.
    case number(isNegative: Bool, digits: [UInt8], exponent: Int)
    /// A value that has no other form.
    case bytes
  }

  private static let exponents = -1_000_000_000...1_000_000_000

  /// The id as its sender wrote it: a string with its quotation marks, or a number.
  package let bytes: [UInt8]
  private let value: Value

  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    value =
      if bytes.first == UInt8(ascii: "\"") {
        JSONCursor.decoded(bytes[...]).map { .text(Array($0.utf8)) } ?? .bytes
      } else {
        Self.number(bytes)
      }
  }

  package static func == (left: MessageID, right: MessageID) -> Bool {
    left.bytes == right.bytes || left.value == right.value && left.value != .bytes
  }

  private static func number(_ bytes: [UInt8]) -> Value {
    let isNegative = bytes.first == UInt8(ascii: "-")
    let unsigned = bytes.dropFirst(isNegative ? 1 : 0)
    let mantissa = unsigned.prefix { $0 != UInt8(ascii: "e") && $0 != UInt8(ascii: "E") }
    let written = unsigned.dropFirst(mantissa.count + 1)
    guard let power = written.isEmpty ? 0 : Int(String(decoding: written, as: UTF8.self)),
      exponents.contains(power)
    else { return .bytes }
    let fraction = mantissa.drop { $0 != UInt8(ascii: ".") }.dropFirst().count
    var digits = Array(mantissa.filter { ASCII.isDigit($0) }.drop { $0 == UInt8(ascii: "0") })
    var exponent = power - fraction
    while digits.last == UInt8(ascii: "0") {
      digits.removeLast()
      exponent += 1
    }
    guard !digits.isEmpty else { return .number(isNegative: false, digits: [], exponent: 0) }
    return .number(isNegative: isNegative, digits: digits, exponent: exponent)
  }
}
