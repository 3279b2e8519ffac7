// Timers that use a given clock. They end calls that block no thread at the calls' deadlines. All queues of a process
// share one thread.

public import EnrollRules
public import EnrollSteps
import EnrollPosix

/// Runs short blocks when they are due.
public final class TimerQueue: Sendable {
  private let thread = TimerThread.perProcess.value
  private let clock: (any Clock)?
  private let slice: Int64
  private let origin = ForkGuard()

  /// - Parameters:
  ///   - clock: the clock that measures `due`; nil for the system's clock, by which the thread sleeps until a block is
  ///     due.
  ///   - sliceNanoseconds: the longest time until the thread notices a jump of a clock that is not the system's (a
  ///     clock of the host or of a test).
  public init(clock: (any Clock)? = nil, sliceNanoseconds: Int64 = 1_000_000_000) {
    self.clock = clock
    slice = max(1, sliceNanoseconds)
  }

  /// Runs `block` once, at `due` or soon after, on the timer thread. The block must be short: hand longer work to a
  /// pool.
  /// - Returns: a ticket for ``cancel(_:)``; nil if no thread can be started, while the process exits, or after a fork.
  public func run(at due: Instant, _ block: @escaping @Sendable () -> Void) -> UInt64? {
    if origin.isForkedChild || ExitBarrier.isExiting { return nil }
    return thread.add(TimerThread.Entry(due: due, clock: clock, slice: slice, run: block))
  }

  /// Removes a block. The block may be running when this returns.
  public func cancel(_ ticket: UInt64) {
    if origin.isForkedChild { return }
    thread.cancel(ticket)
  }
}
