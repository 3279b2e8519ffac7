// exit() runs handlers and destructors while other threads continue. The handlers may free memory that a renewal is
// using (OpenSSL's tables, for example), and the process would crash. So the library's threads stop first. An exit
// handler of the library runs before the handlers that were registered earlier. It waits until each of the library's
// threads is waiting or is running the host's code; such a thread does not continue afterwards. EnrollKit opens OpenSSL
// in such a way that OpenSSL frees nothing at exit. This barrier covers a host that opened OpenSSL first, and
// everything else that the exit frees.

import CPosix
import Synchronization

/// Stops this library's threads when the process exits.
public enum ExitBarrier {
  /// The number of the library's threads that run code which an exit would harm.
  private static let running = Atomic<Int>(0)
  private static let exiting = Atomic<Bool>(false)
  private static let isOurs = ThreadFlag()
  /// The longest time that exit() waits for the library's threads, which only compute or write to a disk during that
  /// time.
  private static let longestNanoseconds: Int64 = 2_000_000_000

  /// Whether exit() has begun. Then the library's threads do no more work.
  public static var isExiting: Bool { exiting.load(ordering: .sequentiallyConsistent) }

  /// Whether the current thread is one of the library's.
  static var isOurThread: Bool { isOurs.isSet }

  /// Registers the exit handler, which runs before the handlers that are registered already. Can be called again.
  package static func prepare() {
    _ = enroll_posix_at_exit {
      ExitBarrier.exiting.store(true, ordering: .sequentiallyConsistent)
      let end = SystemClock.monotonic() + ExitBarrier.longestNanoseconds
      while ExitBarrier.running.load(ordering: .sequentiallyConsistent) > 0, SystemClock.monotonic() < end {
        Pause.bare(nanoseconds: 1_000_000)
      }
    }
  }

  /// Counts a thread that is about to be started.
  /// - Returns: false once the process is ending.
  static func addThread() -> Bool {
    _ = isPrepared
    guard endWait() else { return false }
    return true
  }

  private static let isPrepared: Bool = {
    prepare()
    return true
  }()

  /// Runs the body of a thread that ``addThread()`` counted.
  package static func thread(_ body: () -> Void) {
    isOurs.during(body)
    running.subtract(1, ordering: .sequentiallyConsistent)
    if isExiting { blockUntilExit() }
  }

  /// Takes back the count of ``addThread()``, because the thread could not be started.
  static func removeThread() { running.subtract(1, ordering: .sequentiallyConsistent) }

  /// Runs code that waits, or that belongs to the host. If an exit begins meanwhile, the thread does not return from
  /// here.
  public static func allowingExit<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard beginWait() else { return try body() }
    defer { if !endWait() { blockUntilExit() } }
    // Calls into the library that the host's code makes meanwhile count as calls on a thread of the host.
    return try isOurs.cleared(body)
  }

  /// - Returns: whether the thread belongs to the library, and has to call ``endWait()``.
  package static func beginWait() -> Bool {
    guard isOurs.isSet else { return false }
    running.subtract(1, ordering: .sequentiallyConsistent)
    return true
  }

  /// - Returns: false if the thread must call ``blockUntilExit()`` after it has released the mutex of its wait.
  static func endWait() -> Bool {
    running.add(1, ordering: .sequentiallyConsistent)
    guard isExiting else { return true }
    running.subtract(1, ordering: .sequentiallyConsistent)
    return false
  }

  /// Blocks the thread until the process has ended.
  package static func blockUntilExit() {
    while true { pause() }
  }

  /// Sets the count to zero in a forked child, in which the parent's threads do not exist.
  static func forgetThreads() { running.store(0, ordering: .sequentiallyConsistent) }
}
