// Finds out whether a server's text quotes a secret: unchanged, in another case, in hexadecimal, or in base64 of any
// alignment. A part of a secret counts, too. No part of a secret is copied.

import EnrollCrypto

/// A text to search for secrets.
struct QuotingText {
  /// The encodings of a secret.
  enum Spelling: CaseIterable {
    case plain, hexadecimal
    /// Base64 of the secret without its first bytes, because text before the secret shifts the groups of base64.
    case base64, base64Without1, base64Without2
  }

  private let folded: [UInt8]

  init(_ text: String) { folded = text.utf8.map { Self.fold($0) } }

  /// Maps bytes that count as equal to the same byte: capital and small letters, and the characters in which the two
  /// alphabets of base64 differ.
  private static func fold(_ byte: UInt8) -> UInt8 {
    switch byte {
    case 0x41...0x5A: byte | 0x20
    case UInt8(ascii: "-"): UInt8(ascii: "+")
    case UInt8(ascii: "_"): UInt8(ascii: "/")
    default: byte
    }
  }

  /// Whether the text has a JSON Web Token, or the beginning of a token. No error text needs a token.
  var hasJWT: Bool {
    let start = Array("eyj".utf8)
    return folded.indices.contains { index in
      folded[index...].starts(with: start)
        && folded[index...].prefix { ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == 0x2B || $0 == 0x2F }
          .count >= 16
    }
  }

  /// Whether the text has `length` consecutive bytes of an encoding of `secret`. An encoding that is shorter than
  /// `length` must be in the text as a whole, and must have at least 8 bytes.
  func quotes(_ secret: Secret, as spellings: [Spelling], from length: Int) -> Bool {
    secret.withBytes { bytes in
      spellings.contains { spelling in
        let spelled = Spelled(bytes, spelling)
        let run = spelling == .plain ? length : min(length, spelled.count)
        return run >= 8 && folded.count >= run && hasRun(of: run, in: spelled)
      }
    }
  }

  /// Whether the text and the encoded secret have `length` bytes in a row in common. Compares rolling hashes, because
  /// both texts may be long.
  private func hasRun(of length: Int, in spelled: Spelled) -> Bool {
    guard spelled.count >= length else { return false }
    var windows: Set<UInt64> = []
    roll(length, folded.count, { folded[$0] }) { hash in
      windows.insert(hash)
      return false
    }
    return roll(length, spelled.count, { Self.fold(spelled[$0]) }) { windows.contains($0) }
  }

  /// Computes the hash of each window of `length` bytes, until `isFound` returns true for a hash.
  /// - Returns: whether `isFound` returned true for the hash of a window.
  @discardableResult
  private func roll(
    _ length: Int, _ count: Int, _ byte: (Int) -> UInt8, isFound: (UInt64) -> Bool
  ) -> Bool {
    let base: UInt64 = 0x9E37_79B9_7F4A_7C15
    let highest = (0..<length).reduce(UInt64(1)) { power, _ in power &* base }
    var hash: UInt64 = 0
    for index in 0..<count {
      hash = hash &* base &+ UInt64(byte(index)) &+ 1
      if index >= length { hash = hash &- (UInt64(byte(index - length)) &+ 1) &* highest }
      if index >= length - 1, isFound(hash) { return true }
    }
    return false
  }
}

extension QuotingText {
  /// The bytes of a secret in one encoding, computed one by one. In base64 only the complete characters are compared,
  /// because the last character may contain bits of the text after the secret.
  private struct Spelled {
    private let bytes: UnsafeRawBufferPointer
    private let spelling: Spelling
    let count: Int

    init(_ all: UnsafeRawBufferPointer, _ spelling: Spelling) {
      let dropped = spelling == .base64Without1 ? 1 : spelling == .base64Without2 ? 2 : 0
      bytes = UnsafeRawBufferPointer(rebasing: all.dropFirst(dropped))
      self.spelling = spelling
      count =
        switch spelling {
        case .plain: bytes.count
        case .hexadecimal: bytes.count * 2
        case .base64, .base64Without1, .base64Without2: bytes.count * 8 / 6
        }
    }

    subscript(index: Int) -> UInt8 {
      switch spelling {
      case .plain: return bytes[index]
      case .hexadecimal:
        let byte = bytes[index / 2]
        let digit = index % 2 == 0 ? byte >> 4 : byte & 15
        return digit < 10 ? 0x30 + digit : 0x61 + digit - 10
      case .base64, .base64Without1, .base64Without2:
        let bit = index * 6
        let next = bit / 8 + 1 < bytes.count ? bytes[bit / 8 + 1] : 0
        let pair = UInt16(bytes[bit / 8]) << 8 | UInt16(next)
        return Self.alphabet[Int(pair >> UInt16(10 - bit % 8) & 63)]
      }
    }

    private static let alphabet = Array(
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  }
}
