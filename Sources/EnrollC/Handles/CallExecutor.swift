// Runs started calls. Each call calls back exactly once, on the thread of the callbacks, even if the call is cancelled
// or the client is closed meanwhile.

import CEnroll
import EnrollRules
import EnrollHost
import EnrollPosix

/// The threads for the calls of one client, or for calls without a client.
final class CallExecutor: Sendable {
  /// A flag that is cancelled when the client is freed. This ends all waits.
  let closing = CancellationFlag()
  /// Runs the host's callbacks.
  let callbacks: CallbackExecutor
  private let host = HostSignalMask()
  /// Runs started calls that block. Each call occupies one thread.
  private let workers = WorkerPool(threads: 64, queue: 4096)

  init(callbacks: CallbackExecutor) { self.callbacks = callbacks }

  /// The executor of calls without a client.
  static let clientless = PerProcess { CallExecutor(callbacks: .ownThread) }

  /// This flag is set while a callback runs on the thread that completed the call.
  static let callbackInPlace = ThreadFlag()

  /// Starts a call that blocks a thread.
  /// - Parameters:
  ///   - pending: gets a handle of the call, if the host wants one.
  ///   - deliver: calls the host back.
  /// - Throws: `.busy` if too many calls are pending. Then there is no callback.
  func start<Value: Sendable>(
    _ pending: UnsafeMutablePointer<OpaquePointer?>?,
    _ work: @escaping @Sendable (CancellationFlag) throws(EnrollError) -> Value,
    deliver: @escaping @Sendable (Result<Value, EnrollError>) -> Void
  ) throws(EnrollError) {
    try begin(pending) { call throws(EnrollError) in
      let isAccepted = workers.submit { [self] in
        var result: Result<Value, EnrollError>
        do throws(EnrollError) {
          result = .success(try work(call.cancellation))
        } catch {
          result = .failure(error)
        }
        finish(call, result, deliver)
      }
      guard isAccepted else { throw EnrollError(.busy, "too many calls are pending") }
    }
  }

  /// Starts a call that blocks no thread: `work` does not wait; it calls the completion before it returns, or later.
  func startDetached<Value: Sendable>(
    _ pending: UnsafeMutablePointer<OpaquePointer?>?,
    _ work: (CancellationFlag, @escaping @Sendable (Result<Value, EnrollError>) -> Void) -> Void,
    deliver: @escaping @Sendable (Result<Value, EnrollError>) -> Void
  ) throws(EnrollError) {
    try begin(pending) { call throws(EnrollError) in
      work(call.cancellation) { [self] result in finish(call, result, deliver) }
    }
  }

  /// Makes the call and its handle. The call and the handle are removed again if `start` throws.
  private func begin(
    _ pending: UnsafeMutablePointer<OpaquePointer?>?, _ start: (StartedCall) throws(EnrollError) -> Void
  ) throws(EnrollError) {
    let call = PendingCall()
    let before = pending?.pointee ?? nil
    var handle: UInt?
    if let pending {
      guard let made = PendingCall.table.insert(call) else {
        throw EnrollError(.busy, "too many handles are in use")
      }
      handle = made
      // The handle is written before the call starts, because the callback may run before this function returns, and
      // may free the handle.
      pending.pointee = OpaquePointer(bitPattern: made)
    }
    let ticket = closing.onCancel { call.cancellation.cancel() }
    do throws(EnrollError) {
      try start(StartedCall(cancellation: call.cancellation, ticket: ticket))
    } catch {
      closing.removeHook(ticket)
      if let handle { _ = PendingCall.table.remove(handle) }
      pending?.pointee = before
      throw error
    }
  }

  private func finish<Value: Sendable>(
    _ call: StartedCall, _ result: Result<Value, EnrollError>,
    _ deliver: @escaping @Sendable (Result<Value, EnrollError>) -> Void
  ) {
    closing.removeHook(call.ticket)
    let result = closing.isCancelled ? result.ofClosedClient : result
    callBack { deliver(result) }
  }

  /// Calls the host back on the thread of the callbacks. If no thread can be started, the callback runs here, because
  /// each call must call back exactly once.
  func callBack(_ completion: @escaping WorkerPool.Job) {
    if !callbacks.submit(completion: completion) { host.run { Self.callbackInPlace.during(completion) } }
  }
}

/// The state of a running call.
private struct StartedCall: Sendable {
  let cancellation: CancellationFlag
  /// The ticket of the hook that cancels the call when the client is closed.
  let ticket: Int
}
