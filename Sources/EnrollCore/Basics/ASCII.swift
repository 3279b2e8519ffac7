// Bytes, compared as protocols do: ASCII only, no locale, no Unicode.

public enum ASCII {
  public static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= 0x41 && byte <= 0x5A ? byte + 0x20 : byte
  }

  public static func equalsIgnoringCase(_ left: String, _ right: String) -> Bool {
    let left = left.utf8
    let right = right.utf8
    guard left.count == right.count else { return false }
    return left.elementsEqual(right) { lowercased($0) == lowercased($1) }
  }

  /// Byte equality. `String ==` compares by canonical equivalence, which no protocol wants.
  public static func equals(_ left: String, _ right: String) -> Bool {
    left.utf8.elementsEqual(right.utf8)
  }

  /// Byte equality with a part of a text.
  static func equals(_ bytes: Span<UInt8>, _ range: Range<Int>, _ text: StaticString) -> Bool {
    guard range.count == text.utf8CodeUnitCount else { return false }
    for index in 0..<range.count where bytes[range.lowerBound + index] != text.utf8Start[index] {
      return false
    }
    return true
  }

  /// As ``equals(_:_:_:)``; `text` is in lower case.
  static func equalsIgnoringCase(_ bytes: Span<UInt8>, _ range: Range<Int>, _ text: StaticString) -> Bool {
    guard range.count == text.utf8CodeUnitCount else { return false }
    for index in 0..<range.count
    where lowercased(bytes[range.lowerBound + index]) != text.utf8Start[index] { return false }
    return true
  }

  public static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
  public static func isLetter(_ byte: UInt8) -> Bool {
    let lower = lowercased(byte)
    return lower >= 0x61 && lower <= 0x7A
  }
}
