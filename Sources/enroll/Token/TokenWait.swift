// How long a command waits for a token. An unreachable provider is reported after a few seconds. If the user set a
// longer timeout, the command asks again until that timeout ends.

import EnrollRules
import EnrollPosix

/// The time that one command has to get a token.
struct TokenWait {
  /// Whether the user set the timeout.
  private let isNamed: Bool
  /// The instant at which the time ends, if the process is never stopped.
  private let end: Instant
  private let stoppedBefore: Int64
  /// How long the process had been stopped at the last request.
  private var known: Int64

  /// The time begins now.
  init(seconds: Int64, isNamed: Bool, _ session: CommandSession) {
    self.isNamed = isNamed
    end = session.instant.advanced(bySeconds: seconds)
    stoppedBefore = session.stoppedNanoseconds
    known = stoppedBefore
  }

  /// The seconds that are left, rounded up. Only time in which the process runs counts.
  func secondsLeft(_ session: CommandSession) -> Int64 {
    let stopped = session.stoppedNanoseconds - stoppedBefore
    return max(0, (end.advanced(byNanoseconds: stopped).since(session.instant) + 999_999_999) / 1_000_000_000)
  }

  /// Waits until another request makes sense.
  /// - Returns: false if the report is final.
  /// - Throws: `.cancelled` after the user pressed Ctrl-C.
  mutating func asksAgain(after report: TokenReport, _ session: CommandSession) throws(Failure) -> Bool {
    // The library's timeout passed while the process was stopped.
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
