// Closing a client. Running calls are cancelled. No new request is sent, and running requests end: a request whose
// answer may contain a value that is issued only once gets two more seconds; a request that sends a code or a refresh
// token gets the transport's whole timeout (reliability.md, Closing; R39).

public import EnrollRules
import EnrollSteps
public import EnrollPosix

extension Client {
  /// Ties a call to the client: closing the client cancels the call, and the call then fails with an error that says
  /// that the client was closed.
  /// - Returns: the completion to use instead of `completion`.
  public func untilClosed<Value>(
    _ cancellation: CancellationFlag, _ completion: @escaping @Sendable (Result<Value, EnrollError>) -> Void
  ) -> @Sendable (Result<Value, EnrollError>) -> Void {
    // A call after the closing fails with the error for a closed client.
    guard !closing.isCancelled else { return completion }
    let ticket = closing.onCancel { cancellation.cancel() }
    return { [closing] result in
      closing.removeHook(ticket)
      completion(closing.isCancelled ? result.ofClosedClient : result)
    }
  }
}

extension Result where Failure == EnrollError {
  /// The result of a call that began before the client was closed. The handle was valid when the call began, so the
  /// error is `.cancelled`, not `.handle`.
  public var ofClosedClient: Self {
    guard case .failure(let error) = self, error.code == .handle else { return self }
    return .failure(EnrollError(.cancelled, "the client was closed during the call"))
  }
}

/// The three phases in which a client's requests end. This type is a class, because several threads share it.
final class ClosingPhases: Sendable {
  /// The flag that is cancelled first: no request is sent any more, and running requests end.
  let closing = CancellationFlag()
  /// The flag that is cancelled two seconds later: this also ends requests whose answers are issued only once, and
  /// messages of the outbox.
  let gracePeriod = CancellationFlag()
  /// The flag that is cancelled if the process cannot wait any longer: this ends even the requests that wait for
  /// tokens.
  let abandoned = CancellationFlag()

  private static let graceSeconds: Int64 = 2
  /// Timers by the system's clock, not by the client's clock, which a test may control: the grace period limits how
  /// long a real server may take to answer.
  private let timers = TimerQueue()
  private let timer = Guarded<UInt64?>(nil, by: Mutex())
  private let begin = Guarded<Instant?>(nil, by: Mutex())

  /// The instant, by the system's clock, until which closing waits for unsaved tokens to be saved.
  var latest: Instant {
    (begin.withLock { $0 } ?? SystemClock.now()).advanced(bySeconds: HTTPRequest.totalTimeoutSeconds)
  }

  /// Starts the grace period. Call it once.
  /// - Parameter isBusy: as for ``startGraceTimer(isBusy:)``.
  func startGracePeriod(isBusy: Bool) {
    begin.withLock { $0 = SystemClock.now() }
    startGraceTimer(isBusy: isBusy)
  }

  /// Sets the timer that ends the grace period, if the grace period has begun.
  /// - Parameter isBusy: whether any request is running that the timer would end. If no such request is running, no
  ///   timer is started, because the timer's thread would cost more than the rest of the closing.
  func startGraceTimer(isBusy: Bool) {
    guard isBusy, let begun = begin.withLock({ $0 }) else { return }
    let isBounded = timer.withLock { timer -> Bool in
      guard timer == nil else { return true }
      let end = begun.advanced(bySeconds: Self.graceSeconds)
      timer = timers.run(at: end) { [gracePeriod] in gracePeriod.cancel() }
      return timer != nil
    }
    if !isBounded { gracePeriod.cancel() }
  }

  /// Cancels the timer, because no request is running any more.
  func cancelGraceTimer() {
    if let ticket = timer.withLock({ $0 }) { timers.cancel(ticket) }
  }
}

/// A transport that sends requests while the client is open.
final class ClosingTransport: Transport {
  private let base: any Transport
  private let phases: ClosingPhases

  init(_ base: any Transport, _ phases: ClosingPhases) {
    self.base = base
    self.phases = phases
  }

  var trust: String { base.trust }

  private static var closed: EnrollError {
    EnrollError(.cancelled, "the client was closed; nothing was sent").unsent()
  }

  /// Sends a request, unless the client is being closed.
  /// - Throws: `.cancelled` once the client is being closed; the errors of the transport.
  func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse {
    // The outbox sends with `gracePeriod`, so its requests already end with that period.
    if cancellation === phases.gracePeriod { return try base.send(request, cancellation: cancellation) }
    if phases.closing.isCancelled { throw Self.closed }
    if request.mustAwaitResponse {
      base.becomeReady(cancellation: phases.closing)
      if phases.closing.isCancelled { throw Self.closed }
      if cancellation?.isCancelled ?? false {
        throw EnrollError(.cancelled, "the call was cancelled; nothing was sent").unsent()
      }
      CallTimeout.commit()
      return try base.send(request, cancellation: phases.abandoned)
    }
    let limit = request.freshConnection ? phases.gracePeriod : phases.closing
    guard let cancellation else { return try base.send(request, cancellation: limit) }
    let either = CancellationFlag()
    let callerHook = cancellation.onCancel { either.cancel() }
    let limitHook = limit.onCancel { either.cancel() }
    defer {
      cancellation.removeHook(callerHook)
      limit.removeHook(limitHook)
    }
    return try base.send(request, cancellation: either)
  }
}
