// Time as the host has it: a struct of function pointers becomes a Clock. Its callbacks run inside a call, and some of
// them while the client holds a lock of its own: they are short (R41).

public import CEnroll
import EnrollCore
import EnrollHost
import EnrollPosix

/// The host's clock.
final class HostClock: Clock, @unchecked Sendable {
  // Unchecked: the host promised that `user_data` may be used by several threads at once.
  private typealias Function = @convention(c) (UnsafeMutableRawPointer?) -> Int64
  private let functions: enroll_clock
  private let code = HostCode()
  private let date: Function
  private let monotonic: Function
  private let system = SystemClock()
  private let name: String
  /// How long a sleeper does not look at a clock that may be set forward meanwhile.
  private static let slice: Int64 = 50_000_000

  /// - Throws: `.invalidArgument` without one of the functions.
  convenience init(_ pointer: UnsafePointer<enroll_clock>) throws(EnrollError) {
    let functions = try enroll_clock(reading: pointer)
    guard let date = functions.date, let monotonic = functions.monotonic else {
      throw EnrollError(
        .invalidArgument, "a clock needs date and monotonic; one of them is NULL", field: "clock")
    }
    // Another clock or another process cannot know what moment the host's clock counts from.
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
