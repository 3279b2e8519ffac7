// Tests that only one renewal runs at a time, for any number of callers, and independently of each caller.

@testable import EnrollPosix
import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollTesting
import Expectations
import StoreSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RenewalCoordinatorTests {
  private typealias Coordinator = RenewalCoordinator<Int>

  private let clock = FakeClock()
  private let pool = WorkerPool(threads: 4)
  private let timers: TimerQueue
  private let gate = Event()
  private let started = Event()
  private let runs = Counter()

  private final class Counter: Sendable {
    private let count = Atomic<Int>(0)
    var value: Int { count.load(ordering: .sequentiallyConsistent) }
    func next() -> Int { count.add(1, ordering: .sequentiallyConsistent).newValue }
  }

  init() { timers = TimerQueue(clock: clock, sliceNanoseconds: 1_000_000) }

  /// A coordinator whose job waits at the gate, and returns the number of the run.
  private func coordinator() -> Coordinator {
    let (gate, started, runs) = (gate, started, runs)
    return Coordinator(pool: pool, timers: timers, clock: clock) { _ in
      started.set()
      gate.wait()
      return runs.next()
    }
  }

  private func name(_ answer: Coordinator.Answer) -> String {
    switch answer {
    case .finished(let run): "run \(run)"
    case .deadlinePassed: "deadline"
    case .cancelled: "cancelled"
    case .refused(let error): error.code.name
    }
  }

  /// Collects the answers of callers that hold no thread.
  private final class Answers: Sendable {
    private let names = Guarded<[String]>([], by: Mutex())
    private let wanted: Int
    let complete = Event()
    init(_ wanted: Int) { self.wanted = wanted }
    var all: [String] { names.withLock { $0.sorted() } }
    func add(_ name: String) {
      let count = names.withLock { names in
        names.append(name)
        return names.count
      }
      if count == wanted { complete.set() }
    }
  }

  @Test("callers that come while the job runs share its result, blocked or not")
  func shared() {
    let coordinator = coordinator()
    let answers = Answers(10)
    for _ in 0..<10 { coordinator.join(deadline: .distantFuture) { answers.add(name($0)) } }
    started.wait()
    let blocked = Answers(6)
    let entered = Counter()
    together(7) { index in
      if index < 6 {
        _ = entered.next()
        blocked.add(name(coordinator.join(deadline: .distantFuture)))
      } else {
        while entered.value < 6 { clock.sleep(until: clock.instant()) }
        gate.set()
      }
    }
    answers.complete.wait()
    expect(answers.all, is: Array(repeating: "run 1", count: 10))
    // A blocked caller may have arrived so late that it began the next run.
    #expect(blocked.all.allSatisfy { $0.hasPrefix("run ") })
    coordinator.drain()
  }

  @Test("a caller after the end begins a new run")
  func again() {
    let coordinator = coordinator()
    gate.set()
    expect(name(coordinator.join(deadline: .distantFuture)), is: "run 1")
    expect(name(coordinator.join(deadline: .distantFuture)), is: "run 2")
  }

  @Test("a run gets what its own callers want, whoever else wanted something before it or wants it later")
  func wishes() {
    let taken = Guarded<[RenewalRequest]>([], by: Mutex())
    let (gate, started) = (gate, started)
    let coordinator = Coordinator(pool: pool, timers: timers, clock: clock) { wish in
      taken.withLock { $0.append(wish) }
      started.set()
      gate.wait()
      return 1
    }
    let other = TokenAudience(resource: "https://api.example", scopes: [])
    let answers = Answers(4)
    coordinator.join(RenewalRequest(epochs: [1]), deadline: .distantFuture) { answers.add(name($0)) }
    started.wait()
    // The renewal runs: a further caller joins it, and a caller for another audience waits.
    coordinator.join(RenewalRequest(epochs: [9], isForced: true), deadline: .distantFuture) {
      answers.add(name($0))
    }
    for epoch: UInt64 in [1, 2] {
      coordinator.join(
        RenewalRequest(audience: other, epochs: [epoch], isForced: epoch == 2), deadline: .distantFuture
      ) { answers.add(name($0)) }
    }
    gate.set()
    answers.complete.wait()
    _ = coordinator.join(RenewalRequest(epochs: [3]), deadline: .distantFuture)
    let all = taken.withLock { $0 }
    expect(all.map(\.epochs), is: [[1], [1, 2], [3]])
    expect(all.map(\.isForced), is: [false, true, false])
  }

  @Test("a deadline answers its caller alone: the job goes on, and the others get its result")
  func deadlines() {
    let coordinator = coordinator()
    let patient = Answers(1)
    let impatient = Answers(1)
    coordinator.join(deadline: .distantFuture) { patient.add(name($0)) }
    coordinator.join(deadline: clock.instant().advanced(bySeconds: 5)) { impatient.add(name($0)) }
    started.wait()
    #expect(impatient.all.isEmpty)
    clock.advance(seconds: 5)
    impatient.complete.wait()
    expect(impatient.all, is: ["deadline"])
    expect(name(coordinator.join(deadline: clock.instant())), is: "deadline")
    expect(runs.value, is: 0)
    gate.set()
    patient.complete.wait()
    expect(patient.all, is: ["run 1"])
    coordinator.drain()
    expect(runs.value, is: 1)
  }

  @Test("a cancellation answers its caller alone, before, while or after it joins")
  func cancellations() {
    let coordinator = coordinator()
    let patient = Answers(1)
    coordinator.join(deadline: .distantFuture) { patient.add(name($0)) }
    started.wait()
    let flag = CancellationFlag()
    let leaving = Answers(2)
    coordinator.join(deadline: .distantFuture, cancellation: flag) { leaving.add(name($0)) }
    flag.cancel()
    coordinator.join(deadline: .distantFuture, cancellation: flag) { leaving.add(name($0)) }
    leaving.complete.wait()
    expect(leaving.all, is: ["cancelled", "cancelled"])
    expect(name(coordinator.join(deadline: .distantFuture, cancellation: flag)), is: "cancelled")
    gate.set()
    patient.complete.wait()
    expect(patient.all, is: ["run 1"])
    coordinator.drain()
  }

  @Test("the job gets a thread while every worker of the pool waits for it")
  func fullPool() {
    let coordinator = coordinator()
    let waiting = Answers(4)
    for _ in 0..<4 {
      let joined = pool.submit { waiting.add(name(coordinator.join(deadline: .distantFuture))) }
      #expect(joined)
    }
    started.wait()
    gate.set()
    waiting.complete.wait()
    #expect(waiting.all.allSatisfy { $0.hasPrefix("run ") })
    coordinator.drain()
  }

  @Test("every caller is answered exactly once, whatever happens at the same time")
  func onceEach() {
    for _ in 0..<50 {
      let gate = Event()
      let coordinator = Coordinator(pool: pool, timers: timers, clock: clock) { _ in
        gate.wait()
        return 1
      }
      let answers = Answers(16)
      let flags = (0..<16).map { _ in CancellationFlag() }
      for flag in flags {
        coordinator.join(deadline: clock.instant().advanced(bySeconds: 1), cancellation: flag) {
          answers.add(name($0))
        }
      }
      together(3) { index in
        switch index {
        case 0: gate.set()
        case 1: clock.advance(seconds: 1)
        default: for flag in flags { flag.cancel() }
        }
      }
      answers.complete.wait()
      coordinator.drain()
      expect(answers.all.count, is: 16)
    }
  }

  @Test("draining waits for the running job and its answers, and refuses new callers")
  func drains() {
    let coordinator = coordinator()
    let answers = Answers(1)
    coordinator.join(deadline: .distantFuture) { answers.add(name($0)) }
    started.wait()
    gate.set()
    coordinator.drain()
    expect(answers.all, is: ["run 1"])
    expect(name(coordinator.join(deadline: .distantFuture)), is: "busy")
    expect(runs.value, is: 1)
  }
}
