// How long the caller on this thread wants to wait, for what takes no deadline of its own: the store asks a vault or a keyring
// for its key in the middle of a read, and whoever has the key may never answer.

import EnrollCore

/// The end of the current call's wait, on the thread that runs it.
public enum CallersPatience {
  /// Nanoseconds of the machine's clock; 0: the call has no end.
  private static let end = ThreadNumber()

  /// Runs a part of a call that ends at `deadline` of that clock.
  static func until<Result>(
    _ deadline: Instant, by clock: any Clock, _ body: () throws(EnrollError) -> Result
  ) throws(EnrollError) -> Result {
    guard deadline != .distantFuture else { return try body() }
    let left = max(0, deadline.since(clock.instant()))
    let (end, isFar) = SystemClock.monotonic().addingReportingOverflow(left)
    return isFar ? try body() : try Self.end.set(UInt(max(1, end)), during: body)
  }

  /// Nanoseconds that may be waited: as many as that, or until the call's deadline.
  public static func nanoseconds(atMost longest: Int64) -> Int64 {
    let end = Int64(bitPattern: UInt64(end.value))
    return end == 0 ? longest : min(longest, max(0, end - SystemClock.monotonic()))
  }
}
