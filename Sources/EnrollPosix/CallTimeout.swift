// How long the caller on this thread wants to wait, for what takes no deadline of its own: the store asks a vault or a keyring
// for its key in the middle of a read, and whoever has the key may never answer.

public import EnrollCore

/// The end of the current call's wait, on the thread that runs it.
public final class CallTimeout: Sendable {
  /// Nanoseconds of the machine's clock; nil: the call has no end.
  private let end: Int64?
  private let cancellation: (any Cancellation)?

  private init(end: Int64?, cancellation: (any Cancellation)?) {
    self.end = end
    self.cancellation = cancellation
  }

  /// The address of the current one; 0: there is none.
  private static let current = ThreadNumber()

  private static var ofThisCall: CallTimeout? {
    UnsafeRawPointer(bitPattern: current.value).map {
      Unmanaged<CallTimeout>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// Runs a part of a call that ends at `deadline` of that clock, or when it is cancelled.
  public static func until<Result>(
    _ deadline: Instant = .distantFuture, by clock: any Clock = SystemClock(),
    cancellation: (any Cancellation)?,
    _ body: () throws(EnrollError) -> Result
  ) throws(EnrollError) -> Result {
    var end: Int64?
    if deadline != .distantFuture {
      let left = max(0, deadline.since(clock.instant()))
      let (sum, isFar) = SystemClock.monotonic().addingReportingOverflow(left)
      end = isFar ? nil : sum
    }
    let timeout = Unmanaged.passRetained(CallTimeout(end: end, cancellation: cancellation))
    defer { timeout.release() }
    return try current.set(UInt(bitPattern: timeout.toOpaque()), during: body)
  }

  /// Nanoseconds that may be waited: as many as that, or until the call's deadline.
  public static func nanoseconds(atMost longest: Int64) -> Int64 {
    guard let end = ofThisCall?.end else { return longest }
    return min(longest, max(0, end - SystemClock.monotonic()))
  }

  /// The caller's; nil where it has none.
  public static var cancellation: (any Cancellation)? { ofThisCall?.cancellation }
}
