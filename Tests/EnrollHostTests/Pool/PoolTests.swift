// Threads for work that must not hold a caller's thread.

@testable import EnrollPosix
import EnrollCore
import EnrollHost
import EnrollTesting
import Expectations
import Synchronization
import Testing

struct PoolTests {
  @Test("of thousands of blocks the cancelled ones never run, every other one runs once, in order")
  func manyTimers() {
    let timers = TimerQueue()
    let begin = SystemClock.now()
    let gate = Event()
    // The thread of the timers is held until all are there.
    _ = timers.run(at: begin) { gate.wait() }
    let ran = Guarded<[Int]>([], by: Mutex())
    let done = Event()
    let order = (0..<4000).map { ($0 * 1_237) % 4000 }
    var tickets: [Int: UInt64] = [:]
    for number in order {
      tickets[number] = timers.run(at: begin.advanced(byNanoseconds: Int64(number))) {
        ran.withLock { $0.append(number) }
        if number == 3999 { done.set() }
      }
    }
    for number in order where number % 3 == 1 {
      if let ticket = tickets[number] { timers.cancel(ticket) }
    }
    gate.set()
    done.wait()
    expect(ran.withLock { $0 }, is: (0..<4000).filter { $0 % 3 != 1 })
  }

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

  @Test("timers run in the order of their deadlines, each once, and a cancelled one never")
  func timers() {
    let clock = FakeClock()
    let timers = TimerQueue(clock: clock, sliceNanoseconds: 1_000_000)
    let order = Guarded<[Int64]>([], by: Mutex())
    let done = Event()
    let start = clock.instant()
    for seconds: Int64 in [5, 2, 9, 1, 7, 3, 8, 4, 6] {
      let last = seconds == 9
      let ticket = timers.run(at: start.advanced(bySeconds: seconds)) {
        order.withLock { $0.append(seconds) }
        if last { done.set() }
      }
      expect(ticket, isNot: nil)
      if seconds == 7 || seconds == 1 { ticket.map(timers.cancel) }
    }
    #expect(order.withLock { $0.isEmpty })
    clock.advance(seconds: 9)
    done.wait()
    expect(order.withLock { $0 }, is: [2, 3, 4, 5, 6, 8, 9])
  }
}
