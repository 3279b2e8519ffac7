// Mutual exclusion between the threads of this process.

import EnrollRules

/// Mutual exclusion between the threads of this process, for the few caches that Core keeps in memory.
public protocol Lock: AnyObject, Sendable {
  /// Returns once the calling thread holds the lock: every other thread waits here until ``unlock()``. Not re-entrant.
  func lock()
  /// Releases the lock. Called by the thread that holds the lock.
  func unlock()
}

extension Lock {
  /// Runs `body` with the lock held.
  public func locked<Result>(_ body: () -> Result) -> Result {
    lock()
    defer { unlock() }
    return body()
  }
}
