// Ends the process where stopping itself hangs: closing the event loops needs a thread of libdispatch, which waits for ever where
// the system gives no thread more.

import CPosix

enum StopWatchdog {
  /// Ends the process with status 1 unless it has ended by itself.
  static func start(seconds: UInt32) {
    signal(SIGALRM) { _ in
      let text: StaticString = "stopping did not come to its end; the process ends now\n"
      _ = write(2, text.utf8Start, text.utf8CodeUnitCount)
      _exit(1)
    }
    alarm(seconds)
  }
}
