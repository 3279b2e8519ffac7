// Base64url without padding (RFC 4648 §5, RFC 7515 §2). Decoding is strict: one text for one value, so that nothing
// can be written in two ways. Refused: padding, white space, the characters `+` and `/`, bits that no byte uses.

public enum Base64URL {
  /// The text for `bytes`, without padding.
  public static func encode(_ bytes: [UInt8]) -> String {
    String(decoding: encodedBytes(bytes), as: UTF8.self)
  }

  /// The text as ASCII bytes, for a value that must not become a String (R40).
  public static func encodedBytes(_ bytes: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count / 3 * 4 + 4)
    var buffer: UInt32 = 0
    var bits: UInt32 = 0
    for byte in bytes {
      buffer = (buffer << 8 | UInt32(byte)) & 0xFFFF
      bits += 8
      while bits >= 6 {
        bits -= 6
        text.append(character(buffer >> bits & 0x3F))
      }
    }
    if bits > 0 { text.append(character(buffer << (6 - bits) & 0x3F)) }
    return text
  }

  /// The bytes that `text` stands for; nil when it is not exactly what ``encode(_:)`` gives for some bytes.
  public static func decode(_ text: String) -> [UInt8]? {
    decode(Array(text.utf8)[...])
  }

  /// As ``decode(_:)``, from ASCII bytes.
  public static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.count % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3 + 2)
    var buffer: UInt32 = 0
    var bits: UInt32 = 0
    for character in text {
      guard let value = value(of: character) else { return nil }
      buffer = (buffer << 6 | value) & 0xFFFF
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: buffer >> bits))
      }
    }
    let unused = buffer & ((1 << bits) - 1)
    return unused == 0 ? bytes : nil
  }

  private static func character(_ value: UInt32) -> UInt8 {
    let value = UInt8(truncatingIfNeeded: value)
    return switch value {
    case 0..<26: value + 0x41
    case 26..<52: value - 26 + 0x61
    case 52..<62: value - 52 + 0x30
    case 62: 0x2D
    default: 0x5F
    }
  }

  private static func value(of character: UInt8) -> UInt32? {
    switch character {
    case 0x41...0x5A: UInt32(character - 0x41)
    case 0x61...0x7A: UInt32(character - 0x61) + 26
    case 0x30...0x39: UInt32(character - 0x30) + 52
    case 0x2D: 62
    case 0x5F: 63
    default: nil
    }
  }
}
