// A limit for the requests of all callers together. It exists because requests without a session must not fill logs and
// disks.

import EnrollRules
import EnrollSteps

/// Allows a number of calls in each period, for all callers together.
final class RequestBudget: Sendable {
  private struct Period {
    var began = Instant(nanoseconds: .min)
    var used = 0
  }

  private let most: Int
  private let seconds: Int64
  private let clock: any Clock
  private let period: Guarded<Period>

  init(_ most: Int, inSeconds seconds: Int64, clock: any Clock, lock: any Lock) {
    self.most = most
    self.seconds = seconds
    self.clock = clock
    period = Guarded(Period(), by: lock)
  }

  /// Whether one more call is within the budget. A call within the budget is counted.
  func take() -> Bool {
    let now = clock.instant()
    return period.withLock { period in
      if now >= period.began.advanced(bySeconds: seconds) { period = Period(began: now) }
      guard period.used < most else { return false }
      period.used += 1
      return true
    }
  }
}
