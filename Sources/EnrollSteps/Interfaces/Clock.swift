// The interface to the clocks of the device. The steps have no other access to the time.

public import EnrollRules

/// The source of time. Injected, so that a test can simulate a month in a second.
public protocol Clock: AnyObject, Sendable {
  /// The date by the device's clock, which may be wrong by years.
  func wallTime() -> UnixTime
  /// Monotonic within a boot; it also advances during suspend.
  func instant() -> Instant
  /// Changes with every boot; instants of different boots cannot be compared.
  func bootID() -> String
  /// Blocks the thread until `instant`: between two attempts of a request, for a few seconds at most.
  func sleep(until instant: Instant)
}

extension Clock {
  /// Reads the clocks, one after the other.
  public func moment() -> Moment { Moment(wall: wallTime(), instant: instant(), bootID: bootID()) }
}
