// Lets the request of a client registration continue, and stores its response, even if the caller has stopped waiting:
// the server sends this response only once.

import EnrollRules
import EnrollSteps
import EnrollPosix

/// Sends the requests of one call. A request whose response must be awaited does not end at the call's deadline; after
/// the caller's cancellation the request gets two more seconds.
final class RegistrationTransport: Transport {
  private static let graceSeconds: Int64 = 2

  private let base: any Transport
  private let caller: (any Cancellation)?
  /// Timers by the system's clock, not by the host's, because they limit how long a real server may take to answer.
  private let timers = TimerQueue()

  /// - Parameter caller: cancelled only by the caller, not by the deadline.
  init(_ base: any Transport, caller: (any Cancellation)?) {
    self.base = base
    self.caller = caller
  }

  var trust: String { base.trust }

  func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse {
    guard request.mustAwaitResponse else { return try base.send(request, cancellation: cancellation) }
    if cancellation?.isCancelled ?? false { throw EnrollError(.cancelled, "the call was cancelled") }
    CallTimeout.commit()
    let end = CancellationFlag()
    let timers = timers
    let tickets = Guarded<[UInt64]>([], by: Mutex())
    let endsAfter: @Sendable (Int64) -> Void = { seconds in
      let ticket = timers.run(at: SystemClock.now().advanced(bySeconds: seconds)) { end.cancel() }
      if let ticket { tickets.withLock { $0.append(ticket) } } else { end.cancel() }
    }
    // A transport of the host may have no timeout of its own, so the request is ended here.
    let late = cancellation?.onCancel { endsAfter(HTTPRequest.totalTimeoutSeconds) }
    let callerHook = caller?.onCancel { endsAfter(Self.graceSeconds) }
    defer {
      if let late { cancellation?.removeHook(late) }
      if let callerHook { caller?.removeHook(callerHook) }
      for ticket in tickets.withLock({ $0 }) { timers.cancel(ticket) }
    }
    return try base.send(request, cancellation: end)
  }
}
