// Signals that ask a program to end are read like input, so that what was begun can be given up in order. For the programs
// alone: a library leaves signals to its host.
//
// One wish to end often comes as several signals: systemd sends SIGTERM and SIGHUP (SendSIGHUP=), timeout(1) signals its
// child and then the child's group, a terminal that closes sends SIGHUP and so does its shell. So what follows the first
// signal changes nothing, but for one that only a person sends: SIGINT, a second or more later.

import CPosix

public enum EndingSignals {
  /// A SIGINT is a second Ctrl-C once so much time has passed since the first signal, and until then a part of the first.
  private static let deliberateNanoseconds: Int64 = 1_000_000_000

  /// Holds back SIGTERM, SIGINT and SIGHUP, except where the parent had them ignored, and ignores SIGPIPE: a closed
  /// stdout is an error of a write. To be called before the first thread.
  /// - Returns: a descriptor, readable once a signal came; negative when there is none, and each of these signals ends the process
  ///   at once.
  public static func prepare() -> Int32 {
    enroll_posix_ignore_signal(SIGPIPE)
    var set = ending()
    sigprocmask(SIG_BLOCK, &set, nil)
    let descriptor = enroll_posix_signals(&set)
    // Nobody would read them.
    if descriptor < 0 { sigprocmask(SIG_UNBLOCK, &set, nil) }
    return descriptor
  }

  /// Lets the signals through that ``prepare()`` held back: each calls `handler`, which must not return to the program.
  public static func letThrough(_ handler: @convention(c) (Int32) -> Void) {
    var set = ending()
    for number in numbers where sigismember(&set, number) == 1 { enroll_posix_handle_signal(number, handler) }
    sigprocmask(SIG_UNBLOCK, &set, nil)
  }

  /// Holds them back again.
  public static func holdBack() {
    var set = ending()
    sigprocmask(SIG_BLOCK, &set, nil)
    for number in numbers where sigismember(&set, number) == 1 { enroll_posix_handle_signal(number, nil) }
  }

  /// Takes the first signal, once. From then on a thread of its own takes the others, and ends the process by a SIGINT that
  /// comes late enough.
  /// - Parameter descriptor: what ``prepare()`` gave, not to be read by anybody else any more.
  public static func take(_ descriptor: Int32) {
    _ = enroll_posix_next_signal(descriptor)
    let first = SystemClock.monotonic()
    // Without a thread nothing cuts the end short; it is bounded.
    _ = PlainThread.start {
      ExitBarrier.outside {
        while true {
          var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
          let outcome = poll(&poller, 1, -1)
          if outcome < 0, enroll_posix_errno() != EINTR { return }
          guard outcome > 0, enroll_posix_next_signal(descriptor) == SIGINT else { continue }
          if SystemClock.monotonic() - first >= deliberateNanoseconds { end(by: SIGINT) }
        }
      }
    }
  }

  /// As the signal ends a process that does not handle it.
  private static func end(by number: Int32) {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, number)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    kill(getpid(), number)
  }

  private static let numbers = [SIGTERM, SIGINT, SIGHUP]

  private static func ending() -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for number in numbers where enroll_posix_is_signal_ignored(number) == 0 {
      sigaddset(&set, number)
    }
    return set
  }
}
