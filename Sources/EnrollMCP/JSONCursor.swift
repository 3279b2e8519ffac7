// Reads JSON directly in its bytes, without converting it to values: a bridge needs only a few members of a message,
// and passes the message on unchanged. Numbers keep their digits, and members keep their order.

import EnrollRules

/// A position in a JSON text (RFC 8259).
package struct JSONCursor {
  /// The deepest nesting that is read. Each object or array takes one byte of memory while it is open.
  package static let depthLimit = 1 << 20
  /// The longest name of a member that is decoded. A bridge never looks for a longer name.
  private static let longestName = 256

  private let bytes: [UInt8]
  package private(set) var index: Int

  /// - Parameter index: the position of the first byte to read.
  package init(_ bytes: [UInt8], at index: Int = 0) {
    self.bytes = bytes
    self.index = index
  }

  /// The next byte; nil at the end.
  package var next: UInt8? { index < bytes.count ? bytes[index] : nil }

  package mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
  }

  /// Reads the members of an object. A value of another type is skipped.
  /// - Returns: false if the text is not JSON.
  package mutating func members(_ member: (_ name: String, inout JSONCursor) -> Bool) -> Bool {
    skipSpace()
    return next == UInt8(ascii: "{") ? object(member) : value() != nil
  }

  /// Skips white space, and then `byte`.
  private mutating func skip(_ byte: UInt8) -> Bool {
    skipSpace()
    guard next == byte else { return false }
    index += 1
    return true
  }

  /// Skips white space, and then one value. Uses no recursion, because servers choose how deep the nesting is.
  /// - Returns: the range of the value; nil if there is no JSON value.
  package mutating func value() -> Range<Int>? {
    skipSpace()
    let start = index
    /// The open values, from the outermost to the innermost: true for an object, false for an array.
    var isObject: [Bool] = []
    while true {
      skipSpace()
      guard let first = next, isObject.count < Self.depthLimit else { return nil }
      switch first {
      case UInt8(ascii: "{"):
        index += 1
        if !skip(UInt8(ascii: "}")) {
          isObject.append(true)
          guard name() else { return nil }
          continue
        }
      case UInt8(ascii: "["):
        index += 1
        if !skip(UInt8(ascii: "]")) {
          isObject.append(false)
          continue
        }
      default: guard simpleValue(first) else { return nil }
      }
      // A value has ended. Before the next value there is a comma. Each closing bracket ends one enclosing value.
      while let isMember = isObject.last {
        if skip(UInt8(ascii: ",")) {
          guard !isMember || name() else { return nil }
          break
        }
        guard skip(isMember ? UInt8(ascii: "}") : UInt8(ascii: "]")) else { return nil }
        isObject.removeLast()
      }
      if isObject.isEmpty { return start..<index }
    }
  }

  /// Skips a string, a number, `true`, `false` or `null`.
  private mutating func simpleValue(_ first: UInt8) -> Bool {
    switch first {
    case UInt8(ascii: "\""): text()
    case UInt8(ascii: "t"): word("true")
    case UInt8(ascii: "f"): word("false")
    case UInt8(ascii: "n"): word("null")
    default: number()
    }
  }

  /// Skips the name of a member, and the colon after it.
  private mutating func name() -> Bool {
    skipSpace()
    return text() && skip(UInt8(ascii: ":"))
  }

  /// Reads an object.
  /// - Parameter member: called for each member, with its name and with the cursor before its value. The closure must
  ///   read the value, and return false if the value is not JSON.
  /// - Returns: false if the next value is not an object.
  package mutating func object(
    _ member: (_ name: String, inout JSONCursor) -> Bool
  ) -> Bool {
    guard skip(UInt8(ascii: "{")) else { return false }
    if skip(UInt8(ascii: "}")) { return true }
    repeat {
      skipSpace()
      let start = index
      guard text() else { return false }
      let name = index - start > Self.longestName ? "" : Self.decoded(bytes[start..<index]) ?? ""
      guard skip(UInt8(ascii: ":")), member(name, &self) else { return false }
    } while skip(UInt8(ascii: ","))
    return skip(UInt8(ascii: "}"))
  }

  /// Reads an array.
  /// - Parameter element: reads one element, and returns false if it is not JSON.
  package mutating func array(_ element: (inout JSONCursor) -> Bool) -> Bool {
    guard skip(UInt8(ascii: "[")) else { return false }
    if skip(UInt8(ascii: "]")) { return true }
    repeat {
      guard element(&self) else { return false }
    } while skip(UInt8(ascii: ","))
    return skip(UInt8(ascii: "]"))
  }

  private mutating func word(_ word: StaticString) -> Bool {
    let isThere = word.withUTF8Buffer { letters in
      letters.count <= bytes.count - index && letters.enumerated().allSatisfy { bytes[index + $0] == $1 }
    }
    if isThere { index += word.utf8CodeUnitCount }
    return isThere
  }

  /// Skips a number (RFC 8259 §6).
  private mutating func number() -> Bool {
    if next == UInt8(ascii: "-") { index += 1 }
    if next == UInt8(ascii: "0") { index += 1 } else if !digits() { return false }
    if next == UInt8(ascii: ".") {
      index += 1
      guard digits() else { return false }
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      index += 1
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { index += 1 }
      guard digits() else { return false }
    }
    return true
  }

  private mutating func digits() -> Bool {
    let start = index
    while let byte = next, ASCII.isDigit(byte) { index += 1 }
    return index > start
  }

  /// Skips a string (RFC 8259 §7), whose characters must be valid UTF-8 (§8.1).
  private mutating func text() -> Bool {
    guard next == UInt8(ascii: "\"") else { return false }
    index += 1
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      switch byte {
      case UInt8(ascii: "\""): return true
      case UInt8(ascii: "\\"): guard escape() else { return false }
      case 0..<0x20: return false
      case 0x80...: guard character(byte) else { return false }
      default: break
      }
    }
    return false
  }

  /// Skips the rest of a character of several bytes (UTF-8, RFC 3629 §4).
  private mutating func character(_ first: UInt8) -> Bool {
    var second: ClosedRange<UInt8> = 0x80...0xBF
    let more: Int
    switch first {
    case 0xC2...0xDF: more = 1
    case 0xE0...0xEF: more = 2
    case 0xF0...0xF4: more = 3
    default: return false
    }
    switch first {
    case 0xE0: second = 0xA0...0xBF
    case 0xED: second = 0x80...0x9F
    case 0xF0: second = 0x90...0xBF
    case 0xF4: second = 0x80...0x8F
    default: break
    }
    guard bytes.count - index >= more, second.contains(bytes[index]),
      bytes[index..<index + more].allSatisfy({ (0x80...0xBF).contains($0) })
    else { return false }
    index += more
    return true
  }

  /// Skips the characters after a backslash.
  private mutating func escape() -> Bool {
    guard let byte = next else { return false }
    index += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return true
    case UInt8(ascii: "u"):
      guard bytes.count - index >= 4, Self.unit(bytes[index..<index + 4]) != nil else { return false }
      index += 4
      return true
    default: return false
    }
  }

  // MARK: Texts

  /// The text of a JSON string.
  /// - Parameter literal: the string with its quotation marks.
  /// - Returns: nil if the value is not a string, or if its text is not valid Unicode.
  package static func decoded(_ literal: ArraySlice<UInt8>) -> String? {
    guard literal.count >= 2, literal.first == UInt8(ascii: "\"") else { return nil }
    let inner = literal.dropFirst().dropLast()
    guard inner.contains(UInt8(ascii: "\\")) else { return String(validating: inner, as: UTF8.self) }
    var units: [UInt8] = []
    var rest = inner
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\") else {
        units.append(byte)
        continue
      }
      guard let letter = rest.popFirst() else { return nil }
      switch letter {
      case UInt8(ascii: "b"): units.append(0x08)
      case UInt8(ascii: "f"): units.append(0x0C)
      case UInt8(ascii: "n"): units.append(0x0A)
      case UInt8(ascii: "r"): units.append(0x0D)
      case UInt8(ascii: "t"): units.append(0x09)
      case UInt8(ascii: "u"):
        guard let scalar = scalar(in: &rest) else { return nil }
        units += Array(String(Character(scalar)).utf8)
      default: units.append(letter)
      }
    }
    return String(validating: units, as: UTF8.self)
  }

  /// The character of one `\u` escape, or of two escapes for a character outside the Basic Multilingual Plane.
  private static func scalar(in rest: inout ArraySlice<UInt8>) -> Unicode.Scalar? {
    guard let first = unit(rest.prefix(4)) else { return nil }
    rest = rest.dropFirst(4)
    guard (0xD800..<0xDC00).contains(first) else { return Unicode.Scalar(first) }
    guard rest.starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]),
      let second = unit(rest.dropFirst(2).prefix(4)), (0xDC00..<0xE000).contains(second)
    else { return nil }
    rest = rest.dropFirst(6)
    return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
  }

  /// The value of four hexadecimal digits; nil for any other text.
  private static func unit(_ digits: ArraySlice<UInt8>) -> UInt32? {
    guard digits.count == 4 else { return nil }
    var value: UInt32 = 0
    for digit in digits {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 + UInt32(digit - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 + UInt32(digit - UInt8(ascii: "a") + 10)
      case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 + UInt32(digit - UInt8(ascii: "A") + 10)
      default: return nil
      }
    }
    return value
  }
}
