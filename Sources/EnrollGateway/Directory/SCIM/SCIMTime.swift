// A time of a SCIM resource (RFC 7643 §2.3.5: xsd:dateTime): `2026-11-24T14:20:13.123Z`. Fractions of a second are dropped.
// Refused: other time zones than UTC, and every other format.

import EnrollRules

enum SCIMTime {
  /// Seconds since 1970; nil for any other format.
  static func seconds(_ text: String) -> Int64? {
    let bytes = Array(text.utf8)
    guard bytes.count >= 20, bytes.last == 0x5A, bytes[4] == 0x2D, bytes[7] == 0x2D, bytes[10] == 0x54,
      bytes[13] == 0x3A, bytes[16] == 0x3A, bytes.count == 20 || bytes[19] == 0x2E
    else { return nil }
    let places = [0..<4, 5..<7, 8..<10, 11..<13, 14..<16, 17..<19]
    let parts = places.compactMap { number(bytes[$0]) }
    guard parts.count == 6, (1...12).contains(parts[1]) else { return nil }
    // Computes the days since 1970, in a calendar whose years begin in March.
    let year = parts[1] > 2 ? parts[0] : parts[0] - 1
    let month = (parts[1] + 9) % 12
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + parts[2] - 719_469
    return ((days * 24 + parts[3]) * 60 + parts[4]) * 60 + parts[5]
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
    var value: Int64 = 0
    for byte in digits {
      guard ASCII.isDigit(byte) else { return nil }
      value = value * 10 + Int64(byte - 0x30)
    }
    return value
  }
}
