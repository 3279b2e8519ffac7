// A value that several threads share.

import EnrollRules

/// A box whose value is accessed by one thread at a time.
public final class Guarded<Value>: @unchecked Sendable {
  // Unchecked: every access to `value` runs with `exclusion` held.
  private var value: Value
  private let exclusion: any Lock

  public init(_ value: Value, by exclusion: any Lock) {
    self.value = value
    self.exclusion = exclusion
  }

  /// Runs `body` with the value locked. Keep `body` short, and do no IO in it.
  public func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    exclusion.lock()
    defer { exclusion.unlock() }
    return body(&value)
  }
}
