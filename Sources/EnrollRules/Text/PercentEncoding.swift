// Percent-encoding of one value (RFC 3986 §2.1), for form bodies and URL queries. All characters except the unreserved
// ones are escaped. Decoding refuses malformed texts.

public enum PercentEncoding {
  /// Whether the byte is an unreserved character (RFC 3986 §2.3).
  public static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
    default: false
    }
  }

  /// The text in which every byte that is not an unreserved character is written as `%XX`.
  public static func encode(_ text: String) -> String {
    var bytes: [UInt8] = []
    append(text.utf8, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends `source` in encoded form. With `plusForSpace`, a space is encoded as `+`, as in forms.
  static func append(
    _ source: some Sequence<UInt8>, to bytes: inout [UInt8], plusForSpace: Bool = false
  ) {
    for byte in source {
      if isUnreserved(byte) {
        bytes.append(byte)
      } else if byte == 0x20 && plusForSpace {
        bytes.append(0x2B)
      } else {
        bytes.append(0x25)
        bytes.append(hexDigit(byte >> 4))
        bytes.append(hexDigit(byte & 0xF))
      }
    }
  }

  /// The decoded bytes; nil if a `%` is not followed by two hexadecimal digits.
  public static func decode(_ text: ArraySlice<UInt8>, plusForSpace: Bool) -> [UInt8]? {
    // Most values contain no encoded bytes, so they are returned unchanged.
    guard text.contains(where: { $0 == 0x25 || $0 == 0x2B }) else { return Array(text) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var index = text.startIndex
    while index < text.endIndex {
      let byte = text[index]
      index += 1
      if byte == 0x2B && plusForSpace {
        bytes.append(0x20)
      } else if byte == 0x25 {
        guard text.endIndex - index >= 2, let high = hexValue(text[index]),
          let low = hexValue(text[index + 1])
        else { return nil }
        bytes.append(high << 4 | low)
        index += 2
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }

  /// Whether a part of a well-formed text decodes to exactly the bytes of `value`; nothing is copied.
  @_optimize(speed)
  static func decodes(_ text: Span<UInt8>, _ range: Range<Int>, to value: String) -> Bool {
    let expected = value.utf8.span
    var index = range.lowerBound
    for position in 0..<expected.count {
      guard index < range.upperBound else { return false }
      var byte = text[index]
      if byte == 0x2B { byte = 0x20 }
      if byte == 0x25 {
        guard range.upperBound - index > 2, let high = hexValue(text[index + 1]),
          let low = hexValue(text[index + 2])
        else { return false }
        byte = high << 4 | low
        index += 2
      }
      guard byte == expected[position] else { return false }
      index += 1
    }
    return index == range.upperBound
  }

  static func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? value + 0x30 : value - 10 + 0x41
  }
}
