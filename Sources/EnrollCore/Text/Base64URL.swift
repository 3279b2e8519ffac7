// Base64url without padding (RFC 4648 §5, RFC 7515 §2). Decoding is strict: one text for one value, so that nothing
// can be written in two ways. Refused: padding, white space, the characters `+` and `/`, bits that no byte uses.

public enum Base64URL {
  /// The text for `bytes`, without padding.
  @inline(never)
  public static func encode(_ bytes: [UInt8]) -> String {
    String(decoding: encodedBytes(bytes), as: UTF8.self)
  }

  /// The text as ASCII bytes, for a value that must not become a String (R40).
  @inline(never)
  public static func encodedBytes(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: bytes.count / 3 * 4 + 4) { text, count in
      count = encode(bytes.span, into: text)
    }
  }

  /// The bytes that `text` stands for; nil when it is not exactly what ``encode(_:)`` gives for some bytes.
  public static func decode(_ text: String) -> [UInt8]? {
    decode(Array(text.utf8)[...])
  }

  /// As ``decode(_:)``, from ASCII bytes.
  public static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.count % 4 != 1 else { return nil }
    var isText = false
    let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3 + 2) { bytes, count in
      (isText, count) = decode(text.span, into: bytes)
    }
    return isText ? bytes : nil
  }

  /// - Parameter text: room for four characters of each three bytes, the last ones counted as three.
  /// - Returns: how many there are.
  @_optimize(speed)
  private static func encode(_ bytes: Span<UInt8>, into text: UnsafeMutableBufferPointer<UInt8>) -> Int {
    var count = 0
    var buffer: UInt32 = 0
    var bits: UInt32 = 0
    for index in bytes.indices {
      buffer = (buffer << 8 | UInt32(bytes[index])) & 0xFFFF
      bits += 8
      while bits >= 6 {
        bits -= 6
        text[count] = character(buffer >> bits & 0x3F)
        count += 1
      }
    }
    if bits > 0 {
      text[count] = character(buffer << (6 - bits) & 0x3F)
      count += 1
    }
    return count
  }

  /// - Parameter bytes: room for three of each four characters, the last ones counted as four.
  @_optimize(speed)
  private static func decode(
    _ text: Span<UInt8>, into bytes: UnsafeMutableBufferPointer<UInt8>
  ) -> (isText: Bool, count: Int) {
    var seen: UInt32 = 0
    var count = 0
    var buffer: UInt32 = 0
    var bits: UInt32 = 0
    for index in text.indices {
      let value = value(of: text[index])
      seen |= value
      buffer = (buffer << 6 | value) & 0xFFFF
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes[count] = UInt8(truncatingIfNeeded: buffer >> bits)
        count += 1
      }
    }
    let unused = buffer & ((1 << bits) - 1)
    return (seen < 64 && unused == 0, count)
  }

  // Both ways by arithmetic alone: a branch for each kind of character is one that the processor cannot foresee, and its
  // time would tell about a secret. `(a - b) >> 8` has all bits set where a < b, and none otherwise.

  @inline(__always)
  private static func character(_ value: UInt32) -> UInt8 {
    let value = Int32(truncatingIfNeeded: value)
    var character = value &+ 0x41
    character &+= ((25 &- value) >> 8) & 6  // from Z to a
    character &-= ((51 &- value) >> 8) & 75  // from z to 0
    character &-= ((61 &- value) >> 8) & 13  // from 9 to -
    character &+= ((62 &- value) >> 8) & 49  // from - to _
    return UInt8(truncatingIfNeeded: character)
  }

  /// 0xFFFFFFFF for what is no character of the alphabet.
  @inline(__always)
  private static func value(of character: UInt8) -> UInt32 {
    let character = Int32(character)
    func isBetween(_ low: Int32, _ high: Int32) -> Int32 {
      ((low &- 1 &- character) & (character &- high &- 1)) >> 8
    }
    var value: Int32 = -1
    value &+= isBetween(0x41, 0x5A) & (character &- 0x41 &+ 1)
    value &+= isBetween(0x61, 0x7A) & (character &- 0x61 &+ 27)
    value &+= isBetween(0x30, 0x39) & (character &- 0x30 &+ 53)
    value &+= isBetween(0x2D, 0x2D) & 63
    value &+= isBetween(0x5F, 0x5F) & 64
    return UInt32(bitPattern: value)
  }
}

/// Base64 with padding (RFC 4648 §4), as HTTP's Basic credentials are written.
enum Base64 {
  static func encode(_ bytes: [UInt8]) -> String {
    var text = Base64URL.encodedBytes(bytes).map { $0 == 0x2D ? 0x2B : $0 == 0x5F ? 0x2F : $0 }
    while text.count % 4 != 0 { text.append(0x3D) }
    return String(decoding: text, as: UTF8.self)
  }
}
