// Runs one renewal of an account at a time in this process. Any number of callers can join the renewal. Renewals for
// other audiences wait for the running renewal, because all of them use the same refresh token. No caller owns a
// renewal: when a caller's deadline passes, only that caller returns, and the renewal runs to its end, because a
// refresh token that was sent is used up (reliability.md, One renewal, step by step). This type knows nothing about
// tokens.

public import EnrollRules
public import EnrollSteps
public import EnrollPosix

/// Runs a job once for all callers that ask for the same audience while the job waits or runs.
public final class RenewalCoordinator<Outcome: Sendable>: @unchecked Sendable {
  // Unchecked: all mutable state is only touched with `condition` held.

  /// The answer to a caller.
  public enum Answer: Sendable {
    /// The job ended while the caller waited.
    case finished(Outcome)
    /// The caller's deadline passed first. The job continues.
    case deadlinePassed
    /// The caller's cancellation came first. The job continues.
    case cancelled
    /// The caller joined no job. The error is `.forked`, or `.busy` if no thread could be started or this coordinator
    /// is draining.
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
    var request: RenewalRequest
    var hasStarted = false
    var callers: [UInt64: Caller] = [:]

    init(_ request: RenewalRequest) { self.request = request }
  }

  private let pool: WorkerPool
  private let timers: TimerQueue
  private let clock: any Clock
  private let job: @Sendable (RenewalRequest) -> Outcome
  private let origin = ForkGuard()
  private let condition = Condition()
  /// The first flight is running while ``hasThread`` is true; all other flights wait.
  private var flights: [Flight] = []
  private var hasThread = false
  private var nextID: UInt64 = 1
  private var running = 0
  private var isDraining = false

  /// - Parameter job: runs on a thread of `pool`, or on a separate thread while the pool is full, because the pool's
  ///   jobs may be waiting for this job. The job itself limits how long it runs.
  public init(
    pool: WorkerPool, timers: TimerQueue, clock: any Clock,
    job: @escaping @Sendable (RenewalRequest) -> Outcome
  ) {
    self.pool = pool
    self.timers = timers
    self.clock = clock
    self.job = job
  }

  /// Joins the audience's job, or starts one, without blocking the caller's thread.
  /// - Parameters:
  ///   - request: added to the requests of a job that has not started yet.
  ///   - deadline: when the caller's timeout ends. A deadline that has passed already still starts the job.
  ///   - completion: called exactly once, with no lock held, on a thread of the library or on the thread that cancels;
  ///     perhaps before this returns. The completion must be short, because other completions wait for it.
  public func join(
    _ request: RenewalRequest = RenewalRequest(), deadline: Instant, cancellation: (any Cancellation)? = nil,
    completion: @escaping Completion
  ) {
    guard let (flight, id) = addCaller(request, completion) else { return }
    if deadline != .distantFuture {
      let timer = timers.run(at: deadline) { self.answerEarly(flight, id, .deadlinePassed) }
      guard let timer else {
        answerEarly(flight, id, .refused(Self.noThread))
        return
      }
      setTimer(timer, flight, id)
    }
    watch(cancellation, flight, id)
  }

  /// Joins the audience's job, or starts one, and waits for it.
  public func join(
    _ request: RenewalRequest = RenewalRequest(), deadline: Instant, cancellation: (any Cancellation)? = nil
  ) -> Answer {
    let blocked = BlockedCaller()
    guard let (flight, id) = addCaller(request, { blocked.set($0) }) else { return blocked.answer() }
    watch(cancellation, flight, id)
    if !blocked.wait(until: deadline, by: clock) { answerEarly(flight, id, .deadlinePassed) }
    return blocked.answer()
  }

  /// From now on, no job is started. Returns when the started jobs have ended and their callers have been answered.
  public func drain() {
    if origin.isForkedChild || ExitBarrier.isExiting { return }
    condition.lock()
    defer { condition.unlock() }
    isDraining = true
    while running > 0 { condition.wait() }
  }

  /// Adds the caller to the audience's job, and starts that job if there is none.
  /// - Returns: nil if the caller was refused; the caller has already got its answer then.
  private func addCaller(_ request: RenewalRequest, _ completion: @escaping Completion) -> (Flight, UInt64)? {
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
    if let flight = flights.first(where: { $0.request.audience == request.audience }) {
      if !flight.hasStarted { flight.request.add(request) }
      flight.callers[id] = Caller(completion: completion)
      condition.unlock()
      return (flight, id)
    }
    let flight = Flight(request)
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
    EnrollError.noThread(" for the renewal")
  }

  /// Starts the flight on a thread. The caller holds the condition, so that the job cannot end before the flight is in
  /// the list.
  private func start(_ flight: Flight) -> Bool {
    let run: @Sendable () -> Void = {
      var flight = flight
      while let next = self.finish(flight, self.job(self.startedRequest(flight))) { flight = next }
    }
    return pool.submitNow(run) || BackgroundThread.start(run)
  }

  /// The requests of all callers of this flight. Callers that join later cannot change them.
  private func startedRequest(_ flight: Flight) -> RenewalRequest {
    condition.locked {
      flight.hasStarted = true
      return flight.request
    }
  }

  /// Answers the callers of a flight.
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
  private func answerEarly(_ flight: Flight, _ id: UInt64, _ answer: Answer) {
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

  private func setTimer(_ timer: UInt64, _ flight: Flight, _ id: UInt64) {
    condition.lock()
    let isWaiting = flight.callers[id] != nil
    if isWaiting { flight.callers[id]?.timer = timer }
    condition.unlock()
    if !isWaiting { timers.cancel(timer) }
  }

  private func watch(_ cancellation: (any Cancellation)?, _ flight: Flight, _ id: UInt64) {
    guard let cancellation else { return }
    let hook = cancellation.onCancel { self.answerEarly(flight, id, .cancelled) }
    condition.lock()
    let isWaiting = flight.callers[id] != nil
    if isWaiting {
      flight.callers[id]?.cancellation = cancellation
      flight.callers[id]?.hook = hook
    }
    condition.unlock()
    if !isWaiting { cancellation.removeHook(hook) }
  }

  /// Holds the answer for a caller that blocks its thread.
  private final class BlockedCaller: @unchecked Sendable {
    // Unchecked: `answered` is only touched with `condition` held.
    private let condition = Condition()
    private var answered: Answer?

    func set(_ answer: Answer) {
      condition.lock()
      answered = answer
      condition.wakeAll()
      condition.unlock()
    }

    /// - Returns: whether there is an answer.
    func wait(until deadline: Instant, by clock: any Clock) -> Bool {
      condition.lock()
      defer { condition.unlock() }
      while answered == nil {
        guard let limit = Timeout.left(until: deadline, by: clock) else { return false }
        condition.wait(atMost: limit)
      }
      return true
    }

    func answer() -> Answer {
      condition.lock()
      defer { condition.unlock() }
      while true {
        if let answered { return answered }
        condition.wait()
      }
    }
  }
}
