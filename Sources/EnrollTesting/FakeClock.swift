// A clock that tests set and advance.

public import EnrollCore
import EnrollHost
import EnrollPosix

/// A clock that stands still until told otherwise.
public final class FakeClock: Clock, @unchecked Sendable {
  // Unchecked: all access goes through `state`.
  private let state: Guarded<Moment>
  /// Of the second that sleepers have begun.
  private let begun = Guarded<Int64>(0, by: Mutex())

  /// - Parameters:
  ///   - wall: the date, seconds since 1970.
  ///   - bootID: the name of the boot.
  public init(wall: Int64 = 1_700_000_000, bootID: String = "boot-1") {
    state = Guarded(
      Moment(wall: UnixTime(seconds: wall), instant: Instant(nanoseconds: 1_000_000_000_000), bootID: bootID),
      by: Mutex())
  }

  public func wallTime() -> UnixTime { state.withLock { $0.wall } }
  public func instant() -> Instant { state.withLock { $0.instant } }
  public func bootID() -> String { state.withLock { $0.bootID } }

  /// Time passes at once.
  public func sleep(until instant: Instant) {
    state.withLock { moment in
      let left = instant.since(moment.instant)
      guard left > 0 else { return }
      moment.instant = instant
      let seconds = begun.withLock { begun in
        let whole = (begun + left) / 1_000_000_000
        begun = (begun + left) % 1_000_000_000
        return whole
      }
      moment.wall = moment.wall + seconds
    }
  }

  /// Time passes, for both clocks.
  public func advance(seconds: Int64) {
    state.withLock {
      $0.wall = $0.wall + seconds
      $0.instant = $0.instant.advanced(bySeconds: seconds)
    }
  }

  /// Somebody sets the date.
  public func setWall(_ seconds: Int64) { state.withLock { $0.wall = UnixTime(seconds: seconds) } }

  /// A host's clock may say anything.
  public func setInstant(_ instant: Instant) { state.withLock { $0.instant = instant } }

  /// The device restarts: another boot, the monotonic clock begins again.
  public func reboot(bootID: String) {
    state.withLock {
      $0.bootID = bootID
      $0.instant = Instant(nanoseconds: 1_000_000_000)
    }
  }
}
