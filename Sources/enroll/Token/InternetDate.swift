// Dates of RFC 3339 §5.6, which this program writes for other programs, and reads from the documents that they send.

import CPosix
import EnrollRules

enum InternetDate {
  /// The date in UTC, such as `2099-11-30T23:00:23Z`.
  /// - Parameter seconds: since 1970.
  static func text(_ seconds: Int64) -> String {
    var time = time_t(seconds)
    var parts = tm()
    gmtime_r(&time, &parts)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
      + "T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
  }

  /// The number of characters before the fraction of a second.
  private static let wholeCount = 19

  /// Reads a date with any offset. A fraction of a second is left out.
  /// - Returns: seconds since 1970; nil for any other text, and for a date that no calendar has.
  static func seconds(_ text: String) -> Int64? {
    let whole = String(text.prefix(wholeCount)).uppercased()
    var rest = text.dropFirst(wholeCount)
    if rest.hasPrefix(".") {
      let fraction = rest.dropFirst()
      rest = fraction.drop { $0.utf8.allSatisfy { ASCII.isDigit($0) } }
      guard rest.count < fraction.count else { return nil }
    }
    guard let offset = offset(rest) else { return nil }
    let fields = whole.split { "-T:".contains($0) }.map { Int32($0) ?? -1 }
    guard fields.count == 6, (1970...9999).contains(fields[0]) else { return nil }
    var parts = tm()
    (parts.tm_year, parts.tm_mon, parts.tm_mday) = (fields[0] - 1900, fields[1] - 1, fields[2])
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (fields[3], fields[4], fields[5])
    let seconds = Int64(timegm(&parts))
    // timegm(3) turns a number that is too large, such as a 13th month, into a later date. The date then has another
    // text.
    guard self.text(seconds) == whole + "Z" else { return nil }
    return seconds - offset
  }

  /// The offset of `Z`, `+05:30` or `-00:01`, in seconds.
  private static func offset(_ text: Substring) -> Int64? {
    if text == "Z" || text == "z" { return 0 }
    let fields = text.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
    guard text.hasPrefix("+") || text.hasPrefix("-"), fields.count == 2,
      fields.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy { ASCII.isDigit($0) } }),
      let hours = Int64(fields[0]), let minutes = Int64(fields[1]), hours < 24, minutes < 60
    else { return nil }
    return (text.hasPrefix("-") ? -1 : 1) * (hours * 3600 + minutes * 60)
  }
}
