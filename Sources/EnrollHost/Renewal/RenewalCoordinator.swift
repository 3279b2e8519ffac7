// One renewal of an account at a time in this process, and any number of callers that join it. Renewals for other audiences
// wait behind it: all of them spend the same refresh token. A renewal belongs to nobody: a caller whose deadline passes leaves
// alone, and the renewal runs to its end, because a refresh token that was sent is spent (reliability.md, One renewal, step by
// step). Knows nothing of tokens.

public import EnrollCore
public import EnrollPosix

/// Runs a job once for all who ask for it, for the same audience, while it waits or runs.
public final class RenewalCoordinator<Outcome: Sendable>: @unchecked Sendable {
  // Unchecked: all mutable state is only touched with `condition` held.

  /// The answer to a caller.
  public enum Answer: Sendable {
    /// The job ended while the caller waited.
    case finished(Outcome)
    /// The caller's deadline passed first; the job goes on.
    case deadlinePassed
    /// The caller's cancellation came first; the job goes on.
    case cancelled
    /// No job was joined: `.forked`, or `.busy` when the system gives no thread or this coordinator is draining.
    case refused(EnrollError)
  }

  public typealias Completion = @Sendable (Answer) -> Void

  private struct Caller {
    var completion: Completion
    var timer: UInt64?
    var cancellation: (any Cancellation)?
    var hook = 0
  }

  /// One run of the job.
  private final class Flight: @unchecked Sendable {
    // Unchecked: the mutable members are only touched with the coordinator's condition held.
    var wish: RenewalWish
    var hasStarted = false
    var callers: [UInt64: Caller] = [:]

    init(_ wish: RenewalWish) { self.wish = wish }
  }

  private let pool: WorkerPool
  private let timers: TimerQueue
  private let clock: any Clock
  private let job: @Sendable (RenewalWish) -> Outcome
  private let origin = ForkGuard()
  private let condition = Condition()
  /// The first one runs while ``hasThread``; the others wait.
  private var flights: [Flight] = []
  private var hasThread = false
  private var nextID: UInt64 = 1
  private var running = 0
  private var isDraining = false

  /// - Parameter job: runs on a thread of `pool`, or on a thread of its own while the pool is full: those who fill it
  ///   may be waiting for this very job. It bounds its own time.
  public init(
    pool: WorkerPool, timers: TimerQueue, clock: any Clock,
    job: @escaping @Sendable (RenewalWish) -> Outcome
  ) {
    self.pool = pool
    self.timers = timers
    self.clock = clock
    self.job = job
  }

  /// Joins the audience's job, or starts one, without holding the caller's thread.
  /// - Parameters:
  ///   - wish: added to those of a job that has not started yet.
  ///   - deadline: when the caller's timeout ends. A deadline that has passed already still starts the job.
  ///   - completion: called exactly once, with no lock held, on a thread of the library or the one that cancels; may be
  ///     called before this returns. It must be short: others wait behind it.
  public func join(
    _ wish: RenewalWish = RenewalWish(), deadline: Instant, cancellation: (any Cancellation)? = nil,
    completion: @escaping Completion
  ) {
    guard let (flight, id) = enter(wish, completion) else { return }
    if deadline != .distantFuture {
      let timer = timers.run(at: deadline) { self.leave(flight, id, .deadlinePassed) }
      guard let timer else {
        leave(flight, id, .refused(Self.noThread))
        return
      }
      keepTimer(timer, flight, id)
    }
    watch(cancellation, flight, id)
  }

  /// Joins the audience's job, or starts one, and waits for it.
  public func join(
    _ wish: RenewalWish = RenewalWish(), deadline: Instant, cancellation: (any Cancellation)? = nil
  ) -> Answer {
    let seat = Seat()
    guard let (flight, id) = enter(wish, { seat.fill($0) }) else { return seat.answer() }
    watch(cancellation, flight, id)
    if !seat.wait(until: deadline, by: clock) { leave(flight, id, .deadlinePassed) }
    return seat.answer()
  }

  /// Starts no more jobs, and returns when those that were started have ended and their callers are answered.
  public func drain() {
    if origin.isForkedChild || ExitBarrier.isExiting { return }
    condition.lock()
    defer { condition.unlock() }
    isDraining = true
    while running > 0 { condition.wait() }
  }

  /// Gives the caller a place in the audience's job, and starts that job if there is none. nil after it was refused.
  private func enter(_ wish: RenewalWish, _ completion: @escaping Completion) -> (Flight, UInt64)? {
    if origin.isForkedChild {
      completion(.refused(EnrollError(.forked, "this process forked after the client was made")))
      return nil
    }
    if ExitBarrier.isExiting {
      completion(.refused(Self.noThread))
      return nil
    }
    condition.lock()
    let id = nextID
    nextID += 1
    if let flight = flights.first(where: { $0.wish.audience == wish.audience }) {
      if !flight.hasStarted { flight.wish.add(wish) }
      flight.callers[id] = Caller(completion: completion)
      condition.unlock()
      return (flight, id)
    }
    let flight = Flight(wish)
    guard !isDraining, hasThread || start(flight) else {
      let refusal = isDraining ? EnrollError(.busy, "the client is being closed") : Self.noThread
      condition.unlock()
      completion(.refused(refusal))
      return nil
    }
    flight.callers[id] = Caller(completion: completion)
    flights.append(flight)
    hasThread = true
    running += 1
    condition.unlock()
    return (flight, id)
  }

  private static var noThread: EnrollError {
    EnrollError(
      .busy,
      "no thread could be started for the renewal. End other programs or raise the limit of threads (ulimit -u), then try again"
    )
  }

  /// Called with the condition held, so the job cannot end before the flight is known.
  private func start(_ flight: Flight) -> Bool {
    let run: @Sendable () -> Void = {
      var flight = flight
      while let next = self.finish(flight, self.job(self.takeWish(flight))) { flight = next }
    }
    return pool.submitNow(run) || PlainThread.start(run)
  }

  /// Everything that callers of this flight want; later ones add nothing.
  private func takeWish(_ flight: Flight) -> RenewalWish {
    condition.locked {
      flight.hasStarted = true
      return flight.wish
    }
  }

  /// - Returns: the flight that this thread runs next.
  private func finish(_ flight: Flight, _ outcome: Outcome) -> Flight? {
    condition.lock()
    let callers = flight.callers
    flight.callers = [:]
    flights.removeAll { $0 === flight }
    let next = flights.first
    hasThread = next != nil
    condition.unlock()
    for (_, caller) in callers { answer(caller, .finished(outcome)) }
    condition.lock()
    running -= 1
    if running == 0 { condition.wakeAll() }
    condition.unlock()
    return next
  }

  /// Answers one caller before the job ends, unless it was answered already.
  private func leave(_ flight: Flight, _ id: UInt64, _ answer: Answer) {
    condition.lock()
    let caller = flight.callers.removeValue(forKey: id)
    condition.unlock()
    if let caller { self.answer(caller, answer) }
  }

  private func answer(_ caller: Caller, _ answer: Answer) {
    if let timer = caller.timer { timers.cancel(timer) }
    caller.cancellation?.removeHook(caller.hook)
    caller.completion(answer)
  }

  private func keepTimer(_ timer: UInt64, _ flight: Flight, _ id: UInt64) {
    condition.lock()
    let isWaiting = flight.callers[id] != nil
    if isWaiting { flight.callers[id]?.timer = timer }
    condition.unlock()
    if !isWaiting { timers.cancel(timer) }
  }

  private func watch(_ cancellation: (any Cancellation)?, _ flight: Flight, _ id: UInt64) {
    guard let cancellation else { return }
    let hook = cancellation.onCancel { self.leave(flight, id, .cancelled) }
    condition.lock()
    let isWaiting = flight.callers[id] != nil
    if isWaiting {
      flight.callers[id]?.cancellation = cancellation
      flight.callers[id]?.hook = hook
    }
    condition.unlock()
    if !isWaiting { cancellation.removeHook(hook) }
  }

  /// Where a blocked caller's answer is put.
  private final class Seat: @unchecked Sendable {
    // Unchecked: `taken` is only touched with `condition` held.
    private let condition = Condition()
    private var taken: Answer?

    func fill(_ answer: Answer) {
      condition.lock()
      taken = answer
      condition.wakeAll()
      condition.unlock()
    }

    /// Whether there is an answer.
    func wait(until deadline: Instant, by clock: any Clock) -> Bool {
      condition.lock()
      defer { condition.unlock() }
      while taken == nil {
        guard let limit = Timeout.left(until: deadline, by: clock) else { return false }
        condition.wait(atMost: limit)
      }
      return true
    }

    func answer() -> Answer {
      condition.lock()
      defer { condition.unlock() }
      while true {
        if let taken { return taken }
        condition.wait()
      }
    }
  }
}
