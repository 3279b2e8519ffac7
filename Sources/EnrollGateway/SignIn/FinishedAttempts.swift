// Sign-ins whose answer this replica has sent to the provider, so that it sends none twice. Other replicas do not share this memory: there
// the provider has to refuse. The memory is bounded; where there is room, it keeps a sign-in at least as long as its cookie lives, and at most twice as long.

import EnrollCore

/// The names of the cookies of such sign-ins.
final class FinishedAttempts: Sendable {
  /// Names are dropped by the set: those of `earlier` came before those of `current`.
  private struct Sets {
    var began = Instant(nanoseconds: .min)
    var current: Set<String> = []
    var earlier: Set<String> = []
  }

  /// Of one set. Each name belongs to a cookie that the gateway sealed: beyond so many the oldest ones are forgotten early.
  private let most: Int
  private let clock: any Clock
  private let sets: Guarded<Sets>

  init(most: Int = 50_000, clock: any Clock, lock: any Lock) {
    self.most = most
    self.clock = clock
    sets = Guarded(Sets(), by: lock)
  }

  /// - Returns: false if the name is there already.
  func take(_ name: String) -> Bool {
    let now = clock.instant()
    return sets.withLock { sets in
      if now >= sets.began.advanced(bySeconds: Attempt.cookieSeconds) || sets.current.count >= most {
        sets = Sets(began: now, earlier: sets.current)
      }
      guard !sets.earlier.contains(name) else { return false }
      return sets.current.insert(name).inserted
    }
  }

  /// Nothing was sent: the same answer may come again.
  func giveBack(_ name: String) {
    sets.withLock { sets in
      sets.current.remove(name)
      sets.earlier.remove(name)
    }
  }
}
