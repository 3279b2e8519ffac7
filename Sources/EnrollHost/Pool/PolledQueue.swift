// Jobs that wait for a thread of the host. The host has an event loop, which polls a descriptor that shows whether jobs
// wait. If the host stops polling, a thread of the queue runs the jobs, so that no job is lost.

import CPosix
public import EnrollRules
import EnrollSteps
public import EnrollPosix

/// Runs jobs one at a time, in their order, on the threads that call ``dispatch()``.
public final class PolledQueue: @unchecked Sendable {
  // Unchecked: all state is only touched with `exclusion` held.
  private let event: EventDescriptor
  private let exclusion = Mutex()
  private let origin = ForkGuard()
  private var waiting = JobList()
  /// The thread that runs jobs now. This thread may call ``dispatch()`` again from a job, because event loops can be
  /// nested.
  private var runner: UInt?
  private var isRetired = false
  /// The threads that run the jobs of a retired queue.
  private let successor = WorkerPool(threads: 1, queue: .max, idleSeconds: 1)

  /// Makes a queue with a descriptor of its own.
  /// - Throws: `.busy` if the process cannot open another descriptor.
  public convenience init() throws(EnrollError) { self.init(try EventDescriptor()) }

  private init(_ event: EventDescriptor) { self.event = event }

  /// A descriptor that is readable while jobs wait. The queue owns the descriptor.
  public var descriptor: Int32 { event.descriptor }

  /// Checks that this process may use the queue.
  /// - Throws: `.forked` in a child.
  public func requireUsable() throws(EnrollError) { try origin.check() }

  /// Adds a job to the queue.
  /// - Parameter limit: the maximum number of jobs that may wait. A further job is refused.
  /// - Returns: false if the job will never run.
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

  /// Runs the jobs that wait now, on this thread. Jobs that arrive meanwhile wait for the next call, so that the event
  /// loop continues.
  /// - Returns: how many jobs ran.
  /// - Throws: `.busy` while another thread runs jobs of this queue; `.forked` in a child that one of the jobs forked.
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
    passToSuccessor()
    return ran
  }

  /// Retires the queue: from now on its own threads run the jobs. Call this when the host will not call ``dispatch()``
  /// any more.
  public func retire() {
    if origin.isForkedChild { return }
    exclusion.locked { isRetired = true }
    passToSuccessor()
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

  /// Passes the jobs of a retired queue to its successor, once no other thread runs a job. If no thread can be started
  /// for a job, the job runs on this thread. No job runs while the process exits.
  private func passToSuccessor() {
    if ExitBarrier.isExiting { return }
    while let job = exclusion.locked({ passUntilRefused() }) {
      job()
      if origin.isForkedChild { return }
      exclusion.locked { runner = nil }
    }
  }

  /// Passes jobs to the successor until it refuses one.
  /// - Returns: the job that the successor refused. This thread is then the runner, and has to run the job. The caller
  ///   holds `exclusion`.
  private func passUntilRefused() -> WorkerPool.Job? {
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
