// Lets a program get the signals that ask it to end as data on a descriptor, so that it can end in an orderly way. Only
// for EnrollKit's programs: the library leaves signals to its host.
//
// One request to end often arrives as several signals: systemd sends SIGTERM and SIGHUP (SendSIGHUP=), timeout(1)
// signals its child and then the child's group, a terminal that closes sends SIGHUP, and so does its shell. Therefore
// signals after the first one have no effect, except one that only a person sends: a SIGINT at least a second later.

import CPosix

public enum TerminationSignals {
  /// A SIGINT at least this long after the first signal counts as a second Ctrl-C. An earlier SIGINT belongs to the
  /// first request.
  private static let secondRequestNanoseconds: Int64 = 1_000_000_000

  /// Blocks SIGTERM, SIGINT and SIGHUP, except those that the parent process had ignored, and ignores SIGPIPE: a write
  /// to a closed stdout is then an error. Call it before the first thread starts.
  /// - Returns: a descriptor that is readable once a signal arrived; negative if no descriptor is available. In that
  ///   case each of these signals ends the process at once.
  public static func prepare() -> Int32 {
    enroll_posix_ignore_signal(SIGPIPE)
    var set = unignoredSignals()
    sigprocmask(SIG_BLOCK, &set, nil)
    let descriptor = enroll_posix_signals(&set)
    // If there is no descriptor, nothing would read the signals, so they are unblocked.
    if descriptor < 0 { sigprocmask(SIG_UNBLOCK, &set, nil) }
    return descriptor
  }

  /// Unblocks the signals that ``prepare()`` blocked. From then on, each of these signals calls `handler`, which must
  /// not return to the program.
  public static func unblock(_ handler: @convention(c) (Int32) -> Void) {
    var set = unignoredSignals()
    for number in numbers where sigismember(&set, number) == 1 { enroll_posix_handle_signal(number, handler) }
    sigprocmask(SIG_UNBLOCK, &set, nil)
  }

  /// Blocks the signals again.
  public static func block() {
    var set = unignoredSignals()
    sigprocmask(SIG_BLOCK, &set, nil)
    for number in numbers where sigismember(&set, number) == 1 { enroll_posix_handle_signal(number, nil) }
  }

  /// Reads the first signal. From then on a thread reads the other signals, and ends the process if a SIGINT arrives at
  /// least a second after the first signal.
  /// - Parameter descriptor: from ``prepare()``. No other code may read it afterwards.
  public static func readFirst(_ descriptor: Int32) {
    _ = enroll_posix_next_signal(descriptor)
    let first = SystemClock.monotonic()
    // Without this thread a second Ctrl-C has no effect; the program still ends within its time limit.
    _ = BackgroundThread.start {
      ExitBarrier.allowingExit {
        while true {
          var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
          let outcome = poll(&poller, 1, -1)
          if outcome < 0, enroll_posix_errno() != EINTR { return }
          guard outcome > 0, enroll_posix_next_signal(descriptor) == SIGINT else { continue }
          if SystemClock.monotonic() - first >= secondRequestNanoseconds { endProcess(by: SIGINT) }
        }
      }
    }
  }

  /// Ends the process in the way in which the signal would end it if it were not handled.
  private static func endProcess(by number: Int32) {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, number)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    kill(getpid(), number)
  }

  private static let numbers = [SIGTERM, SIGINT, SIGHUP]

  private static func unignoredSignals() -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for number in numbers where enroll_posix_is_signal_ignored(number) == 0 {
      sigaddset(&set, number)
    }
    return set
  }
}
