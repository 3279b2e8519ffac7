// The four small interfaces on which every step stands, with Transport and TokenStore: nothing else reaches the world.

/// Where time comes from. Injected, so that a test can live through a month in a second.
public protocol Clock: AnyObject, Sendable {
  /// The device's idea of the date; may be wrong by years.
  func wallTime() -> UnixTime
  /// Monotonic within a boot, counting suspend.
  func instant() -> Instant
  /// Changes with every boot; monotonic instants of another boot mean nothing.
  func bootID() -> String
  /// Holds the thread until `instant`: between two tries of a request, never longer than a few seconds.
  func sleep(until instant: Instant)
}

/// Where random bytes come from.
public protocol RandomSource: AnyObject, Sendable {
  /// `count` bytes from a cryptographic generator.
  /// - Throws: `.internal` when the system has none to give; never weaker bytes instead.
  func bytes(_ count: Int) throws(EnrollError) -> [UInt8]
}

/// Mutual exclusion between the threads of this process, for the few caches that Core keeps in memory.
public protocol Lock: AnyObject, Sendable {
  /// Returns once the calling thread holds the lock: every other thread waits here until ``unlock()``. Not re-entrant.
  func lock()
  /// Called by the thread that holds the lock.
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

/// A caller's wish to stop waiting. Checked by steps between, and by the transport during, requests.
public protocol Cancellation: AnyObject, Sendable {
  /// Whether the wait is to end now.
  var isCancelled: Bool { get }
  /// Runs `hook` once when the wish is made, on the thread that makes it; at once where it already was. Hooks are
  /// short and never block: they wake a sleeper.
  /// - Returns: a ticket for ``removeHook(_:)``.
  func onCancel(_ hook: @escaping @Sendable () -> Void) -> Int
  /// Forgets a hook. It may be running on another thread while this returns, so it must hold what it uses.
  func removeHook(_ ticket: Int)
}
