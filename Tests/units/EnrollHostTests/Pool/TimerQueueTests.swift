// Blocks that run at a given time.

import EnrollHost
@testable import EnrollPosix
import EnrollRules
import EnrollSteps
import EnrollTesting
import Expectations
import Testing

struct TimerQueueTests {
  @Test("of thousands of blocks the cancelled ones never run, every other one runs once, in order")
  func manyTimers() {
    let timers = TimerQueue()
    let begin = SystemClock.now()
    let gate = Event()
    // The timers' thread is held until all jobs are planned.
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
