// The time for a token. An answer that the provider cannot be reached comes after seconds, and a user who named a longer time wants
// it used: the command asks again until then.

import EnrollCore
import EnrollPosix

/// How long one command asks for a token.
struct TokenWait {
  /// Whether the user named the time.
  private let isNamed: Bool
  /// Where the process was not stopped.
  private let end: Instant
  private let stoppedBefore: Int64
  /// What of the time in which the process was stopped is known to the last question.
  private var known: Int64

  /// Begins now.
  init(seconds: Int64, isNamed: Bool, _ session: CommandSession) {
    self.isNamed = isNamed
    end = session.instant.advanced(bySeconds: seconds)
    stoppedBefore = session.stoppedNanoseconds
    known = stoppedBefore
  }

  /// Seconds that are left, rounded up. Only time in which the process runs counts.
  func secondsLeft(_ session: CommandSession) -> Int64 {
    let stopped = session.stoppedNanoseconds - stoppedBefore
    return max(0, (end.advanced(byNanoseconds: stopped).since(session.instant) + 999_999_999) / 1_000_000_000)
  }

  /// Waits until it is worth asking again.
  /// - Returns: false where the report is the last word.
  /// - Throws: `.cancelled` once the user asked for the end.
  mutating func asksAgain(after report: TokenReport, _ session: CommandSession) throws(Failure) -> Bool {
    // The library's limit passed while the process was stopped.
    if session.stoppedNanoseconds > known, report.hasTimedOut, secondsLeft(session) > 0 {
      known = session.stoppedNanoseconds
      return true
    }
    guard isNamed, report.mayComeLater else { return false }
    let pause = max(1, report.retryAfterSeconds ?? 1)
    guard pause < secondsLeft(session) else { return false }
    try session.pause(seconds: pause)
    return true
  }
}
