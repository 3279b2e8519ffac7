// A few threads for work that must not hold a caller's thread: callbacks, renewals, requests of the daemon. Threads
// start when there is work and end when there is none, block signals (those belong to the host), and are bounded.

import EnrollCore

/// A bounded pool of threads, started lazily.
public final class WorkerPool: @unchecked Sendable {
  // Unchecked: all state is only touched with `condition` held.
  public typealias Job = @Sendable () -> Void

  /// Most threads at once.
  public let threadLimit: Int
  /// Jobs that may wait for a thread; more are refused.
  public let queueLimit: Int

  private let condition = Condition()
  private let origin = ForkGuard()
  private let idleNanoseconds: Int64
  private var waiting = JobList()
  private var threads = 0
  private var idle = 0
  private var isDraining = false

  /// - Parameters:
  ///   - threads: most threads at once, at least 1.
  ///   - queue: jobs that may wait for a thread.
  ///   - idleSeconds: how long a thread without work stays.
  public init(threads: Int = 8, queue: Int = 65_536, idleSeconds: Int64 = 10) {
    threadLimit = max(1, threads)
    queueLimit = max(0, queue)
    idleNanoseconds = max(0, min(idleSeconds, 86_400)) * 1_000_000_000
  }

  /// Runs `job` on a thread of the pool, at once or when one becomes free. Jobs start in the order they came.
  /// - Parameter limit: jobs that may wait for a thread, where this job is refused earlier than others.
  /// - Returns: false when it will never run: the pool is draining, its queue is full, no thread could be started, or
  ///   this process was forked after the pool was made.
  public func submit(_ job: @escaping Job, limit: Int = .max) -> Bool {
    if origin.isForkedChild || ExitBarrier.isExiting { return false }
    condition.lock()
    defer { condition.unlock() }
    guard !isDraining else { return false }
    let pending = waiting.count
    if idle <= pending, threads < threadLimit { start() }
    guard threads > 0, idle > pending || pending < max(min(queueLimit, limit), threads) else { return false }
    waiting.append(job)
    condition.wakeOne()
    return true
  }

  /// Runs `job` on a free thread of the pool, now or not at all: for work on which the busy threads may be waiting.
  /// - Returns: false when every thread is busy, as well as for the reasons of ``submit(_:)``.
  public func submitNow(_ job: @escaping Job) -> Bool {
    if origin.isForkedChild || ExitBarrier.isExiting { return false }
    condition.lock()
    defer { condition.unlock() }
    let pending = waiting.count
    guard !isDraining else { return false }
    if idle <= pending {
      guard threads < threadLimit, pending == 0, start() else { return false }
    }
    waiting.append(job)
    condition.wakeOne()
    return true
  }

  /// Accepts no more jobs, and returns once every accepted one has run and every thread has left. Not to be called from a
  /// job of this pool. A second call waits as well; one that comes from a handler of exit() does not.
  public func drain() {
    if origin.isForkedChild || ExitBarrier.isExiting { return }
    condition.lock()
    defer { condition.unlock() }
    isDraining = true
    condition.wakeAll()
    while threads > 0 { condition.wait() }
  }

  /// Jobs that wait for a thread, and threads that exist, now; none in a child of fork().
  public var load: (waiting: Int, threads: Int) {
    if origin.isForkedChild { return (0, 0) }
    condition.lock()
    defer { condition.unlock() }
    return (waiting.count, threads)
  }

  /// Called with the condition held. The thread keeps the pool alive until it leaves.
  @discardableResult
  private func start() -> Bool {
    guard PlainThread.start({ self.work() }) else { return false }
    threads += 1
    return true
  }

  private func work() {
    condition.lock()
    while let job = next() {
      condition.unlock()
      job()
      // A job that forked returns twice, and all other jobs are the parent's.
      if origin.isForkedChild { return }
      condition.lock()
    }
    threads -= 1
    if threads == 0 { condition.wakeAll() }
    condition.unlock()
  }

  /// The next job; nil when this thread is not needed any more. Called with the condition held.
  private func next() -> Job? {
    var rested = false
    while true {
      if let job = waiting.takeFirst() { return job }
      if isDraining || rested { return nil }
      idle += 1
      condition.wait(atMost: idleNanoseconds)
      idle -= 1
      rested = true
    }
  }
}

/// A queue in an array. A value: its owner keeps it to itself, or locks.
package struct JobList {
  private var jobs: [WorkerPool.Job] = []
  private var first = 0

  package init() {}

  package var count: Int { jobs.count - first }

  /// What ``takeFirst()`` would take.
  package var next: WorkerPool.Job? { first < jobs.count ? jobs[first] : nil }

  package mutating func append(_ job: @escaping WorkerPool.Job) { jobs.append(job) }

  package mutating func takeFirst() -> WorkerPool.Job? {
    guard first < jobs.count else { return nil }
    let job = jobs[first]
    // Objects that a job holds must not outlive it.
    jobs[first] = {}
    first += 1
    // Taken jobs are dropped in batches: each drop moves the rest.
    if first * 2 >= jobs.count {
      jobs.removeFirst(first)
      first = 0
    }
    return job
  }
}
