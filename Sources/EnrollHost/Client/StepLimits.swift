// Combines the limits of a call, its deadline and its cancellation, into one Cancellation for the step that the call
// runs.

import EnrollRules
import EnrollSteps
import EnrollPosix

/// Runs steps within the limits of a call.
struct StepLimits {
  let clock: any Clock
  let timers: TimerQueue

  /// Runs a step that ends early if the caller cancels or its deadline passes. The two cases throw different errors.
  /// - Throws: `.cancelled`, `.deadlineExceeded`, and the errors of the step.
  func run<Result>(
    until deadline: Instant, _ cancellation: (any Cancellation)?,
    _ step: (any Cancellation) throws(EnrollError) -> Result
  ) throws(EnrollError) -> Result {
    try checkTimeout(deadline, cancellation)
    let flag = CancellationFlag()
    let hook = cancellation?.onCancel { flag.cancel() }
    let timer = deadline == .distantFuture ? nil : timers.run(at: deadline) { flag.cancel() }
    defer {
      if let timer { timers.cancel(timer) }
      if let hook { cancellation?.removeHook(hook) }
    }
    do throws(EnrollError) {
      return try CallTimeout.until(deadline, by: clock, cancellation: flag) { () throws(EnrollError) in
        try step(flag)
      }
    } catch {
      if error.code == .cancelled { try checkTimeout(deadline, cancellation) }
      throw error
    }
  }

  /// - Throws: `.cancelled` after a cancellation, `.deadlineExceeded` after the deadline.
  func checkTimeout(_ deadline: Instant, _ cancellation: (any Cancellation)?) throws(EnrollError) {
    if cancellation?.isCancelled ?? false { throw EnrollError(.cancelled, "the call was cancelled") }
    if clock.instant() >= deadline {
      throw EnrollError(.deadlineExceeded, "the timeout passed before the answer arrived")
    }
  }
}

extension Client {
  private var limits: StepLimits { StepLimits(clock: clock, timers: timers) }

  /// See ``StepLimits``.
  func bounded<Result>(
    until deadline: Instant, _ cancellation: (any Cancellation)?,
    _ step: (any Cancellation) throws(EnrollError) -> Result
  ) throws(EnrollError) -> Result {
    try limits.run(until: deadline, cancellation, step)
  }

  /// - Throws: `.cancelled` after a cancellation, `.deadlineExceeded` after the deadline.
  func checkTimeout(_ deadline: Instant, _ cancellation: (any Cancellation)?) throws(EnrollError) {
    try limits.checkTimeout(deadline, cancellation)
  }
}
