// Jobs that wait for a thread of the host.

@testable import EnrollPosix
import EnrollSteps
import EnrollHost
import EnrollTesting
import Expectations
import Foundation
import Synchronization
import Testing

struct PolledQueueTests {
  private static func isReadable(_ queue: PolledQueue) -> Bool {
    var polled = pollfd(fd: queue.descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&polled, 1, 0) == 1
  }

  @Test("the descriptor is readable exactly while jobs wait, and they run in their order")
  func descriptor() throws {
    let queue = try PolledQueue()
    let order = Guarded<[Int]>([], by: Mutex())
    #expect(!Self.isReadable(queue))
    for number in 0..<100 { #expect(queue.submit { order.withLock { $0.append(number) } }) }
    #expect(Self.isReadable(queue))
    try expect(queue.dispatch(), is: 100)
    expect(order.withLock { $0 }, is: Array(0..<100))
    #expect(!Self.isReadable(queue))
    try expect(queue.dispatch(), is: 0)
  }

  @Test("a job that comes while others run is left for the next time")
  func later() throws {
    let queue = try PolledQueue()
    #expect(queue.submit { _ = queue.submit {} })
    try expect(queue.dispatch(), is: 1)
    #expect(Self.isReadable(queue))
    try expect(queue.dispatch(), is: 1)
  }

  @Test("over its limit a job is refused, and the others are not")
  func limit() throws {
    let queue = try PolledQueue()
    let job: WorkerPool.Job = {}
    #expect(queue.submit(job, limit: 2))
    #expect(queue.submit(job, limit: 2))
    #expect(!queue.submit(job, limit: 2))
    #expect(queue.submit(job))
    try expect(queue.dispatch(), is: 3)
  }

  @Test("what waits in a retired queue runs all the same, and so does what comes later")
  func retired() throws {
    let queue = try PolledQueue()
    let done = [Event(), Event()]
    #expect(queue.submit { done[0].set() })
    queue.retire()
    done[0].wait()
    #expect(queue.submit { done[1].set() })
    done[1].wait()
    try expect(queue.dispatch(), is: 0)
    #expect(!Self.isReadable(queue))
  }

  @Test("a queue that is retired by one of its jobs runs the others after it")
  func retiresItself() throws {
    let queue = try PolledQueue()
    let isRunning = Atomic<Bool>(false)
    let wasAlone = Atomic<Bool>(false)
    let done = Event()
    #expect(
      queue.submit {
        isRunning.store(true, ordering: .relaxed)
        queue.retire()
        sched_yield()
        isRunning.store(false, ordering: .relaxed)
      })
    #expect(
      queue.submit {
        wasAlone.store(!isRunning.load(ordering: .relaxed), ordering: .relaxed)
        done.set()
      })
    try expect(queue.dispatch(), is: 1)
    done.wait()
    let was = wasAlone.load(ordering: .relaxed)
    #expect(was)
  }

  @Test("64 threads submit while one runs: every job once, one at a time")
  func crowd() throws {
    let queue = try PolledQueue()
    let ran = Atomic<Int>(0)
    let running = Atomic<Int>(0)
    let most = Atomic<Int>(0)
    let pool = WorkerPool(threads: 64)
    for _ in 0..<64 {
      #expect(
        pool.submit {
          for _ in 0..<100 {
            _ = queue.submit {
              most.max(running.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
              ran.add(1, ordering: .relaxed)
              running.subtract(1, ordering: .relaxed)
            }
          }
        })
    }
    while ran.load(ordering: .relaxed) < 3200 { _ = try queue.dispatch() }
    // The next queue gets the remaining jobs.
    queue.retire()
    pool.drain()
    while ran.load(ordering: .relaxed) < 6400 { sched_yield() }
    expect(most.load(ordering: .relaxed), is: 1)
    expect(ran.load(ordering: .relaxed), is: 6400)
  }
}
