// The limits of the current call, for code without a deadline parameter. Two waits of the store need them: perhaps the
// keyring never answers when it is asked for the store's key, or another process holds the lock that a save needs.

public import EnrollRules
public import EnrollSteps
import Synchronization

/// The limits of the current call, on the thread that runs it.
public final class CallTimeout: Sendable {
  /// The deadline in nanoseconds of the system's clock; nil if the call has no deadline.
  private let end: Int64?
  private let cancellation: (any Cancellation)?
  /// The limits of the outer call, of which this call is a part; nil if there is none.
  private let outer: CallTimeout?
  private let onProgress: (@Sendable (Progress) -> Void)?
  private let isCommitted = Atomic<Bool>(false)

  private init(
    end: Int64?, cancellation: (any Cancellation)?, outer: CallTimeout?,
    onProgress: (@Sendable (Progress) -> Void)?
  ) {
    self.end = end
    self.cancellation = cancellation
    self.outer = outer
    self.onProgress = onProgress
  }

  /// The progress of a call. From it, a caller that stops waiting learns why the call has not ended.
  public enum Progress: Sendable {
    /// The call waits for a renewal that another process or another client has begun.
    case waiting
    /// The call waits for no renewal of another process or client.
    case proceeding
    /// The call has sent a value that works only once, so the call cannot end early any more.
    case committed
  }

  /// The address of the current thread's limits; 0 if the thread has no limits.
  private static let current = ThreadLocalNumber()

  private static var innermost: CallTimeout? {
    UnsafeRawPointer(bitPattern: current.value).map {
      Unmanaged<CallTimeout>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// The limits of the current call; nil once the call is committed, because its limits then no longer apply.
  private static var ofThisCall: CallTimeout? {
    innermost.flatMap { $0.isCommitted.load(ordering: .relaxed) ? nil : $0 }
  }

  /// Runs a part of a call. The part ends at `deadline` by `clock`, or when it is cancelled.
  /// - Parameter onProgress: called on this thread. Its last call has `.committed` if the part cannot end early any
  ///   more.
  public static func until<Result>(
    _ deadline: Instant = .distantFuture, by clock: any Clock = SystemClock(),
    cancellation: (any Cancellation)?, onProgress: (@Sendable (Progress) -> Void)? = nil,
    _ body: () throws(EnrollError) -> Result
  ) throws(EnrollError) -> Result {
    var end: Int64?
    if deadline != .distantFuture {
      let left = max(0, deadline.since(clock.instant()))
      let (sum, isFar) = SystemClock.monotonic().addingReportingOverflow(left)
      end = isFar ? nil : sum
    }
    let timeout = Unmanaged.passRetained(
      CallTimeout(end: end, cancellation: cancellation, outer: innermost, onProgress: onProgress))
    defer { timeout.release() }
    return try current.set(UInt(bitPattern: timeout.toOpaque()), during: body)
  }

  /// Records that the call has sent a value that works only once. From now on none of the call's waits ends early,
  /// because the answer has to be stored.
  public static func commit() {
    var next = innermost
    while let timeout = next {
      if !timeout.isCommitted.exchange(true, ordering: .relaxed) { timeout.onProgress?(.committed) }
      next = timeout.outer
    }
  }

  /// Reports the progress to the caller, unless the call is committed.
  public static func report(_ progress: Progress) { ofThisCall?.onProgress?(progress) }

  /// - Parameter what: the reason for the wait, as a clause: "while …".
  /// - Throws: `.cancelled` after a cancellation, `.deadlineExceeded` after the deadline.
  public static func check(_ what: String) throws(EnrollError) {
    guard let timeout = ofThisCall else { return }
    if timeout.cancellation?.isCancelled ?? false {
      throw EnrollError(.cancelled, "the call was cancelled \(what)")
    }
    if let end = timeout.end, end <= SystemClock.monotonic() {
      throw EnrollError(.deadlineExceeded, "the deadline passed \(what)")
    }
  }

  /// The smaller of `longest` and the time until the call's deadline, in nanoseconds.
  public static func nanoseconds(atMost longest: Int64) -> Int64 {
    guard let end = ofThisCall?.end else { return longest }
    return min(longest, max(0, end - SystemClock.monotonic()))
  }

  /// The cancellation of the call; nil if the call has no cancellation.
  public static var cancellation: (any Cancellation)? { ofThisCall?.cancellation }
}
