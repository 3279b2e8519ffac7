// Ids of accounts, sessions, people and mails are UUIDs (RFC 9562 §4), stored as 16 bytes, which take less than half
// the space of the text in each row and index. Only the canonical text is accepted, in lower case with four hyphens, so
// that one id has one spelling.

import EnrollRules

/// The id of a record. `Kind` is the kind of the record, so that no id of a session can be passed for an id of an account.
public struct RecordID<Kind>: Sendable, Hashable, CustomStringConvertible {
  /// 16 bytes.
  public let bytes: [UInt8]

  /// - Parameter bytes: 16 bytes.
  public init(bytes: [UInt8]) { self.bytes = bytes }

  static var randomByteCount: Int { 10 }

  /// A new UUID of version 7 (RFC 9562 §5.7), which begins with the time, so that new rows go to the end of an index.
  /// - Parameter random: ``randomByteCount`` bytes.
  init(at now: UnixTime, random: [UInt8]) {
    let milliseconds = UInt64(clamping: now.seconds).multipliedReportingOverflow(by: 1000).partialValue
    var bytes = (0..<6).map { UInt8(truncatingIfNeeded: milliseconds >> (40 - 8 * $0)) }
    bytes += random.prefix(Self.randomByteCount)
    bytes[6] = 0x70 | bytes[6] & 0x0F
    bytes[8] = 0x80 | bytes[8] & 0x3F
    self.bytes = bytes
  }

  /// Parses an id; nil if the text is not a canonical UUID.
  public init?(_ text: String) {
    let characters = Array(text.utf8)
    guard characters.count == 36 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(16)
    var high: UInt8?
    for (place, character) in characters.enumerated() {
      if Self.isHyphen(place) {
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

  /// The canonical text.
  public var text: String {
    var text = ""
    text.reserveCapacity(36)
    for (place, byte) in bytes.enumerated() {
      if place == 4 || place == 6 || place == 8 || place == 10 { text.append("-") }
      text.unicodeScalars.append(Unicode.Scalar(Self.character(byte >> 4)))
      text.unicodeScalars.append(Unicode.Scalar(Self.character(byte & 15)))
    }
    return text
  }

  public var description: String { text }

  private static func isHyphen(_ place: Int) -> Bool {
    place == 8 || place == 13 || place == 18 || place == 23
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

/// The kinds of records. These types have no values: they only make the id of each kind a type of its own.
public enum RecordKind {
  public enum ForAccount {}
  public enum ForSession {}
  public enum ForPerson {}
  public enum ForMail {}
}

/// The id of an account. It never changes, and is never used for another account.
public typealias AccountID = RecordID<RecordKind.ForAccount>
/// The id of a session in lists; it is not a secret.
public typealias SessionID = RecordID<RecordKind.ForSession>
/// The id of a person of the gateway's own directory; its text is the subject of the person's identity.
public typealias PersonID = RecordID<RecordKind.ForPerson>
/// The id of an e-mail in the outbox.
public typealias MailID = RecordID<RecordKind.ForMail>
