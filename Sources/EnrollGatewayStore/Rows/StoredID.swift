// Ids of accounts and sessions are UUIDs (RFC 9562 §4), stored as 16 bytes: less than half of the text, in each row and index.
// Only the canonical text is accepted, in lower case with four hyphens, so that one id has one spelling.

enum StoredID {
  private static let hyphens: Set<Int> = [8, 13, 18, 23]

  /// - Returns: 16 bytes; nil if the text is not a canonical UUID.
  static func bytes(of text: String) -> [UInt8]? {
    let characters = Array(text.utf8)
    guard characters.count == 36 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(16)
    var high: UInt8?
    for (place, character) in characters.enumerated() {
      if hyphens.contains(place) {
        guard character == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = digit(character) else { return nil }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    return bytes
  }

  /// The text of a stored id.
  static func text(of bytes: [UInt8]) -> String {
    var text = ""
    text.reserveCapacity(36)
    for (place, byte) in bytes.enumerated() {
      if place == 4 || place == 6 || place == 8 || place == 10 { text.append("-") }
      text.unicodeScalars.append(Unicode.Scalar(character(byte >> 4)))
      text.unicodeScalars.append(Unicode.Scalar(character(byte & 15)))
    }
    return text
  }

  private static func digit(_ character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
    default: nil
    }
  }

  private static func character(_ digit: UInt8) -> UInt8 {
    digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
  }
}
