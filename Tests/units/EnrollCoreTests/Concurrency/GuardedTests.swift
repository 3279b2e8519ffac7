import EnrollSteps
import Expectations
import Testing

/// A lock that records whether it is held.
private final class WatchedLock: Lock, @unchecked Sendable {
  // Unchecked: one test uses it on one thread.
  private(set) var isHeld = false
  private(set) var holds = 0

  func lock() {
    isHeld = true
    holds += 1
  }

  func unlock() { isHeld = false }
}

@Suite("A value that threads share")
struct GuardedTests {
  @Test("is touched once, while its lock is held, and the lock is given back")
  func held() {
    let lock = WatchedLock()
    let value = Guarded(1, by: lock)
    let seen = value.withLock { value -> Bool in
      value += 1
      return lock.isHeld
    }
    #expect(seen)
    #expect(!lock.isHeld)
    expect(lock.holds, is: 1)
    expect(value.withLock { $0 }, is: 2)
  }

  @Test("a lock runs what it is given once, while it is held")
  func locked() {
    let lock = WatchedLock()
    #expect(lock.locked { lock.isHeld })
    #expect(!lock.isHeld)
    expect(lock.holds, is: 1)
  }
}
