// Reads dates in headers: in `Date`, from which the server's clock is known (R25), and in `Retry-After`. All three
// forms of RFC 9110 §5.6.7 are read, as that section requires.

public enum HTTPDate {
  /// Reads `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`; nil for
  /// any other text. The day's name is not checked. A year of two digits is between 1970 and 2069.
  public static func parse(_ text: String) -> UnixTime? {
    let bytes = Array(text.utf8)
    if bytes.count == 24 { return asctime(bytes) }
    guard let comma = bytes.firstIndex(of: 0x2C), (3...9).contains(comma), bytes.count > comma + 2,
      bytes[comma + 1] == 0x20
    else { return nil }
    let rest = bytes[(comma + 2)...]
    let start = rest.startIndex
    switch (comma, rest.count) {
    case (3, 24):
      guard rest[start + 2] == 0x20, rest[start + 6] == 0x20, rest[start + 11] == 0x20 else { return nil }
      return time(
        day: rest[start..<start + 2], rest[start + 3..<start + 6], year: number(rest[start + 7..<start + 11]),
        at: rest[(start + 12)...])
    case (6...9, 22):
      guard rest[start + 2] == 0x2D, rest[start + 6] == 0x2D, rest[start + 9] == 0x20 else { return nil }
      return time(
        day: rest[start..<start + 2], rest[start + 3..<start + 6],
        year: number(rest[start + 7..<start + 9]).map { $0 < 70 ? 2000 + $0 : 1900 + $0 },
        at: rest[(start + 10)...])
    default: return nil
    }
  }

  private static func asctime(_ bytes: [UInt8]) -> UnixTime? {
    guard bytes[3] == 0x20, bytes[7] == 0x20, bytes[10] == 0x20, bytes[19] == 0x20 else { return nil }
    let day = bytes[8] == 0x20 ? bytes[9..<10] : bytes[8..<10]
    return time(
      day: day, bytes[4..<7], year: number(bytes[20...]), at: bytes[11..<19] + Array(" GMT".utf8)[...])
  }

  /// - Parameter clock: the time of day, such as `08:49:37 GMT`.
  private static func time(
    day: ArraySlice<UInt8>, _ name: ArraySlice<UInt8>, year: Int64?, at clock: ArraySlice<UInt8>
  ) -> UnixTime? {
    let start = clock.startIndex
    guard clock.count == 12, clock[(start + 8)...].elementsEqual(" GMT".utf8), clock[start + 2] == 0x3A,
      clock[start + 5] == 0x3A, let hour = number(clock[start..<start + 2]),
      let minute = number(clock[start + 3..<start + 5]), let second = number(clock[start + 6..<start + 8]),
      let day = number(day), let month = month(name), let year, (1...31).contains(day), year >= 1970,
      hour < 24,
      minute < 60, second <= 60
    else { return nil }
    let days = daysSince1970(year: year, month: month, day: day)
    return UnixTime(seconds: days * 86_400 + hour * 3600 + minute * 60 + second)
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
    var value: Int64 = 0
    for byte in digits {
      guard ASCII.isDigit(byte) else { return nil }
      value = value * 10 + Int64(byte - 0x30)
    }
    return value
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func month(_ name: ArraySlice<UInt8>) -> Int64? {
    for (index, month) in months.enumerated() where name.elementsEqual(month.utf8) { return Int64(index + 1) }
    return nil
  }

  /// Computes the days since 1970 with Howard Hinnant's days_from_civil, for years from 1970 on.
  private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}
