// A step that spends what works once: a code cannot be sent again, so the end of its caller's wait is not the end of the step.

import EnrollCore
import EnrollPosix

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
    try checkTimeout(deadline, cancellation)
    let end = FollowedStep<Value>()
    let job: @Sendable () -> Void = {
      do throws(EnrollError) {
        let value = try CallTimeout.until(cancellation: end.isUnwanted) { () throws(EnrollError) in
          try step(end.isUnwanted)
        }
        if !end.put(value, nil) { afterwards(value) }
      } catch {
        _ = end.put(nil, error)
      }
    }
    // Without a thread the caller waits for all of it.
    if !pool.submitNow(job) { job() }
    let hook = cancellation?.onCancel { end.isOver.set() }
    end.isOver.wait(until: deadline, by: clock)
    if let hook { cancellation?.removeHook(hook) }
    let ending = end.leave()
    if let value = ending.value { return value }
    if let error = ending.error { throw error }
    end.isUnwanted.cancel()
    try checkTimeout(deadline, cancellation)
    throw EnrollError(.cancelled, "the call was cancelled")
  }
}

/// State shared by the caller of a step and its thread. A class because both hold it.
private final class FollowedStep<Value: Sendable>: Sendable {
  struct Ending {
    /// One of the two, once the step has ended.
    var value: Value?
    var error: EnrollError?
    var callerHasLeft = false
  }

  /// The step has ended, or its caller wants to leave.
  let isOver = Event()
  /// Set when requests that were not sent yet must not be sent any more.
  let isUnwanted = CancellationFlag()
  private let ending = Guarded(Ending(), by: Mutex())

  /// - Returns: false when the caller has left.
  func put(_ value: Value?, _ error: EnrollError?) -> Bool {
    let isWanted = ending.withLock { ending -> Bool in
      guard !ending.callerHasLeft else { return false }
      ending.value = value
      ending.error = error
      return true
    }
    isOver.set()
    return isWanted
  }

  /// - Returns: nothing when the step has not ended: its caller has left then.
  func leave() -> Ending {
    ending.withLock { ending -> Ending in
      ending.callerHasLeft = ending.value == nil && ending.error == nil
      return ending
    }
  }
}
