// The time for a token. An answer that the provider cannot be reached comes after seconds, and a user who named a longer time wants
// it used: the command asks again until then.

import EnrollCore
import EnrollPosix

/// How long one command asks for a token.
struct TokenWait {
  /// Whether the user named the time.
  private let isNamed: Bool
  private let end: Instant

  /// Begins now.
  init(seconds: Int64, isNamed: Bool, _ session: CommandSession) {
    self.isNamed = isNamed
    end = session.instant.advanced(bySeconds: seconds)
  }

  /// Seconds that are left, rounded up.
  func secondsLeft(_ session: CommandSession) -> Int64 {
    max(0, (end.since(session.instant) + 999_999_999) / 1_000_000_000)
  }

  /// Waits until it is worth asking again.
  /// - Returns: false where the report is the last word.
  /// - Throws: `.cancelled` once the user asked for the end.
  func asksAgain(after report: TokenReport, _ session: CommandSession) throws(Failure) -> Bool {
    guard isNamed, report.mayComeLater else { return false }
    let pause = max(1, report.retryAfterSeconds ?? 1)
    guard pause < secondsLeft(session) else { return false }
    try session.pause(seconds: pause)
    return true
  }
}
