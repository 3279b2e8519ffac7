// Bytes, compared and parsed as protocols require: ASCII only, no locale, no Unicode.

extension String {
  /// The UTF-8 bytes, copied in one operation; in Embedded Swift `Array(utf8)` would copy byte by byte.
  var bytes: [UInt8] {
    let copy = utf8.withContiguousStorageIfAvailable { text in
      [UInt8](unsafeUninitializedCapacity: text.count) { bytes, count in
        UnsafeMutableRawBufferPointer(bytes).copyMemory(from: UnsafeRawBufferPointer(text))
        count = text.count
      }
    }
    return copy ?? Array(utf8)
  }
}

public enum ASCII {
  public static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= 0x41 && byte <= 0x5A ? byte + 0x20 : byte
  }

  /// The text with its letters A to Z in lower case.
  static func lowercased(_ text: String) -> String {
    String(decoding: text.utf8.map { lowercased($0) }, as: UTF8.self)
  }

  @inline(never)
  public static func equalsIgnoringCase(_ left: String, _ right: String) -> Bool {
    let left = left.utf8
    let right = right.utf8
    guard left.count == right.count else { return false }
    return left.elementsEqual(right) { lowercased($0) == lowercased($1) }
  }

  /// Whether two texts have the same bytes. `String ==` compares by canonical equivalence, which no protocol uses.
  @_optimize(speed)
  @inline(never)
  public static func equals(_ left: String, _ right: String) -> Bool {
    equals(left.utf8.span, right.utf8.span)
  }

  /// Byte equality of two texts.
  @_optimize(speed)
  static func equals(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    var index = 0
    while let mine = EightBytes(of: left, at: index), let other = EightBytes(of: right, at: index) {
      guard mine == other else { return false }
      index += 8
    }
    while index < left.count {
      guard left[index] == right[index] else { return false }
      index += 1
    }
    return true
  }

  /// Whether a part of a text has the same bytes as another text.
  @_optimize(speed)
  static func equals(_ bytes: Span<UInt8>, _ range: Range<Int>, _ text: StaticString) -> Bool {
    guard range.count == text.utf8CodeUnitCount else { return false }
    for index in 0..<range.count where bytes[range.lowerBound + index] != text.utf8Start[index] {
      return false
    }
    return true
  }

  /// Like ``equals(_:_:_:)``, but ignores the case of ASCII letters; `text` must be in lower case.
  static func equalsIgnoringCase(_ bytes: Span<UInt8>, _ range: Range<Int>, _ text: StaticString) -> Bool {
    guard range.count == text.utf8CodeUnitCount else { return false }
    for index in 0..<range.count
    where lowercased(bytes[range.lowerBound + index]) != text.utf8Start[index] { return false }
    return true
  }

  @_optimize(speed)
  static func contains(_ bytes: Span<UInt8>, _ range: Range<Int>, _ byte: UInt8) -> Bool {
    for index in range where bytes[index] == byte { return true }
    return false
  }

  /// The index of the first `byte` at `start` or later.
  @_optimize(speed)
  static func index(of byte: UInt8, in text: Span<UInt8>, from start: Int) -> Int? {
    var index = start
    while index < text.count {
      if let eight = EightBytes(of: text, at: index) {
        let places = eight.places(of: byte)
        if places != 0 { return index + EightBytes.first(places) }
        index += 8
      } else {
        if text[index] == byte { return index }
        index += 1
      }
    }
    return nil
  }

  /// Whether `text` contains `part`.
  package static func contains(_ text: [UInt8], _ part: StaticString) -> Bool { contains(text.span, part) }

  /// Whether `text` contains `part`.
  package static func contains(_ text: String, _ part: StaticString) -> Bool {
    contains(text.utf8.span, part)
  }

  /// Whether `text` contains `part`.
  static func contains(_ text: Span<UInt8>, _ part: StaticString) -> Bool {
    contains(text, UnsafeRawBufferPointer(start: part.utf8Start, count: part.utf8CodeUnitCount))
  }

  /// Whether `text` contains `part`.
  @_optimize(speed)
  static func contains(_ text: Span<UInt8>, _ part: UnsafeRawBufferPointer) -> Bool {
    guard text.count >= part.count else { return false }
    for start in 0...(text.count - part.count) {
      var length = 0
      while length < part.count, text[start + length] == part[length] { length += 1 }
      if length == part.count { return true }
    }
    return false
  }

  /// The number that `text` contains; nil if `text` has anything except digits. `Int` is not used, because
  /// `Int("+25")` is 25.
  public static func number<Number: FixedWidthInteger>(_ text: some StringProtocol) -> Number? {
    text.utf8.allSatisfy(isDigit) ? Number(text) : nil
  }

  public static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
  public static func isLetter(_ byte: UInt8) -> Bool {
    let lower = lowercased(byte)
    return lower >= 0x61 && lower <= 0x7A
  }
}

/// Eight bytes of a text, the first one in the lowest bits.
struct EightBytes: Equatable {
  private let word: UInt64

  /// The eight bytes at this index; nil if fewer than eight bytes are left.
  @inline(__always)
  init?(of text: Span<UInt8>, at index: Int) {
    guard text.count - index >= 8 else { return nil }
    word = UInt64(littleEndian: text.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
  }

  private static var ones: UInt64 { 0x0101_0101_0101_0101 }
  private static var highs: UInt64 { 0x8080_8080_8080_8080 }

  /// Sets the high bit of each byte that equals `byte`. High bits after the first such byte may be set, too, even if
  /// their bytes do not equal `byte`. So the result only shows whether there is such a byte, and where the first one
  /// is.
  @inline(__always)
  func places(of byte: UInt8) -> UInt64 {
    let difference = word ^ (UInt64(byte) &* Self.ones)
    return (difference &- Self.ones) & ~difference & Self.highs
  }

  /// A value that is not 0 if any of the eight bytes is less than `low` or greater than 126. `low` must be at most 127.
  @inline(__always)
  func places(outside low: UInt8) -> UInt64 {
    let seven = word & ~Self.highs
    let least = seven &+ UInt64(0x80 - low) &* Self.ones
    let most = seven &+ Self.ones
    return (word | ~least | most) & Self.highs
  }

  /// The index of the first byte whose high bit is set in `places`.
  @inline(__always)
  static func first(_ places: UInt64) -> Int { places.trailingZeroBitCount / 8 }
}

/// Whole numbers in headers and in JSON strings.
enum DecimalText {
  /// The number; nil if the text has anything except digits, such as a sign or a space. A number that is too large is
  /// replaced by the largest `Int64`.
  static func parse(_ text: String) -> Int64? {
    guard (1...32).contains(text.utf8.count) else { return nil }
    var value: Int64 = 0
    for byte in text.utf8 {
      guard ASCII.isDigit(byte) else { return nil }
      let (scaled, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, carry) = scaled.addingReportingOverflow(Int64(byte - 0x30))
      value = overflow || carry || value == .max ? .max : sum
    }
    return value
  }
}
