// Jobs that wait for a thread of the host's: one that has an event loop, and polls a descriptor to know when there are
// any. None is lost when the host gives the queue up: a thread of the queue's own takes over.

import CPosix
public import EnrollCore
public import EnrollPosix

/// Runs jobs one at a time, in the order in which they came, on the threads that call ``dispatch()``.
public final class PolledQueue: @unchecked Sendable {
  // Unchecked: all state is only touched with `exclusion` held.
  private let event: EventDescriptor
  private let exclusion = Mutex()
  private let origin = ForkGuard()
  private var waiting = JobList()
  /// The thread that runs jobs now. It may come again from inside of one: loops can be nested.
  private var runner: UInt?
  private var isRetired = false
  /// Runs the jobs of a retired queue.
  private let successor = WorkerPool(threads: 1, queue: .max, idleSeconds: 1)

  /// - Throws: `.busy` when the process may open no more descriptors.
  public convenience init() throws(EnrollError) { self.init(try EventDescriptor()) }

  private init(_ event: EventDescriptor) { self.event = event }

  /// Readable while jobs wait. Belongs to the queue.
  public var descriptor: Int32 { event.descriptor }

  /// - Throws: `.forked` in a child.
  public func requireUsable() throws(EnrollError) { try origin.check() }

  /// - Parameter limit: jobs that may wait; one that comes when there are as many is refused.
  /// - Returns: false when the job will never run.
  public func submit(_ job: @escaping WorkerPool.Job, limit: Int = .max) -> Bool {
    if origin.isForkedChild { return false }
    return exclusion.locked {
      if isRetired, runner == nil, waiting.count == 0 { return successor.submit(job, limit: limit) }
      guard waiting.count < limit else { return false }
      waiting.append(job)
      if waiting.count == 1 { event.wake() }
      return true
    }
  }

  /// Runs what waits now, on this thread; not what comes meanwhile, so that a loop gets on.
  /// - Returns: how many jobs ran.
  /// - Throws: `.busy` while another thread does the same; `.forked` in a child that one of the jobs forked.
  public func dispatch() throws(EnrollError) -> Int {
    let me = enroll_posix_this_thread()
    var outer: UInt?
    var left = 0
    exclusion.locked {
      outer = runner
      if let outer, outer != me { return }
      runner = me
      left = waiting.count
    }
    if let outer, outer != me {
      throw EnrollError(.busy, "another thread runs the callbacks of this queue", field: "queue")
    }
    var ran = 0
    while ran < left, let job = next() {
      job()
      try origin.check()
      ran += 1
    }
    exclusion.locked { runner = outer }
    handOver()
    return ran
  }

  /// Nobody will call ``dispatch()`` any more.
  public func retire() {
    if origin.isForkedChild { return }
    exclusion.locked { isRetired = true }
    handOver()
  }

  private func next() -> WorkerPool.Job? {
    exclusion.locked { isRetired ? nil : take() }
  }

  /// Called with `exclusion` held.
  private func take() -> WorkerPool.Job? {
    let job = waiting.takeFirst()
    if waiting.count == 0 { event.drain() }
    return job
  }

  /// Gives what waits in a retired queue to its successor, once no other thread runs any of it. A job for which the system
  /// gives no thread runs here. During an exit nothing runs.
  private func handOver() {
    if ExitBarrier.isExiting { return }
    while let job = exclusion.locked({ handedOverUntilRefused() }) {
      job()
      if origin.isForkedChild { return }
      exclusion.locked { runner = nil }
    }
  }

  /// - Returns: the job that the successor refused; this thread is the runner then. Called with `exclusion` held.
  private func handedOverUntilRefused() -> WorkerPool.Job? {
    guard isRetired, runner == nil else { return nil }
    while let job = waiting.next {
      let isAccepted = successor.submit(job)
      _ = take()
      guard !isAccepted else { continue }
      runner = enroll_posix_this_thread()
      return job
    }
    return nil
  }
}
