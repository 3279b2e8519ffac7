// The Date header, by which the server's clock is learned (RFC 9110 §5.6.7, IMF-fixdate only; R25).

public enum HTTPDate {
  /// Reads `Sun, 06 Nov 1994 08:49:37 GMT`; nil for anything else. The day's name is not checked.
  public static func parse(_ text: String) -> UnixTime? {
    let bytes = Array(text.utf8)
    guard bytes.count == 29, bytes[3...4].elementsEqual(", ".utf8), bytes[25...].elementsEqual(" GMT".utf8),
      bytes[7] == 0x20, bytes[11] == 0x20, bytes[16] == 0x20, bytes[19] == 0x3A, bytes[22] == 0x3A,
      let day = number(bytes[5..<7]), let month = month(bytes[8..<11]), let year = number(bytes[12..<16]),
      let hour = number(bytes[17..<19]), let minute = number(bytes[20..<22]),
      let second = number(bytes[23..<25]),
      (1...31).contains(day), year >= 1970, hour < 24, minute < 60, second <= 60
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

  /// Howard Hinnant's days_from_civil, for years from 1970 on.
  private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}
