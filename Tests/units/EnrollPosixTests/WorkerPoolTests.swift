// Tests of the pool of threads for work that must not block a caller's thread.

@testable import EnrollPosix
import EnrollRules
import EnrollSteps
import EnrollTesting
import Expectations
import Synchronization
import Testing

struct WorkerPoolTests {
  @Test("every accepted job runs exactly once before drain returns, and none is accepted afterwards")
  func drains() {
    let pool = WorkerPool(threads: 3)
    let ran = Atomic<Int>(0)
    for _ in 0..<1000 { #expect(pool.submit { ran.add(1, ordering: .relaxed) }) }
    pool.drain()
    expect(ran.load(ordering: .relaxed), is: 1000)
    #expect(!pool.submit { ran.add(1, ordering: .relaxed) })
    #expect(!pool.submitNow { ran.add(1, ordering: .relaxed) })
    pool.drain()
    expect(ran.load(ordering: .relaxed), is: 1000)
  }

  @Test("no more threads run than the limit, and jobs beyond the queue are refused")
  func bounded() {
    let pool = WorkerPool(threads: 2, queue: 3)
    let gate = Event()
    let started = [Event(), Event()]
    let most = Atomic<Int>(0)
    let now = Atomic<Int>(0)
    let job: @Sendable (Event?) -> Void = { started in
      let running = now.add(1, ordering: .sequentiallyConsistent).newValue
      most.max(running, ordering: .sequentiallyConsistent)
      started?.set()
      gate.wait()
      now.subtract(1, ordering: .sequentiallyConsistent)
    }
    for event in started {
      #expect(pool.submit { job(event) })
      event.wait()
    }
    #expect(!pool.submitNow { job(nil) }, "both threads are busy")
    for _ in 0..<3 { #expect(pool.submit { job(nil) }) }
    #expect(!pool.submit { job(nil) }, "the queue holds three")
    gate.set()
    pool.drain()
    expect(most.load(ordering: .relaxed), is: 2)
  }

  @Test("a job that has a limit of its own is refused over it, and other jobs are not")
  func jobLimit() {
    let pool = WorkerPool(threads: 1, queue: .max)
    let gate = Event()
    let started = Event()
    let job: WorkerPool.Job = {}
    #expect(
      pool.submit {
        started.set()
        gate.wait()
      })
    started.wait()
    for _ in 0..<2 { #expect(pool.submit(job, limit: 2)) }
    #expect(!pool.submit(job, limit: 2))
    #expect(pool.submit(job))
    gate.set()
    pool.drain()
  }

  @Test("threads without work leave, and come back with work")
  func idleThreadsLeave() {
    let pool = WorkerPool(threads: 2, idleSeconds: 0)
    for _ in 0..<50 {
      let done = Event()
      #expect(pool.submit { done.set() })
      done.wait()
    }
    pool.drain()
  }

  @Test("a job's own memory goes with it")
  func releases() {
    final class Witness: Sendable {
      let gone: Event
      init(_ gone: Event) { self.gone = gone }
      deinit { gone.set() }
    }
    let pool = WorkerPool(threads: 1)
    let gate = Event()
    let gone = Event()
    #expect(pool.submit { gate.wait() })
    submitWitness(gone)
    func submitWitness(_ gone: Event) {
      let witness = Witness(gone)
      #expect(pool.submit { _ = witness.gone })
    }
    for _ in 0..<5 { #expect(pool.submit {}) }
    gate.set()
    gone.wait()
    pool.drain()
  }
}
