// Base64url without padding (RFC 4648 §5, RFC 7515 §2). Decoding is strict, so that each value has exactly one text.
// The decoder refuses padding, white space, the characters `+` and `/`, and unused bits that are not 0.

import EnrollCrypto

public enum Base64URL {
  /// The text for `bytes`, without padding.
  public static func encode(_ bytes: [UInt8]) -> String { encode(bytes.span) }

  /// Like ``encode(_:)``, without copying the bytes.
  @inline(never)
  static func encode(_ bytes: Span<UInt8>) -> String {
    String(unsafeUninitializedCapacity: count(encoding: bytes.count)) { text in
      encode(bytes, into: text)
    }
  }

  /// The text as ASCII bytes.
  @inline(never)
  public static func encodedBytes(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count(encoding: bytes.count)) { text, count in
      count = encode(bytes.span, into: text)
    }
  }

  /// The text as a secret; no other copy of it is made (R40).
  static func secret(of bytes: [UInt8]) throws(CryptoError) -> Secret {
    try Secret(count: count(encoding: bytes.count)) { text in
      _ = encode(bytes.span, into: text.assumingMemoryBound(to: UInt8.self))
    }
  }

  /// The bytes of `text`; nil if `text` is not exactly what ``encode(_:)`` returns for some bytes.
  public static func decode(_ text: String) -> [UInt8]? { decode(text.utf8.span) }

  /// Like ``decode(_:)``, from ASCII bytes.
  public static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? { decode(text.span) }

  /// Like ``decode(_:)``, from ASCII bytes without copying them.
  static func decode(_ text: Span<UInt8>) -> [UInt8]? {
    guard text.count % 4 != 1 else { return nil }
    var isText = false
    let bytes = [UInt8](unsafeUninitializedCapacity: text.count * 6 / 8) { bytes, count in
      (isText, count) = decode(text, into: bytes)
    }
    return isText ? bytes : nil
  }

  private static func count(encoding count: Int) -> Int { (count * 8 + 5) / 6 }

  /// - Parameter text: a buffer of exactly the needed size.
  /// - Returns: the number of characters.
  @_optimize(speed)
  private static func encode(_ bytes: Span<UInt8>, into text: UnsafeMutableBufferPointer<UInt8>) -> Int {
    var read = 0
    var count = 0
    // Loads eight bytes, of which it encodes six.
    while bytes.count - read >= 8 {
      let group =
        UInt64(bigEndian: bytes.bytes.unsafeLoadUnaligned(fromByteOffset: read, as: UInt64.self)) >> 16
      UnsafeMutableRawBufferPointer(text).storeBytes(
        of: Characters(of: group).word.bigEndian, toByteOffset: count, as: UInt64.self)
      read += 6
      count += 8
    }
    while read < bytes.count {
      let taken = min(6, bytes.count - read)
      var group: UInt64 = 0
      for index in 0..<taken { group |= UInt64(bytes[read + index]) << UInt64(40 - 8 * index) }
      read += taken
      var characters = Characters(of: group).word
      for _ in 0..<Self.count(encoding: taken) {
        text[count] = UInt8(truncatingIfNeeded: characters >> 56)
        characters <<= 8
        count += 1
      }
    }
    return count
  }

  /// - Parameter bytes: a buffer of exactly the needed size.
  @_optimize(speed)
  private static func decode(
    _ text: Span<UInt8>, into bytes: UnsafeMutableBufferPointer<UInt8>
  ) -> (isText: Bool, count: Int) {
    var refused: UInt64 = 0
    var read = 0
    var count = 0
    // Each group gives six bytes, but eight are stored. The next group overwrites the last two of them.
    while text.count - read >= 8, bytes.count - count >= 8 {
      let characters = Characters(
        word: UInt64(bigEndian: text.bytes.unsafeLoadUnaligned(fromByteOffset: read, as: UInt64.self)))
      let (group, unknown) = characters.decoded()
      refused |= unknown
      UnsafeMutableRawBufferPointer(bytes).storeBytes(
        of: (group << 16).bigEndian, toByteOffset: count, as: UInt64.self)
      read += 8
      count += 6
    }
    while read < text.count {
      let taken = min(8, text.count - read)
      var characters = Characters.zeros
      for index in 0..<taken { characters.set(index, text[read + index]) }
      read += taken
      var (group, unknown) = characters.decoded()
      refused |= unknown
      for _ in 0..<(taken * 6 / 8) {
        bytes[count] = UInt8(truncatingIfNeeded: group >> 40)
        group <<= 8
        count += 1
      }
      // The bits that remain belong to no byte, so they must be 0.
      refused |= group & 0xFFFF_FFFF_FFFF
    }
    return (refused == 0, count)
  }

  /// Eight characters in one word, the first one in its highest byte. All eight characters are encoded or decoded at
  /// once, by arithmetic only: a table or a branch for each kind of character would leak a secret through its running
  /// time.
  private struct Characters {
    var word: UInt64

    /// Eight times the character for the value 0, `A`.
    static var zeros: Characters { Characters(word: each(0x41)) }

    init(word: UInt64) { self.word = word }

    /// Eight times this byte.
    @inline(__always)
    private static func each(_ byte: UInt64) -> UInt64 { byte &* 0x0101_0101_0101_0101 }

    private static var highs: UInt64 { 0x8080_8080_8080_8080 }

    mutating func set(_ index: Int, _ character: UInt8) {
      let shift = UInt64(56 - 8 * index)
      word = word & ~(0xFF << shift) | UInt64(character) << shift
    }

    /// - Parameter group: 48 bits.
    @inline(__always)
    init(of group: UInt64) {
      var values = group & 0xFF_FFFF | (group & 0xFFFF_FF00_0000) << 8
      values = values & 0x0000_0FFF_0000_0FFF | (values & 0x00FF_F000_00FF_F000) << 4
      values = values & 0x003F_003F_003F_003F | (values & 0x0FC0_0FC0_0FC0_0FC0) << 2
      // The difference between a character and its value. It begins as the difference for `A`; for values from the
      // groups of `a`, `0`, `-` and `_` it is changed below.
      var distance = Self.each(0x41)
      distance ^= Self.mask(Self.least(values, 26)) & Self.each(0x41 ^ 0x47)
      distance ^= Self.mask(Self.least(values, 52)) & Self.each(0x47 ^ 0xFC)
      distance ^= Self.mask(Self.least(values, 62)) & Self.each(0xFC ^ 0xEF)
      distance ^= Self.mask(Self.least(values, 63)) & Self.each(0xEF ^ 0x20)
      word = Self.sum(values, distance)
    }

    /// Decodes the eight characters.
    /// - Returns: 48 bits, and a number that is 0 if every character is in the alphabet.
    @inline(__always)
    func decoded() -> (group: UInt64, unknown: UInt64) {
      let text = word & ~Self.highs
      let upper = Self.between(text, 0x41, 0x5A)
      let lower = Self.between(text, 0x61, 0x7A)
      let digit = Self.between(text, 0x30, 0x39)
      let hyphen = Self.between(text, 0x2D, 0x2D)
      let underscore = Self.between(text, 0x5F, 0x5F)
      var distance = Self.mask(upper) & Self.each(0xBF)
      distance |= Self.mask(lower) & Self.each(0xB9)
      distance |= Self.mask(digit) & Self.each(0x04)
      distance |= Self.mask(hyphen) & Self.each(0x11)
      distance |= Self.mask(underscore) & Self.each(0xE0)
      var values = Self.sum(text, distance)
      values = values & 0x003F_003F_003F_003F | (values & 0x3F00_3F00_3F00_3F00) >> 2
      values = values & 0x0000_0FFF_0000_0FFF | (values & 0x0FFF_0000_0FFF_0000) >> 4
      let known = (upper | lower | digit | hyphen | underscore) & ~word
      return (values & 0xFF_FFFF | (values >> 32) << 24, ~known & Self.highs)
    }

    /// Sets the high bit of each byte that is at least `low`. All bytes must be less than 128.
    @inline(__always)
    private static func least(_ bytes: UInt64, _ low: UInt64) -> UInt64 {
      (bytes &+ each(0x80 - low)) & highs
    }

    @inline(__always)
    private static func between(_ bytes: UInt64, _ low: UInt64, _ high: UInt64) -> UInt64 {
      least(bytes, low) & ~least(bytes, high + 1)
    }

    /// Sets all bits of each byte whose high bit is set.
    @inline(__always)
    private static func mask(_ highs: UInt64) -> UInt64 { (highs >> 7) &* 0xFF }

    /// Adds each byte separately. The bytes of `left` must be less than 128.
    @inline(__always)
    private static func sum(_ left: UInt64, _ right: UInt64) -> UInt64 {
      (left &+ right & ~highs) ^ right & highs
    }
  }
}

/// Base64 with padding (RFC 4648 §4), as HTTP's Basic credentials are written.
package enum Base64 {
  package static func encode(_ bytes: [UInt8]) -> String {
    var text = Base64URL.encodedBytes(bytes).map { $0 == 0x2D ? 0x2B : $0 == 0x5F ? 0x2F : $0 }
    while text.count % 4 != 0 { text.append(0x3D) }
    return String(decoding: text, as: UTF8.self)
  }
}
