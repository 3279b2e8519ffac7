// Where calls run that were started: each calls back exactly once, in its place, whatever happens meanwhile.

import CEnroll
import EnrollCore
import EnrollHost
import EnrollPosix

/// The threads of one client's calls, or of those that are about no client.
final class CallExecutor: Sendable {
  /// Raised when the client is freed: whoever waits stops waiting.
  let closing = CancellationFlag()
  /// Runs the host's callbacks.
  let callbacks: CallbackExecutor
  private let host = HostThread()
  /// Runs what was started and blocks; each job holds one thread.
  private let workers = WorkerPool(threads: 64, queue: 4096)

  init(callbacks: CallbackExecutor) { self.callbacks = callbacks }

  /// For calls that are about no client.
  static let clientless = PerProcess { CallExecutor(callbacks: .ownThread) }

  /// Set while a callback runs on the thread that completed its call.
  static let callbackInPlace = ThreadMark()

  /// Starts a call that blocks a thread of its own.
  /// - Parameters:
  ///   - pending: gets a handle of the call, if the host wants one.
  ///   - deliver: calls the host back.
  /// - Throws: `.busy` when too much is pending; nothing will call back then.
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

  /// Starts a call that holds no thread: `work` returns at once and completes later, or before it returns.
  func startDetached<Value: Sendable>(
    _ pending: UnsafeMutablePointer<OpaquePointer?>?,
    _ work: (CancellationFlag, @escaping @Sendable (Result<Value, EnrollError>) -> Void) -> Void,
    deliver: @escaping @Sendable (Result<Value, EnrollError>) -> Void
  ) throws(EnrollError) {
    try begin(pending) { call throws(EnrollError) in
      work(call.cancellation) { [self] result in finish(call, result, deliver) }
    }
  }

  /// Makes the call and its handle; undone when `start` throws.
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
      // Before anything starts: the callback may come first, and may want to free it.
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

  /// Calls the host back in the callbacks' place. If the system gives that no thread, the callback runs here: once is the
  /// promise that counts.
  func callBack(_ completion: @escaping WorkerPool.Job) {
    if !callbacks.submit(completion: completion) { host.run { Self.callbackInPlace.during(completion) } }
  }
}

/// The state of a call in progress.
private struct StartedCall: Sendable {
  let cancellation: CancellationFlag
  /// Its hook on the client's closing.
  let ticket: Int
}
