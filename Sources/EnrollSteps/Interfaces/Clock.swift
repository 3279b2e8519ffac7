// The interface to the clocks of the device. The steps have no other access to the time.

public import EnrollRules

/// The source of time. The host or a test provides it: a test can then simulate a month in a second.
public protocol Clock: AnyObject, Sendable {
  /// The date by the device's clock, which may be wrong by years.
  func wallTime() -> UnixTime
  /// The monotonic clock of this boot, which also advances while the device is suspended.
  func instant() -> Instant
  /// The id of this boot. It changes with every boot; instants of different boots cannot be compared.
  func bootID() -> String
  /// Blocks the thread until `instant`. Steps call this between two attempts of a request, for a few seconds at most.
  func sleep(until instant: Instant)
}

extension Clock {
  /// Reads the clocks, one after the other.
  public func moment() -> Moment { Moment(wall: wallTime(), instant: instant(), bootID: bootID()) }
}
