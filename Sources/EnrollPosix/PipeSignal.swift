// Writing to a connection that the other side closed raises SIGPIPE, which ends a process that did not ask for it.
// libcurl is told not to touch signals (CURLOPT_NOSIGNAL), so the thread that calls it holds this one back itself.

import CPosix

package enum PipeSignal {
  /// Runs `body` with SIGPIPE held back on this thread, and takes away what `body` raised. The host's handler and the
  /// mask of every other thread stay as they are.
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
