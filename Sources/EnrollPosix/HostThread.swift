// The host's code runs on the library's threads with the signal mask of the host's own thread, so that children it starts
// there receive signals. Otherwise the library's threads block all signals, because signals belong to the host.

import CPosix

/// The signal mask of the thread on which it is made, put back around code of the host.
public struct HostThread: Sendable {
  private let mask: sigset_t

  /// To be made on a thread of the host's.
  public init() {
    var mask = sigset_t()
    pthread_sigmask(SIG_BLOCK, nil, &mask)
    self.mask = mask
  }

  /// Runs code of the host, on a thread of the host's as it is.
  public func run<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard ExitBarrier.isOurThread else { return try body() }
    return try ExitBarrier.outside { () throws(Failure) -> Result in
      var wanted = mask
      var before = sigset_t()
      pthread_sigmask(SIG_SETMASK, &wanted, &before)
      defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
      return try body()
    }
  }
}
