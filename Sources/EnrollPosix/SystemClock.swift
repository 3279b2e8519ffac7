// Time from the kernel: the date, the clock that runs from boot and counts suspend, and the id of the boot.

import CPosix
public import EnrollRules
public import EnrollSteps

/// The system's clock.
public final class SystemClock: Clock {
  private let boot: String

  /// Reads the boot id, which cannot change while the process lives.
  public init() {
    boot = SystemClock.readBootID()
  }

  public func wallTime() -> UnixTime {
    UnixTime(seconds: SystemClock.read(enroll_posix_date_clock) / 1_000_000_000)
  }

  public func instant() -> Instant { SystemClock.now() }

  /// The present instant by the system's clock, as ``instant()`` returns it.
  public static func now() -> Instant { Instant(nanoseconds: read(enroll_posix_boot_clock)) }

  /// The id that the system gave to this boot. If the id cannot be read, the result is an id that no other process has,
  /// so that every expiry from another process is checked against the date.
  public func bootID() -> String { boot }

  public func sleep(until instant: Instant) {
    // Sleeps in slices, because the clock by which threads sleep stops during suspend, while the clock of `instant`
    // continues.
    while true {
      let left = instant.since(self.instant())
      guard left > 0 else { return }
      Pause.nanoseconds(min(left, 1_000_000_000))
    }
  }

  /// Nanoseconds of the clock by which threads wait. This clock stops during suspend, and is never set.
  package static func monotonic() -> Int64 { read(enroll_posix_waiting_clock) }

  /// Nanoseconds since 1970 by the system's date, to compare with the times of files. Ignores an injected clock.
  package static func realTime() -> Int64 { read(enroll_posix_date_clock) }

  private static func read(_ clock: clockid_t) -> Int64 { enroll_posix_read_clock(clock) }

  private static func readBootID() -> String {
    var name = [UInt8](repeating: 0, count: 64)
    let count = enroll_posix_boot_name(&name, name.count)
    if count > 0 { return String(decoding: name[..<count], as: UTF8.self) }
    return "process-\(getpid())-\(read(enroll_posix_date_clock))"
  }
}

/// Makes a thread sleep.
package enum Pause {
  /// Pauses the thread for `amount` nanoseconds. Returns early only if a signal handler ran.
  package static func nanoseconds(_ amount: Int64) {
    ExitBarrier.allowingExit { bare(nanoseconds: amount) }
  }

  static func bare(nanoseconds amount: Int64) {
    if amount > 0 { enroll_posix_sleep(amount) }
  }
}
