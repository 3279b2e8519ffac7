// The host's clock: a struct of function pointers becomes a Clock. The functions run inside a call, some of them while
// the client holds a lock, so they must be short (R41).

public import CEnroll
import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollPosix

/// The host's clock.
final class HostClock: Clock, @unchecked Sendable {
  // Unchecked: the host promises that `user_data` may be used by several threads at once.
  private typealias Function = @convention(c) (UnsafeMutableRawPointer?) -> Int64
  private let functions: enroll_clock
  private let code = HostCode()
  private let date: Function
  private let monotonic: Function
  private let system = SystemClock()
  private let name: String
  /// The interval, in nanoseconds, at which a sleeping thread reads the clock again: the clock may be set forward while
  /// the thread sleeps.
  private static let slice: Int64 = 50_000_000

  /// - Throws: `.invalidArgument` if one of the functions is NULL.
  convenience init(_ pointer: UnsafePointer<enroll_clock>) throws(EnrollError) {
    let functions = try enroll_clock(reading: pointer)
    guard let date = functions.date, let monotonic = functions.monotonic else {
      throw EnrollError(
        .invalidArgument, "a clock needs date and monotonic; one of them is NULL", field: "clock")
    }
    // The name is random instead of a boot id, because no other clock or process knows from which moment the host's
    // clock counts.
    let name = Base64URL.encode(try SystemRandomSource().bytes(16))
    self.init(functions, date, monotonic, name: name)
  }

  private init(
    _ functions: enroll_clock, _ date: @escaping Function, _ monotonic: @escaping Function, name: String
  ) {
    self.functions = functions
    self.date = date
    self.monotonic = monotonic
    self.name = name
  }

  deinit { functions.release?(functions.user_data) }

  func wallTime() -> UnixTime { UnixTime(seconds: read(date)) }

  func instant() -> Instant { Instant(nanoseconds: read(monotonic)) }

  func bootID() -> String { name }

  func sleep(until instant: Instant) {
    while true {
      let left = instant.since(self.instant())
      guard left > 0 else { return }
      let now = system.instant()
      system.sleep(until: now.advanced(byNanoseconds: min(left, Self.slice)))
    }
  }

  private func read(_ function: Function) -> Int64 {
    code.run { function(functions.user_data) }
  }
}

@_cdecl("enroll_clock_init") @implementation
public func enroll_clock_init(_ clock: UnsafeMutablePointer<enroll_clock>?, _ struct_size: Int) {
  enroll_clock.initialize(clock, size: struct_size)
}
