// The object behind an enroll_client: a client, the threads that work and call back for it, and whether they are to end.

import CEnroll
import EnrollCore
import EnrollHost
import EnrollPosix

/// One client as C holds it.
final class ClientHandle: Sendable {
  let client: Client
  private let origin = ForkGuard()
  let room: CallExecutor
  let subscriptions: Subscriptions
  private let runsHostCode: Bool

  static let table = HandleTable<ClientHandle>(kind: 1)

  init(_ client: Client, callbacks: CallbackExecutor, runsHostCode: Bool) {
    self.client = client
    room = CallExecutor(callbacks: callbacks)
    subscriptions = Subscriptions(client)
    self.runsHostCode = runsHostCode
  }

  /// Raised when the handle is freed.
  var closing: CancellationFlag { room.closing }

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

  /// The end of a call that may go on for `milliseconds`.
  /// - Throws: `.invalidArgument` for a negative number that is not ENROLL_NO_TIMEOUT.
  func deadline(_ milliseconds: Int64) throws(EnrollError) -> Instant {
    try Self.deadline(milliseconds, from: client.deadline(afterSeconds: 0))
  }

  /// The end of a call of any command: by the client's clock, else by the system's.
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

  /// Ends everything that waits in the client, and waits only for the tokens of a renewal or a code that was sent to be stored.
  /// Nothing of the host's runs afterwards, but for callbacks: those that wait, and then the ends of the subscriptions.
  func close() {
    closing.cancel()
    client.close()
    // A callback that runs on a thread of the client's for want of one of its own cannot wait for that thread.
    if !CallExecutor.callbackInPlace.isSet { client.drain(keepsTrying: !runsHostCode) }
    subscriptions.close()
  }

  /// In a child nothing of a client made before the fork may be touched, not even to free it.
  var isForkedChild: Bool { origin.isForkedChild }
}
