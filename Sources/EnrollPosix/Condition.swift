// A pthread mutex with a condition variable. Waits use the monotonic clock, so that setting the date neither prolongs
// nor ends a wait. For the library's own modules; hosts never see it.

import CPosix
public import EnrollRules
public import EnrollSteps

/// A mutex on which threads can also wait. The state that it protects belongs to the class that owns the condition.
public final class Condition: Lock, @unchecked Sendable {
  // Unchecked: pthread mutexes and condition variables may be shared between threads.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  public init() {
    mutex = .allocate(capacity: 1)
    condition = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    enroll_posix_make_condition(condition)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  public func lock() { pthread_mutex_lock(mutex) }
  public func unlock() { pthread_mutex_unlock(mutex) }

  /// Waits, with the mutex held, until another thread wakes this thread or `limit` nanoseconds have passed; with nil
  /// there is no limit. Spurious wake-ups are possible, so callers check their state again.
  public func wait(atMost limit: Int64? = nil) {
    if let limit, limit <= 0 { return }
    let isOurs = ExitBarrier.beginWait()
    if let limit {
      // Waits at most a day, so that the sum of the time now and `limit` cannot overflow. Callers check their clocks
      // after a wait anyway.
      enroll_posix_wait_condition(condition, mutex, min(limit, 86_400_000_000_000))
    } else {
      pthread_cond_wait(condition, mutex)
    }
    if isOurs, !ExitBarrier.endWait() {
      unlock()
      ExitBarrier.blockUntilExit()
    }
  }

  public func wakeOne() { pthread_cond_signal(condition) }
  public func wakeAll() { pthread_cond_broadcast(condition) }
}

/// An event that happens once, and for which threads can wait.
public final class Event: @unchecked Sendable {
  // Unchecked: `happened` is only touched with `condition` held.
  private let condition = Condition()
  private var happened = false

  public init() {}

  public func set() {
    condition.lock()
    happened = true
    condition.wakeAll()
    condition.unlock()
  }

  public var isSet: Bool {
    condition.lock()
    defer { condition.unlock() }
    return happened
  }

  /// Waits until the event happened or `deadline` passed by `clock`.
  /// - Returns: whether it happened.
  @discardableResult
  public func wait(until deadline: Instant, by clock: any Clock) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    while !happened {
      guard let limit = Timeout.left(until: deadline, by: clock) else { return false }
      condition.wait(atMost: limit)
    }
    return true
  }

  public func wait() {
    condition.lock()
    defer { condition.unlock() }
    while !happened { condition.wait() }
  }

  /// Waits until the event happened, or for `nanoseconds` of the clock that threads wait by. Needs no intermediate
  /// wake-ups.
  /// - Returns: whether it happened.
  package func wait(nanoseconds: Int64) -> Bool {
    let end = SystemClock.monotonic().addingReportingOverflow(nanoseconds).partialValue
    condition.lock()
    defer { condition.unlock() }
    while !happened {
      let left = end &- SystemClock.monotonic()
      guard left > 0 else { return false }
      condition.wait(atMost: left)
    }
    return true
  }
}

/// How long a thread may wait before it reads an injected clock again.
package enum Timeout {
  /// The longest time, in nanoseconds, until a thread notices that an injected clock was set, or that the injected
  /// clock advanced during suspend while the clock of the wait stopped.
  package static let slice: Int64 = 100_000_000

  /// Nanoseconds to wait now; nil when the deadline has passed.
  package static func left(until deadline: Instant, by clock: any Clock) -> Int64? {
    let left = deadline.since(clock.instant())
    return left > 0 ? min(left, slice) : nil
  }
}
