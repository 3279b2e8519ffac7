// A write to a connection that the other side closed raises SIGPIPE, which ends a process without a handler. libcurl is
// told not to change signals (CURLOPT_NOSIGNAL), so the thread that calls it blocks SIGPIPE itself.

import CPosix

package enum PipeSignal {
  /// Runs `body` with SIGPIPE blocked on this thread, and removes a SIGPIPE that `body` raised. The host's handler and
  /// the signal masks of other threads do not change.
  package static func blocked<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var pending = sigset_t()
    sigpending(&pending)
    let wasPending = sigismember(&pending, SIGPIPE) == 1
    var pipe = sigset_t()
    sigemptyset(&pipe)
    sigaddset(&pipe, SIGPIPE)
    var before = sigset_t()
    pthread_sigmask(SIG_BLOCK, &pipe, &before)
    defer {
      if !wasPending { enroll_posix_take_signal(SIGPIPE) }
      pthread_sigmask(SIG_SETMASK, &before, nil)
    }
    return try body()
  }
}
