// A clock that tests set and advance.

public import EnrollRules
public import EnrollSteps
import EnrollHost
import EnrollPosix

/// A clock that stands still until a test advances it.
public final class FakeClock: Clock, @unchecked Sendable {
  // Unchecked: all access goes through `state`.
  private let state: Guarded<Moment>
  /// The part of the slept time that the wall clock does not show yet, because the wall clock counts only whole
  /// seconds. In nanoseconds, less than a second.
  private let begun = Guarded<Int64>(0, by: Mutex())

  /// - Parameters:
  ///   - wall: the date in seconds since 1970.
  ///   - bootID: the id of the boot.
  public init(wall: Int64 = 1_700_000_000, bootID: String = "boot-1") {
    state = Guarded(
      Moment(wall: UnixTime(seconds: wall), instant: Instant(nanoseconds: 1_000_000_000_000), bootID: bootID),
      by: Mutex())
  }

  public func wallTime() -> UnixTime { state.withLock { $0.wall } }
  public func instant() -> Instant { state.withLock { $0.instant } }
  public func bootID() -> String { state.withLock { $0.bootID } }

  /// Does not wait: advances the clock to `instant` at once.
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

  /// Advances the wall clock and the monotonic clock.
  public func advance(seconds: Int64) {
    state.withLock {
      $0.wall = $0.wall + seconds
      $0.instant = $0.instant.advanced(bySeconds: seconds)
    }
  }

  /// Sets the date, as a user could.
  public func setWall(_ seconds: Int64) { state.withLock { $0.wall = UnixTime(seconds: seconds) } }

  /// Sets the monotonic clock to any value: a host's clock may be wrong.
  public func setInstant(_ instant: Instant) { state.withLock { $0.instant = instant } }

  /// Restarts the device: the boot id is new, and the monotonic clock starts again.
  public func reboot(bootID: String) {
    state.withLock {
      $0.bootID = bootID
      $0.instant = Instant(nanoseconds: 1_000_000_000)
    }
  }
}
