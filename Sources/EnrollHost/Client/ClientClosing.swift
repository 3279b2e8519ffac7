// Closing a client. Calls in progress are cancelled. No request is sent any more, and requests in progress end: an answer
// that may hold a value issued once gets a moment more; the answer to a request that spends a code or a refresh token gets
// the transport's whole timeout (reliability.md, Closing; R39).

public import EnrollCore
public import EnrollPosix

extension Client {
  /// Ties a call to the client: closing it cancels the call, and is what the call's end is told as.
  /// - Returns: what takes the place of `completion`.
  public func untilClosed<Value>(
    _ cancellation: CancellationFlag, _ completion: @escaping @Sendable (Result<Value, EnrollError>) -> Void
  ) -> @Sendable (Result<Value, EnrollError>) -> Void {
    // A call that comes too late fails and says so.
    guard !closing.isCancelled else { return completion }
    let ticket = closing.onCancel { cancellation.cancel() }
    return { [closing] result in
      closing.removeHook(ticket)
      completion(closing.isCancelled ? result.ofClosedClient : result)
    }
  }
}

extension Result where Failure == EnrollError {
  /// To whoever called before the client was closed, its handle was good: what ended the call is the closing.
  public var ofClosedClient: Self {
    guard case .failure(let error) = self, error.code == .handle else { return self }
    return .failure(EnrollError(.cancelled, "the client was closed during the call"))
  }
}

/// When a client's requests end, in three steps. A class because its threads share it.
final class ClosingSteps: Sendable {
  /// Nothing is sent any more, and what is under way ends.
  let closing = CancellationFlag()
  /// A moment later: what cannot be asked for again, and what servers still have to be told, ends as well.
  let lastMoment = CancellationFlag()
  /// The process cannot wait any longer, not even for tokens.
  let abandoned = CancellationFlag()

  private static let lastMomentSeconds: Int64 = 2
  /// By the machine's clock, whatever clock the client was given: this is about servers that do not answer.
  private let timers = TimerQueue()
  private let timer = Guarded<UInt64?>(nil, by: Mutex())
  private let begin = Guarded<Instant?>(nil, by: Mutex())

  /// By the machine's clock: when even the disk is not waited for any longer.
  var latest: Instant {
    (begin.withLock { $0 } ?? SystemClock.now()).advanced(bySeconds: HTTPRequest.totalTimeoutSeconds)
  }

  /// To be called once.
  /// - Parameter isBusy: as for ``boundLastMoment(isBusy:)``.
  func beginLastMoment(isBusy: Bool) {
    begin.withLock { $0 = SystemClock.now() }
    boundLastMoment(isBusy: isBusy)
  }

  /// Sets the end of the last moment, once it has begun.
  /// - Parameter isBusy: whether anything is under way that it ends. A timer, which is a thread, costs more than closing.
  func boundLastMoment(isBusy: Bool) {
    guard isBusy, let begun = begin.withLock({ $0 }) else { return }
    let isBounded = timer.withLock { timer -> Bool in
      guard timer == nil else { return true }
      let end = begun.advanced(bySeconds: Self.lastMomentSeconds)
      timer = timers.run(at: end) { [lastMoment] in lastMoment.cancel() }
      return timer != nil
    }
    if !isBounded { lastMoment.cancel() }
  }

  /// Nothing is under way any more.
  func endLastMoment() {
    if let ticket = timer.withLock({ $0 }) { timers.cancel(ticket) }
  }
}

/// Sends while the client is open.
final class ClosingTransport: Transport {
  private let base: any Transport
  private let steps: ClosingSteps

  init(_ base: any Transport, _ steps: ClosingSteps) {
    self.base = base
    self.steps = steps
  }

  var trust: String { base.trust }

  private static var closed: EnrollError {
    EnrollError(.cancelled, "the client was closed; nothing was sent").unsent()
  }

  /// - Throws: `.cancelled` once the client is being closed; what the transport throws.
  func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse {
    // The outbox bounds itself.
    if cancellation === steps.lastMoment { return try base.send(request, cancellation: cancellation) }
    if steps.closing.isCancelled { throw Self.closed }
    if request.isFollowedUp {
      base.becomeReady(cancellation: steps.closing)
      if steps.closing.isCancelled { throw Self.closed }
      if cancellation?.isCancelled ?? false {
        throw EnrollError(.cancelled, "the call was cancelled; nothing was sent").unsent()
      }
      CallTimeout.commit()
      return try base.send(request, cancellation: steps.abandoned)
    }
    let limit = request.freshConnection ? steps.lastMoment : steps.closing
    guard let cancellation else { return try base.send(request, cancellation: limit) }
    let either = CancellationFlag()
    let wish = cancellation.onCancel { either.cancel() }
    let end = limit.onCancel { either.cancel() }
    defer {
      cancellation.removeHook(wish)
      limit.removeHook(end)
    }
    return try base.send(request, cancellation: either)
  }
}
