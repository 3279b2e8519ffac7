// A few threads for work that must not block a caller's thread: callbacks, renewals, requests of the daemon. Threads
// start when there is work and end when there is none. They block signals, which belong to the host, and their number
// is limited.

package import EnrollRules

/// A limited pool of threads, which start when they are needed.
public final class WorkerPool: @unchecked Sendable {
  // Unchecked: all state is only touched with `condition` held.
  public typealias Job = @Sendable () -> Void

  /// The maximum number of threads at once.
  public let threadLimit: Int
  /// The maximum number of jobs that may wait for a thread. A further job is refused.
  public let queueLimit: Int

  private let condition = Condition()
  private let origin = ForkGuard()
  private let idleNanoseconds: Int64
  private var waiting = JobList()
  private var threads = 0
  private var idle = 0
  private var isDraining = false

  /// - Parameters:
  ///   - threads: the maximum number of threads at once, at least 1.
  ///   - queue: the maximum number of jobs that may wait for a thread.
  ///   - idleSeconds: how long a thread without work waits before it ends.
  public init(threads: Int = 8, queue: Int = 65_536, idleSeconds: Int64 = 10) {
    threadLimit = max(1, threads)
    queueLimit = max(0, queue)
    idleNanoseconds = max(0, min(idleSeconds, 86_400)) * 1_000_000_000
  }

  /// Runs `job` on a thread of the pool, at once or when a thread becomes free. Jobs start in the order of their
  /// submission.
  /// - Parameter limit: the maximum number of jobs that may be waiting when this job is submitted. A lower limit
  ///   refuses this kind of job earlier than others.
  /// - Returns: false if the job will never run: the pool is draining, its queue is full, no thread could be started,
  ///   or this process was forked after the pool was made.
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

  /// Runs `job` on a free thread of the pool, now or not at all: for work that the busy threads may be waiting for.
  /// - Returns: false if every thread is busy, and for the reasons of ``submit(_:)``.
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

  /// Accepts no more jobs, and returns once every accepted job has run and every thread has ended. Must not be called
  /// from a job of this pool. A second call waits as well; a call from an exit handler does not wait.
  public func drain() {
    if origin.isForkedChild || ExitBarrier.isExiting { return }
    condition.lock()
    defer { condition.unlock() }
    isDraining = true
    condition.wakeAll()
    while threads > 0 { condition.wait() }
  }

  /// The current numbers of waiting jobs and of threads; both are 0 in a child of fork().
  public var load: (waiting: Int, threads: Int) {
    if origin.isForkedChild { return (0, 0) }
    condition.lock()
    defer { condition.unlock() }
    return (waiting.count, threads)
  }

  /// Starts a thread, which keeps the pool alive until the thread ends. Called with the condition held.
  @discardableResult
  private func start() -> Bool {
    guard BackgroundThread.start({ self.work() }) else { return false }
    threads += 1
    return true
  }

  private func work() {
    condition.lock()
    while let job = next() {
      condition.unlock()
      job()
      // If the job forked, this code also runs in the child, where all other jobs belong to the parent.
      if origin.isForkedChild { return }
      condition.lock()
    }
    threads -= 1
    if threads == 0 { condition.wakeAll() }
    condition.unlock()
  }

  /// The next job; nil if this thread is no longer needed. Called with the condition held.
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

/// A queue in an array. It is a value without a lock: its owner protects it.
package struct JobList {
  private var jobs: [WorkerPool.Job] = []
  private var first = 0

  package init() {}

  package var count: Int { jobs.count - first }

  /// The job that ``takeFirst()`` would return.
  package var next: WorkerPool.Job? { first < jobs.count ? jobs[first] : nil }

  package mutating func append(_ job: @escaping WorkerPool.Job) { jobs.append(job) }

  package mutating func takeFirst() -> WorkerPool.Job? {
    guard first < jobs.count else { return nil }
    let job = jobs[first]
    // Releases the job now, because the objects that the job references must not outlive the job.
    jobs[first] = {}
    first += 1
    // Removes the taken jobs in batches, because each removal moves the rest.
    if first * 2 >= jobs.count {
      jobs.removeFirst(first)
      first = 0
    }
    return job
  }
}

extension EnrollError {
  /// The error `.busy` for a job that ``WorkerPool/submit(_:limit:)`` refused.
  /// - Parameter words: the rest of the error's sentence: what the thread was for, or another possible reason.
  package static func noThread(_ words: String = "", field: String? = nil) -> EnrollError {
    EnrollError(
      .busy,
      "no thread could be started\(words). End other programs or raise the limits of threads and memory (ulimit -u, ulimit -v), then try again",
      field: field)
  }
}
