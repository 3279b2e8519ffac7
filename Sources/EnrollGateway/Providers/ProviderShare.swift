// How many requests may wait for one provider at once: one that hangs holds a share of the threads, and others find free ones. The share
// follows what is free, so that a provider that is alone may use most threads, and a second one that hangs takes less.

public import EnrollCore

/// The threads that ask providers, as all shares see them.
public final class ProviderThreads: Sendable {
  /// How many there are.
  public static let count = 512
  /// A provider may hold so many times what is free: alone 384 of 512, beside one that hangs 96.
  static let factor = 3

  private let used: Guarded<Int>

  public init(_ lock: any Lock) { used = Guarded(0, by: lock) }

  /// - Parameter held: by the provider that asks.
  /// - Returns: whether it may hold one more, which counts then.
  func take(beside held: Int) -> Bool {
    used.withLock { used in
      guard held < Self.factor * (Self.count - used) else { return false }
      used += 1
      return true
    }
  }

  func give() { used.withLock { $0 -= 1 } }
}

/// What one provider holds.
final class ProviderShare: Sendable {
  private let threads: ProviderThreads
  private let held: Guarded<Int>

  init(of threads: ProviderThreads, _ lock: any Lock) {
    self.threads = threads
    held = Guarded(0, by: lock)
  }

  /// - Throws: `.busy` when the share is used up; errors of `body`.
  func taking<Result>(_ body: () throws(EnrollError) -> Result) throws(EnrollError) -> Result {
    let (isTaken, count) = held.withLock { held in
      let isTaken = threads.take(beside: held)
      if isTaken { held += 1 }
      return (isTaken, held)
    }
    guard isTaken else {
      throw EnrollError(.busy, "\(count) requests wait for this provider", retryAfterSeconds: 5)
    }
    defer {
      held.withLock { $0 -= 1 }
      threads.give()
    }
    return try body()
  }
}
