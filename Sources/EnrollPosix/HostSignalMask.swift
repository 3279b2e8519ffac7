// The host's code runs on the library's threads with the signal mask of the host's own thread, so that child processes
// that the host's code starts there can receive signals. The library's threads otherwise block signals, because signals
// belong to the host.

import CPosix

/// The signal mask of the thread on which this value is made. The mask is set again while code of the host runs.
public struct HostSignalMask: Sendable {
  private let mask: sigset_t

  /// Remembers the signal mask of the current thread. Call it on a thread of the host.
  public init() {
    var mask = sigset_t()
    pthread_sigmask(SIG_BLOCK, nil, &mask)
    self.mask = mask
  }

  /// Runs the host's code. On a thread of the host the mask does not change.
  public func run<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard ExitBarrier.isOurThread else { return try body() }
    return try ExitBarrier.allowingExit { () throws(Failure) -> Result in
      var wanted = mask
      var before = sigset_t()
      pthread_sigmask(SIG_SETMASK, &wanted, &before)
      defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
      return try body()
    }
  }
}
