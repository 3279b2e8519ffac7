// The object behind an enroll_client: a client, and the threads that run its calls and callbacks.

import CEnroll
import EnrollRules
import EnrollHost
import EnrollPosix

/// One client for C.
final class ClientHandle: Sendable {
  let client: Client
  private let origin = ForkGuard()
  let executor: CallExecutor
  let subscriptions: Subscriptions
  private let runsHostCode: Bool

  static let table = HandleTable<ClientHandle>(kind: 1)

  init(_ client: Client, callbacks: CallbackExecutor, runsHostCode: Bool) {
    self.client = client
    executor = CallExecutor(callbacks: callbacks)
    subscriptions = Subscriptions(client)
    self.runsHostCode = runsHostCode
  }

  /// The flag that is cancelled when the handle is freed.
  var closing: CancellationFlag { executor.closing }

  /// The client of a handle that is valid in this process and may be used on this thread (R41).
  /// - Throws: `.handle`, `.forked`, `.reentrant`.
  static func find(_ pointer: Handle?) throws(EnrollError) -> ClientHandle {
    guard let handle = table.object(UInt(bitPattern: pointer)) else { throw unknownHandle }
    try handle.requireUsable()
    return handle
  }

  func requireUsable() throws(EnrollError) {
    try origin.check()
    if runsHostCode, HostCode.mark.isSet {
      throw EnrollError(.reentrant, "a host's callback called a function that needs a client")
    }
  }

  static var unknownHandle: EnrollError {
    EnrollError(.handle, "the client is NULL, was freed, or never was one", field: "client")
  }

  /// The deadline of a call that may take `milliseconds`.
  /// - Throws: `.invalidArgument` for a negative number that is not ENROLL_NO_TIMEOUT.
  func deadline(_ milliseconds: Int64) throws(EnrollError) -> Instant {
    try Self.deadline(milliseconds, from: client.deadline(afterSeconds: 0))
  }

  /// The deadline of a call of any command. The client's clock measures it; without a client, the system's clock.
  static func deadline(_ milliseconds: Int64, of handle: ClientHandle?) throws(EnrollError) -> Instant {
    guard let handle else { return try deadline(milliseconds, from: SystemClock.now()) }
    return try handle.deadline(milliseconds)
  }

  private static func deadline(_ milliseconds: Int64, from now: Instant) throws(EnrollError) -> Instant {
    guard milliseconds >= 0 else {
      if milliseconds == ENROLL_NO_TIMEOUT { return .distantFuture }
      throw EnrollError(
        .invalidArgument, "timeout_ms must be 0 or more, or ENROLL_NO_TIMEOUT; got \(milliseconds)",
        field: "timeout_ms")
    }
    let (nanoseconds, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
    return now.advanced(byNanoseconds: overflow ? .max : nanoseconds)
  }

  /// Ends every wait in the client, except one: if a renewal or a code was sent, this function returns only after its
  /// tokens are stored. Afterwards no code of the host runs, except callbacks that are waiting and, after them, the
  /// callbacks that report the end of a subscription.
  func close() {
    closing.cancel()
    client.close()
    // If this callback runs on one of the client's threads, because no thread could be started for it, waiting for that
    // thread would never end.
    if !CallExecutor.callbackInPlace.isSet { client.drain(keepsTrying: !runsHostCode) }
    subscriptions.close()
  }

  /// Whether this process was forked after the client was made. Then the client must not be touched, not even to free
  /// it.
  var isForkedChild: Bool { origin.isForkedChild }
}
