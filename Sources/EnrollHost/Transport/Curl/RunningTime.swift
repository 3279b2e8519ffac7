// The running time of a request. Time in which the process did not run does not count: after SIGSTOP, in a frozen
// container or under a debugger, a timeout must not end a request whose answer has arrived meanwhile.

import EnrollPosix

/// The running time of one request. Of the time between two reads of the clock, at most ``longestStep`` counts.
struct RunningTime {
  /// The longest time, in nanoseconds, that counts between two reads of the clock. While a request waits, the clock is
  /// read at least this often.
  static let longestStep: Int64 = 1_000_000_000

  private let limit: Int64
  private var counted: Int64 = 0
  private var last: Int64

  init(limit: CurlTransport.Milliseconds, now: Int64 = SystemClock.monotonic()) {
    self.limit = Self.nanoseconds(limit)
    last = now
  }

  private static func nanoseconds(_ span: CurlTransport.Milliseconds) -> Int64 {
    Int64(span.clamped) * 1_000_000
  }

  /// Counts the time since the clock was last read.
  mutating func update(at now: Int64 = SystemClock.monotonic()) {
    counted += min(max(now - last, 0), Self.longestStep)
    last = now
  }

  /// Whether the process has run for the whole time limit of the request.
  var isOver: Bool { counted >= limit }

  /// Whether the process has run for `span` since the request began.
  func hasRun(_ span: CurlTransport.Milliseconds) -> Bool { counted >= Self.nanoseconds(span) }

  /// The wait before the clock is read again.
  var nextWaitMilliseconds: Int32 {
    Int32(clamping: (min(max(limit - counted, 0), Self.longestStep) + 999_999) / 1_000_000)
  }
}
