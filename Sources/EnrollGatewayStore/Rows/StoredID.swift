// Ids of accounts, sessions, people and mails are UUIDs (RFC 9562 §4), stored as 16 bytes: less than half of the text, in each row and index.
// Only the canonical text is accepted, in lower case with four hyphens, so that one id has one spelling.

import EnrollGateway

/// An id as it is stored. Hashes are plain bytes, so no hash can be passed for an id.
struct StoredID: Sendable, Hashable {
  let bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// The id of nothing: it only fills a parameter.
  static let none = StoredID(bytes: [UInt8](repeating: 0, count: 16))

  private static let hyphens: Set<Int> = [8, 13, 18, 23]

  /// nil if the text is not a canonical UUID.
  init?(_ text: String) {
    let characters = Array(text.utf8)
    guard characters.count == 36 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(16)
    var high: UInt8?
    for (place, character) in characters.enumerated() {
      if Self.hyphens.contains(place) {
        guard character == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = Self.digit(character) else { return nil }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    self.bytes = bytes
  }

  /// - Parameter what: the name of the id, for the error.
  /// - Throws: `.fault` if the text is not a canonical UUID.
  init(_ text: String, _ what: String) throws(StoreFailure) {
    guard let id = StoredID(text) else {
      throw .fault("\(what) is no UUID in lower case. The store expects one of version 7 (RFC 9562 §5.7).")
    }
    self = id
  }

  /// The canonical text.
  var text: String {
    var text = ""
    text.reserveCapacity(36)
    for (place, byte) in bytes.enumerated() {
      if place == 4 || place == 6 || place == 8 || place == 10 { text.append("-") }
      text.unicodeScalars.append(Unicode.Scalar(Self.character(byte >> 4)))
      text.unicodeScalars.append(Unicode.Scalar(Self.character(byte & 15)))
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
