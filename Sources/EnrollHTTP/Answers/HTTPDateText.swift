// The date of an answer (RFC 9110 §5.6.7), written from seconds since 1970 without a library and without a locale.

/// `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDateText {
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// - Parameter seconds: the time in seconds since 1970. A time before 1970 or after 9999 is written as the first or
  ///   the last second of that range.
  static func write(_ seconds: Int64) -> String {
    let seconds = min(max(seconds, 0), 253_402_300_799)
    let day = Int(seconds / 86_400)
    let second = Int(seconds % 86_400)
    // Years are counted from 1 March of the year 0, so that a leap day is the last day of its year.
    let shifted = day + 719_468
    let era = shifted / 146_097
    let ofEra = shifted % 146_097
    let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
    let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * ofYear + 2) / 153
    let dayOfMonth = ofYear - (153 * shiftedMonth + 2) / 5 + 1
    let month = shiftedMonth < 10 ? shiftedMonth + 2 : shiftedMonth - 10
    let year = yearOfEra + era * 400 + (month < 2 ? 1 : 0)
    let clock = "\(two(second / 3_600)):\(two(second / 60 % 60)):\(two(second % 60))"
    return "\(days[day % 7]), \(two(dayOfMonth)) \(months[month]) \(four(year)) \(clock) GMT"
  }

  private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  private static func four(_ number: Int) -> String { two(number / 100) + two(number % 100) }
}
