// The answer to a registration comes once: it is waited for, and kept, although the caller has given up meanwhile.

import EnrollCore
import EnrollPosix

/// Sends for one call. A request that is followed up does not end at the call's deadline; a caller who cancels waits a moment
/// more.
final class FollowedTransport: Transport {
  private static let lastMomentSeconds: Int64 = 2

  private let base: any Transport
  private let caller: (any Cancellation)?
  /// By the machine's clock: this is about servers that do not answer.
  private let timers = TimerQueue()

  /// - Parameter caller: cancelled where the caller gives up, and not by its deadline.
  init(_ base: any Transport, caller: (any Cancellation)?) {
    self.base = base
    self.caller = caller
  }

  var trust: String { base.trust }

  func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse {
    guard request.isFollowedUp else { return try base.send(request, cancellation: cancellation) }
    if cancellation?.isCancelled ?? false { throw EnrollError(.cancelled, "the call was cancelled") }
    CallTimeout.commit()
    let end = CancellationFlag()
    let timers = timers
    let tickets = Guarded<[UInt64]>([], by: Mutex())
    let endsAfter: @Sendable (Int64) -> Void = { seconds in
      let ticket = timers.run(at: SystemClock.now().advanced(bySeconds: seconds)) { end.cancel() }
      if let ticket { tickets.withLock { $0.append(ticket) } } else { end.cancel() }
    }
    // A transport of the host's may know no end.
    let late = cancellation?.onCancel { endsAfter(HTTPRequest.totalTimeoutSeconds) }
    let wish = caller?.onCancel { endsAfter(Self.lastMomentSeconds) }
    defer {
      if let late { cancellation?.removeHook(late) }
      if let wish { caller?.removeHook(wish) }
      for ticket in tickets.withLock({ $0 }) { timers.cancel(ticket) }
    }
    return try base.send(request, cancellation: end)
  }
}
