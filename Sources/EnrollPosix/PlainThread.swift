// One detached thread that runs one closure, with the signals blocked that may come to any thread: a host's handlers run on
// the host's threads. Its stack is as large as that of the host's own threads, because the host's code may run on it.

import CPosix
import EnrollCrypto

package enum PlainThread {
  /// Enough for libcurl, OpenSSL and JSON of the allowed depth, where the host made its threads smaller.
  static let leastStackBytes = 512 << 10
  /// A program's thread-local memory lies on the stack, too: where it takes all of one, no thread starts (EINVAL).
  static let ampleStackBytes = 16 << 20

  private final class Start {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// - Returns: false when no thread could be started, or the process is ending.
  package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    guard ExitBarrier.admit() else { return false }
    // The new thread inherits the mask: block here, so that no signal slips in before it could block for itself.
    var outside = sigset_t()
    var before = sigset_t()
    enroll_posix_outside_signals(&outside)
    pthread_sigmask(SIG_BLOCK, &outside, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

    let start = Unmanaged.passRetained(Start(body))
    var status = create(start, stackBytes: 0)
    if status == EINVAL { status = create(start, stackBytes: ampleStackBytes) }
    guard status != 0 else { return true }
    start.release()
    ExitBarrier.dismiss()
    return false
  }

  /// - Parameter stackBytes: 0: the default, unless that is too small.
  /// - Returns: 0, or an error number.
  private static func create(_ start: Unmanaged<Start>, stackBytes: Int) -> Int32 {
    enroll_posix_start_thread(
      stackBytes, leastStackBytes,
      { pointer in
        guard let pointer else { return nil }
        ExitBarrier.thread {
          Unmanaged<Start>.fromOpaque(pointer).takeRetainedValue().body()
          // What OpenSSL keeps for the thread goes while an exit still waits for it.
          OpenSSLThread.end()
        }
        return nil
      }, start.toOpaque())
  }
}
