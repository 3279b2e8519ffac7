// How long the caller on this thread wants to wait, for what takes no deadline of its own: in the middle of a read the store asks
// a vault or a keyring for its key, and whoever has the key may never answer; a change waits for a lock that another process
// holds.

public import EnrollCore
import Synchronization

/// The end of the current call's wait, on the thread that runs it.
public final class CallTimeout: Sendable {
  /// Nanoseconds of the machine's clock; nil: the call has no end.
  private let end: Int64?
  private let cancellation: (any Cancellation)?
  /// The timeout of the call that this one is a part of.
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

  /// How far a call has come. A caller that stops waiting learns from it why the call has not ended.
  public enum Progress: Sendable {
    /// It waits for a renewal of another process, or of another client.
    case waiting
    /// It waits for nobody else.
    case proceeding
    /// It has sent what works once, and goes on to its end.
    case committed
  }

  /// The address of the current one; 0: there is none.
  private static let current = ThreadNumber()

  private static var innermost: CallTimeout? {
    UnsafeRawPointer(bitPattern: current.value).map {
      Unmanaged<CallTimeout>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// nil once the call is committed.
  private static var ofThisCall: CallTimeout? {
    innermost.flatMap { $0.isCommitted.load(ordering: .relaxed) ? nil : $0 }
  }

  /// Runs a part of a call that ends at `deadline` of that clock, or when it is cancelled.
  /// - Parameter onProgress: called on this thread; last with `.committed`, when the part goes on to its end.
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

  /// The call has sent what works once: from now on none of its waits ends early, because the answer has to be stored.
  public static func commit() {
    var next = innermost
    while let timeout = next {
      if !timeout.isCommitted.exchange(true, ordering: .relaxed) { timeout.onProgress?(.committed) }
      next = timeout.outer
    }
  }

  /// Tells the caller, unless the call is committed.
  public static func report(_ progress: Progress) { ofThisCall?.onProgress?(progress) }

  /// - Parameter what: for what the call waits, as a clause: "while …".
  /// - Throws: `.cancelled` or `.deadlineExceeded` once the caller does not want to wait any longer.
  public static func check(_ what: String) throws(EnrollError) {
    guard let timeout = ofThisCall else { return }
    if timeout.cancellation?.isCancelled ?? false {
      throw EnrollError(.cancelled, "the call was cancelled \(what)")
    }
    if let end = timeout.end, end <= SystemClock.monotonic() {
      throw EnrollError(.deadlineExceeded, "the deadline passed \(what)")
    }
  }

  /// Nanoseconds that may be waited: as many as that, or until the call's deadline.
  public static func nanoseconds(atMost longest: Int64) -> Int64 {
    guard let end = ofThisCall?.end else { return longest }
    return min(longest, max(0, end - SystemClock.monotonic()))
  }

  /// The caller's; nil where it has none.
  public static var cancellation: (any Cancellation)? { ofThisCall?.cancellation }
}
