// Time from the kernel: the date, the clock that runs from boot through suspend, and the name of the boot.

import CPosix
public import EnrollCore

/// The clock of the machine.
public final class SystemClock: Clock {
  private let boot: String

  /// Reads the boot's name once; it cannot change while the process lives.
  public init() {
    boot = SystemClock.readBootID()
  }

  public func wallTime() -> UnixTime {
    UnixTime(seconds: SystemClock.read(enroll_posix_date_clock) / 1_000_000_000)
  }

  public func instant() -> Instant { SystemClock.now() }

  /// ``instant()`` of every system clock.
  public static func now() -> Instant { Instant(nanoseconds: read(enroll_posix_boot_clock)) }

  /// The name that the system gives the boot. Where it cannot be read, one that no other process shares: every
  /// expiry written by another process then goes by the date.
  public func bootID() -> String { boot }

  public func sleep(until instant: Instant) {
    // In slices, because the sleeping clock stands still during suspend and `instant` does not.
    while true {
      let left = instant.since(self.instant())
      guard left > 0 else { return }
      Pause.nanoseconds(min(left, 1_000_000_000))
    }
  }

  /// Nanoseconds of the clock that threads wait by: stands still during suspend, is never set.
  package static func monotonic() -> Int64 { read(enroll_posix_waiting_clock) }

  /// Nanoseconds since 1970 by the machine's date, whatever clock was injected: what files' times are compared with.
  package static func realTime() -> Int64 { read(enroll_posix_date_clock) }

  private static func read(_ clock: clockid_t) -> Int64 { enroll_posix_read_clock(clock) }

  private static func readBootID() -> String {
    var name = [UInt8](repeating: 0, count: 64)
    let count = enroll_posix_boot_name(&name, name.count)
    if count > 0 { return String(decoding: name[..<count], as: UTF8.self) }
    return "process-\(getpid())-\(read(enroll_posix_date_clock))"
  }
}

/// Holding a thread for a moment.
package enum Pause {
  /// Returns early only where a signal handler ran.
  package static func nanoseconds(_ amount: Int64) {
    ExitBarrier.outside { bare(nanoseconds: amount) }
  }

  static func bare(nanoseconds amount: Int64) {
    if amount > 0 { enroll_posix_sleep(amount) }
  }
}
