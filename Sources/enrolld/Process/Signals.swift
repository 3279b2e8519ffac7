// Signals that ask the daemon to end are read like input, so that what was begun can be finished (R39). A second one ends it
// at once.

import CPosix

enum Signals {
  /// Holds back SIGTERM, SIGINT and SIGHUP, except where the parent had them ignored, and ignores SIGPIPE: a closed
  /// stdout is an error of a write. To be called before the first thread.
  /// - Returns: a signalfd; negative when there is none to be had.
  static func prepare() -> Int32 {
    enroll_posix_ignore_signal(SIGPIPE)
    var set = ending()
    sigprocmask(SIG_BLOCK, &set, nil)
    return signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
  }

  /// Takes the one that came, and from now on the next one ends the process as usual.
  /// - Parameter descriptor: what ``prepare()`` gave.
  static func release(_ descriptor: Int32) {
    var taken = signalfd_siginfo()
    _ = read(descriptor, &taken, MemoryLayout<signalfd_siginfo>.size)
    var set = ending()
    sigprocmask(SIG_UNBLOCK, &set, nil)
  }

  private static func ending() -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for number in [SIGTERM, SIGINT, SIGHUP] where enroll_posix_is_signal_ignored(number) == 0 {
      sigaddset(&set, number)
    }
    return set
  }
}
