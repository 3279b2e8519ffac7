// Times for readers, in UTC: the gateway does not know the user's time zone, so pages name UTC.

/// A moment in the Gregorian calendar, UTC.
struct CalendarTime: Equatable {
  let year: Int64
  let month: Int
  let day: Int
  let hour: Int
  let minute: Int

  /// - Parameter seconds: since 1970. A time outside of the years 1 to 9999 is replaced by the first or the last second
  ///   of these years.
  init(_ seconds: Int64) {
    let seconds = min(max(seconds, -62_135_596_800), 253_402_300_799)
    // Division rounds down: a time before 1970 belongs to the earlier day.
    let days = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
    let rest = Int(seconds - days * 86_400)
    hour = rest / 3600
    minute = rest % 3600 / 60
    // In this calculation years begin in March, so that a leap day is the last day of its year; 400 years have 146,097
    // days.
    let shifted = days + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = Int(dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100))
    let marchMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
    month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// `24 November 2026`
  func day(_ texts: Texts) -> String {
    let months = texts.catalogue.months
    let name = months.indices.contains(month - 1) ? months[month - 1] : String(month)
    return texts(.dateDay, [.day: String(day), .month: name, .year: String(year)]).plain
  }

  /// `24 November 2026, 09:05 UTC`
  func moment(_ texts: Texts) -> String {
    texts(.dateMoment, [.date: day(texts), .time: Self.two(hour) + ":" + Self.two(minute)]).plain
  }

  /// The day as the attribute `datetime` has it: `2026-11-24` (HTML §2.3.5).
  var machineDay: String {
    let digits = String(year)
    return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits + "-" + Self.two(month) + "-"
      + Self.two(day)
  }

  /// For the attribute `datetime`: `2026-11-24T09:05Z`.
  var machineText: String { machineDay + "T" + Self.two(hour) + ":" + Self.two(minute) + "Z" }

  private static func two(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
}

/// Times in the output of the operator's commands.
public enum MomentText {
  /// - Parameter seconds: since 1970.
  /// - Returns: `2026-11-24 09:05:07 UTC`.
  public static func utc(_ seconds: Int64) -> String {
    let time = CalendarTime(seconds)
    let second = Int(((seconds % 60) + 60) % 60)
    let parts = [time.hour, time.minute, second].map { ($0 < 10 ? "0" : "") + String($0) }
    return time.machineDay + " " + parts.joined(separator: ":") + " UTC"
  }
}
