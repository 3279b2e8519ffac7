// Code of the host that runs inside a call: its transport, its secrets, its clock, its log. It may call only what takes
// no client (R41).

import EnrollHost
import EnrollPosix

/// How functions of the host are called.
struct HostCode: Sendable {
  /// Set on a thread that is inside such code.
  static let mark = ThreadMark()

  /// The host's, as the functions were given.
  private let thread = HostThread()

  /// Runs code of the host inside a call, whosever the thread is.
  func run<Result>(_ body: () -> Result) -> Result { thread.run { Self.mark.during(body) } }
}
