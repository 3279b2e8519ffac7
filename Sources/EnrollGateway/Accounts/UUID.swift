// UUIDs of version 7 (RFC 9562 §5.7): they sort by the time at which they were made, so that new rows are
// added at the end of an index.

import EnrollRules

enum UUID7 {
  static let randomByteCount = 10

  /// - Parameter random: ``randomByteCount`` bytes.
  static func make(at now: UnixTime, random: [UInt8]) -> String {
    let milliseconds = UInt64(clamping: now.seconds).multipliedReportingOverflow(by: 1000).partialValue
    var bytes = (0..<6).map { UInt8(truncatingIfNeeded: milliseconds >> (40 - 8 * $0)) }
    bytes += random.prefix(randomByteCount)
    bytes[6] = 0x70 | bytes[6] & 0x0F
    bytes[8] = 0x80 | bytes[8] & 0x3F
    var text = ""
    for (index, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(index) { text += "-" }
      text += hex(byte >> 4) + hex(byte & 0x0F)
    }
    return text
  }

  private static func hex(_ digit: UInt8) -> String {
    String(UnicodeScalar(digit < 10 ? 0x30 + digit : 0x57 + digit))
  }
}
