// Code of the host that runs inside a call: its transport, secret store, clock and log. Such code may only call
// functions that take no client (R41).

import EnrollHost
import EnrollPosix

/// Calls functions of the host.
struct HostCode: Sendable {
  /// This flag is set on a thread while it runs code of the host.
  static let mark = ThreadFlag()

  /// The signal mask of the host's thread that passed the functions.
  private let thread = HostSignalMask()

  /// Runs code of the host inside a call, on a thread of the host or of the library.
  func run<Result>(_ body: () -> Result) -> Result { thread.run { Self.mark.during(body) } }
}
