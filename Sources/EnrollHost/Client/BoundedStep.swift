// How long a caller wants to wait: its deadline and its cancellation, as one Cancellation for the step that it called.

import EnrollCore
import EnrollPosix

/// Ends steps early.
struct StepBounds {
  let clock: any Clock
  let timers: TimerQueue

  /// Runs a step that ends early when the caller cancels or its deadline passes, and tells the two apart.
  /// - Throws: `.cancelled`, `.deadlineExceeded`, and what the step throws.
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

  /// - Throws: `.cancelled` or `.deadlineExceeded` once either is the case.
  func checkTimeout(_ deadline: Instant, _ cancellation: (any Cancellation)?) throws(EnrollError) {
    if cancellation?.isCancelled ?? false { throw EnrollError(.cancelled, "the call was cancelled") }
    if clock.instant() >= deadline {
      throw EnrollError(.deadlineExceeded, "the timeout passed before the answer arrived")
    }
  }
}

extension Client {
  private var bounds: StepBounds { StepBounds(clock: clock, timers: timers) }

  /// See ``StepBounds``.
  func bounded<Result>(
    until deadline: Instant, _ cancellation: (any Cancellation)?,
    _ step: (any Cancellation) throws(EnrollError) -> Result
  ) throws(EnrollError) -> Result {
    try bounds.run(until: deadline, cancellation, step)
  }

  /// - Throws: `.cancelled` or `.deadlineExceeded` once either is the case.
  func checkTimeout(_ deadline: Instant, _ cancellation: (any Cancellation)?) throws(EnrollError) {
    try bounds.checkTimeout(deadline, cancellation)
  }
}
