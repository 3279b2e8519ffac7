// The sign-ins whose authorization code this replica has sent to the provider, so that no code is sent twice. Other
// replicas do not share this memory: if another replica gets the same code, the provider has to refuse it. The memory
// has a limit. While the limit is not reached, a sign-in is kept at least as long as its cookie lives, and at most
// twice as long.

import EnrollRules
import EnrollSteps

/// The sign-ins whose code was sent, each by the name of its cookie.
final class FinishedAttempts: Sendable {
  /// The names in `earlier` are older than the names in `current`. All names in `earlier` are dropped together.
  private struct Sets {
    var began = Instant(nanoseconds: .min)
    var current: Set<String> = []
    var earlier: Set<String> = []
  }

  /// The maximum number of names in one set. Each name belongs to a cookie that the gateway sealed; over the limit the
  /// oldest names are dropped early.
  private let most: Int
  private let clock: any Clock
  private let sets: Guarded<Sets>

  init(most: Int = 50_000, clock: any Clock, lock: any Lock) {
    self.most = most
    self.clock = clock
    sets = Guarded(Sets(), by: lock)
  }

  /// Adds the name of a sign-in whose code is about to be sent.
  /// - Returns: false if the name is already in a set.
  func insert(_ name: String) -> Bool {
    let now = clock.instant()
    return sets.withLock { sets in
      if now >= sets.began.advanced(bySeconds: Attempt.cookieSeconds) || sets.current.count >= most {
        sets = Sets(began: now, earlier: sets.current)
      }
      guard !sets.earlier.contains(name) else { return false }
      return sets.current.insert(name).inserted
    }
  }

  /// Removes the name of a sign-in whose code was not sent, so that the same answer may come again.
  func remove(_ name: String) {
    sets.withLock { sets in
      sets.current.remove(name)
      sets.earlier.remove(name)
    }
  }
}
