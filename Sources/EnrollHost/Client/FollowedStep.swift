// A step that spends what works once: a code cannot be sent again, so the end of its caller's wait is not the end of the step.

import EnrollCore

extension Client {
  /// Runs a step on a thread of its own. A caller that cancels, or whose deadline passes, leaves: what was not sent yet is
  /// given up, and what was sent is followed to its answer.
  /// - Parameter afterwards: gets what the step brought once its caller has left.
  /// - Throws: `.cancelled`, `.deadlineExceeded`, and what the step throws.
  func followed<Value: Sendable>(
    until deadline: Instant, _ cancellation: (any Cancellation)?,
    _ step: @escaping @Sendable (any Cancellation) throws(EnrollError) -> Value,
    afterwards: @escaping @Sendable (Value) -> Void
  ) throws(EnrollError) -> Value {
    try checkPatience(deadline, cancellation)
    let end = FollowedStep<Value>()
    let job: @Sendable () -> Void = {
      let result: Result<Value, EnrollError>
      do throws(EnrollError) {
        result = .success(try step(end.isUnwanted))
      } catch {
        result = .failure(error)
      }
      if !end.put(result), case .success(let value) = result { afterwards(value) }
    }
    // Without a thread the caller waits for all of it.
    if !pool.submitNow(job) { job() }
    let hook = cancellation?.onCancel { end.isOver.set() }
    end.isOver.wait(until: deadline, by: clock)
    if let hook { cancellation?.removeHook(hook) }
    if let result = end.leave() { return try result.get() }
    end.isUnwanted.cancel()
    try checkPatience(deadline, cancellation)
    throw EnrollError(.cancelled, "the call was cancelled")
  }
}

/// What the caller of a step and its thread share. A class because both hold it.
private final class FollowedStep<Value: Sendable>: Sendable {
  private struct State {
    /// What the step ended with.
    var result: Result<Value, EnrollError>?
    var callerHasLeft = false
  }

  /// The step has ended, or its caller wants to leave.
  let isOver = Event()
  /// What was not sent yet is not to be sent any more.
  let isUnwanted = CancellationFlag()
  private let state = Guarded(State(), by: Mutex())

  /// - Returns: false when the caller has left.
  func put(_ result: Result<Value, EnrollError>) -> Bool {
    let isWanted = state.withLock { state -> Bool in
      guard !state.callerHasLeft else { return false }
      state.result = result
      return true
    }
    isOver.set()
    return isWanted
  }

  /// - Returns: what the step ended with; nil when it has not.
  func leave() -> Result<Value, EnrollError>? {
    state.withLock { state -> Result<Value, EnrollError>? in
      state.callerHasLeft = state.result == nil
      return state.result
    }
  }
}
