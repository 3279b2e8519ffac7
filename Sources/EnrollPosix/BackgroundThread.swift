// A detached thread that runs one closure. It blocks the signals that the kernel may deliver to any thread,
// so that the host's handlers run on the host's threads. Its stack is as large as the stacks of the host's
// own threads, because the host's code may run on it.

import CPosix
import EnrollCrypto

package enum BackgroundThread {
  /// The smallest size of a thread's stack. It is used if the host's default is smaller, and is enough for libcurl,
  /// OpenSSL and JSON of the allowed depth.
  static let leastStackBytes = 512 << 10
  /// The stack size for a second attempt. A program's thread-local memory is on the stack, too; if it fills a stack of
  /// the default size, no thread starts (EINVAL).
  static let ampleStackBytes = 16 << 20

  private final class Start {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// - Returns: false if no thread could be started, or the process is exiting.
  package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    guard ExitBarrier.addThread() else { return false }
    // The new thread inherits the signal mask of this thread. The mask is set before the start, so that the new thread
    // blocks the signals from its first instruction on.
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
    ExitBarrier.removeThread()
    return false
  }

  /// - Parameter stackBytes: the size of the stack; 0 for the default, unless the default is too small.
  /// - Returns: 0, or an error number.
  private static func create(_ start: Unmanaged<Start>, stackBytes: Int) -> Int32 {
    enroll_posix_start_thread(
      stackBytes, leastStackBytes,
      { pointer in
        guard let pointer else { return nil }
        ExitBarrier.thread {
          Unmanaged<Start>.fromOpaque(pointer).takeRetainedValue().body()
          // OpenSSL's data of this thread is freed here, while an exit still waits for the thread.
          OpenSSLThread.end()
        }
        return nil
      }, start.toOpaque())
  }
}
