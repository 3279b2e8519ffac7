// Tests of the clock, randomness, waiting and cancelling, on the real machine.

@testable import EnrollPosix
import EnrollRules
import EnrollTesting
import Expectations
import Synchronization
import Testing

struct SystemTests {
  @Test("the boot has one name, and the instant never goes back")
  func clock() {
    let clock = SystemClock()
    expect(clock.bootID(), is: SystemClock().bootID())
    expect(clock.bootID().utf8.count, is: 36)
    let first = clock.instant()
    #expect(clock.instant() >= first)
    #expect(clock.wallTime() > UnixTime(seconds: 1_700_000_000))
  }

  @Test("sleeping until an instant reaches it")
  func sleeps() {
    let clock = SystemClock()
    let until = clock.instant().advanced(byNanoseconds: 2_000_000)
    clock.sleep(until: until)
    #expect(clock.instant() >= until)
    clock.sleep(until: Instant(nanoseconds: 0))
  }

  @Test("random bytes come in the asked number and never twice")
  func random() throws {
    let source = SystemRandomSource()
    #expect(try source.bytes(0).isEmpty)
    try expect(source.bytes(70_000).count, is: 70_000)
    try expect(source.bytes(32), isNot: source.bytes(32))
    #expect(throws: EnrollError.self) { try source.bytes(-1) }
    #expect(throws: EnrollError.self) { try source.bytes(Int.max) }
  }

  @Test("a wait ends with its event, and without it at the deadline of the injected clock")
  func event() {
    let clock = FakeClock()
    let event = Event()
    #expect(!event.wait(until: clock.instant(), by: clock))
    let pool = WorkerPool()
    #expect(pool.submit { event.set() })
    #expect(event.wait(until: .distantFuture, by: clock))
    #expect(event.isSet)
    pool.drain()
  }

  @Test("every hook runs exactly once, also one that comes after the cancellation")
  func cancellation() {
    let flag = CancellationFlag()
    let early = Atomic<Int>(0)
    let forgotten = Atomic<Int>(0)
    let late = Atomic<Int>(0)
    _ = flag.onCancel { early.add(1, ordering: .relaxed) }
    let ticket = flag.onCancel { forgotten.add(1, ordering: .relaxed) }
    flag.removeHook(ticket)
    #expect(!flag.isCancelled)
    flag.cancel()
    flag.cancel()
    _ = flag.onCancel { late.add(1, ordering: .relaxed) }
    #expect(flag.isCancelled)
    expect(early.load(ordering: .relaxed), is: 1)
    expect(forgotten.load(ordering: .relaxed), is: 0)
    expect(late.load(ordering: .relaxed), is: 1)
  }
}
