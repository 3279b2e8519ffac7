// Runs a step that sends a value that works only once, such as a code. The value cannot be sent again, so the step
// continues when its caller stops waiting.

import EnrollRules
import EnrollSteps
import EnrollPosix

extension Client {
  /// Runs a step on its own thread. When the caller cancels or its deadline passes, the call returns. Requests that
  /// have not been sent by then are not sent any more; requests that have been sent continue until their answers
  /// arrive.
  /// - Parameter afterwards: gets the step's result if the caller has stopped waiting.
  /// - Throws: `.cancelled`, `.deadlineExceeded`, and the errors of the step.
  func runOneTimeStep<Value: Sendable>(
    until deadline: Instant, _ cancellation: (any Cancellation)?,
    _ step: @escaping @Sendable (any Cancellation) throws(EnrollError) -> Value,
    afterwards: @escaping @Sendable (Value) -> Void
  ) throws(EnrollError) -> Value {
    try checkTimeout(deadline, cancellation)
    let state = OneTimeStep<Value>()
    let job: @Sendable () -> Void = {
      do throws(EnrollError) {
        let value = try CallTimeout.until(cancellation: state.cancellation) { () throws(EnrollError) in
          try step(state.cancellation)
        }
        if !state.setResult(value, nil) { afterwards(value) }
      } catch {
        _ = state.setResult(nil, error)
      }
    }
    // If no thread can be started, the step runs here, and the caller waits until it has ended.
    if !pool.submitNow(job) { job() }
    let hook = cancellation?.onCancel { state.isOver.set() }
    state.isOver.wait(until: deadline, by: clock)
    if let hook { cancellation?.removeHook(hook) }
    let ending = state.stopWaiting()
    if let value = ending.value { return value }
    if let error = ending.error { throw error }
    state.cancellation.cancel()
    try checkTimeout(deadline, cancellation)
    throw EnrollError(.cancelled, "the call was cancelled")
  }
}

/// The state that the caller of a step and the step's thread share. It is a class, because both reference it.
private final class OneTimeStep<Value: Sendable>: Sendable {
  struct Ending {
    /// Once the step has ended, either the value or the error is set.
    var value: Value?
    var error: EnrollError?
    var callerStoppedWaiting = false
  }

  /// An event that is set once the step has ended or its caller has stopped waiting.
  let isOver = Event()
  /// The cancellation of the step. It is triggered when requests that have not been sent must not be sent any more.
  let cancellation = CancellationFlag()
  private let ending = Guarded(Ending(), by: Mutex())

  /// - Returns: false if the caller has stopped waiting.
  func setResult(_ value: Value?, _ error: EnrollError?) -> Bool {
    let isWanted = ending.withLock { ending -> Bool in
      guard !ending.callerStoppedWaiting else { return false }
      ending.value = value
      ending.error = error
      return true
    }
    isOver.set()
    return isWanted
  }

  /// - Returns: the result of the step. It has neither a value nor an error if the step has not ended. In this case
  ///   ``setResult(_:_:)`` will return false.
  func stopWaiting() -> Ending {
    ending.withLock { ending -> Ending in
      ending.callerStoppedWaiting = ending.value == nil && ending.error == nil
      return ending
    }
  }
}
