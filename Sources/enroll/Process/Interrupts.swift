// Signals that ask for the end are read like input, so that what was begun can be given up in order; a second one ends the
// program at once.

import CPosix

enum Interrupts {
  /// A signalfd; negative before ``prepare()``, and when the system gives none.
  nonisolated(unsafe) private(set) static var descriptor: Int32 = -1

  /// Holds back SIGTERM, SIGINT and SIGHUP, except where the parent had them ignored, and ignores SIGPIPE: a closed
  /// stdout is an error of a write. To be called before the first thread.
  static func prepare() {
    enroll_posix_ignore_signal(SIGPIPE)
    var set = ending()
    sigprocmask(SIG_BLOCK, &set, nil)
    descriptor = signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
  }

  /// Takes the one that came; the next one ends the process as usual.
  static func take() {
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
