// Jobs that wait, first in, first out.

/// A queue in an array. A value: whoever has it keeps it to himself, or locks.
struct JobList {
  private var jobs: [WorkerPool.Job] = []
  private var first = 0

  var count: Int { jobs.count - first }

  /// What ``takeFirst()`` would take.
  var next: WorkerPool.Job? { first < jobs.count ? jobs[first] : nil }

  mutating func append(_ job: @escaping WorkerPool.Job) { jobs.append(job) }

  mutating func takeFirst() -> WorkerPool.Job? {
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
