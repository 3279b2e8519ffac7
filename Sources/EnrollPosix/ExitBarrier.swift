// exit() runs handlers and destructors while the other threads go on: what they free there (OpenSSL's tables, say) a
// renewal may be using, and the process dies of it. So the library's threads stop first: a handler of ours, which runs
// before those that were registered earlier, lets each of them come to a point where it waits or runs code of the host, and
// none goes on from there. The library opens OpenSSL such that it frees nothing at exit; this covers a host that was
// first, and whatever else the exit takes away.

import CPosix
import Synchronization

/// Where this library's threads stop when the process ends.
public enum ExitBarrier {
  /// Threads of ours that run code which an exit would harm.
  private static let running = Atomic<Int>(0)
  private static let exiting = Atomic<Bool>(false)
  private static let ours = ThreadMark()
  /// How long an exit waits for them: they compute, or write to a disk.
  private static let longestNanoseconds: Int64 = 2_000_000_000

  /// Whether exit() has begun: no thread of ours will do anything more.
  public static var isExiting: Bool { exiting.load(ordering: .sequentiallyConsistent) }

  /// Whether the current thread is one of the library's.
  static var isOurThread: Bool { ours.isSet }

  /// Registers the handler, before those that were registered until now. Once is enough, twice does no harm.
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
  static func admit() -> Bool {
    _ = isPrepared
    guard comeBack() else { return false }
    return true
  }

  private static let isPrepared: Bool = {
    prepare()
    return true
  }()

  /// The life of a thread that was admitted.
  package static func thread(_ body: () -> Void) {
    ours.during(body)
    running.subtract(1, ordering: .sequentiallyConsistent)
    if isExiting { park() }
  }

  /// An admitted thread could not be started.
  static func dismiss() { running.subtract(1, ordering: .sequentiallyConsistent) }

  /// Runs what waits, or belongs to the host: where it begins during an exit, nothing of ours comes after it.
  public static func outside<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard leave() else { return try body() }
    defer { if !comeBack() { park() } }
    // Calls that the host makes from there wait, as on a thread of its own.
    return try ours.lifted(body)
  }

  /// - Returns: whether the thread is one of ours, and has to ``comeBack()``.
  package static func leave() -> Bool {
    guard ours.isSet else { return false }
    running.subtract(1, ordering: .sequentiallyConsistent)
    return true
  }

  /// - Returns: false when the thread must ``park()``, after it has let go of the mutex that it waited with.
  static func comeBack() -> Bool {
    running.add(1, ordering: .sequentiallyConsistent)
    guard isExiting else { return true }
    running.subtract(1, ordering: .sequentiallyConsistent)
    return false
  }

  /// Stays here until the process has gone.
  package static func park() {
    while true { pause() }
  }

  /// A forked child has none of its parent's threads.
  static func forgetThreads() { running.store(0, ordering: .sequentiallyConsistent) }
}
