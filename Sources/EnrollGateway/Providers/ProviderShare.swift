// Limits how many requests wait for one provider at once, so that a provider that hangs leaves threads for other
// providers. The limit depends on the number of free threads: a single provider may use most of the threads; if a
// second provider hangs, it may use fewer threads.

import EnrollRules
public import EnrollSteps

/// Counts the threads that call providers. The shares of all providers use the same object.
public final class ProviderThreads: Sendable {
  /// The number of threads.
  public static let count = 512
  /// A provider may use at most this many times the number of free threads: 384 of 512 threads if no other provider
  /// uses threads, 96 if another provider hangs.
  static let factor = 3

  private let used: Guarded<Int>

  public init(_ lock: any Lock) { used = Guarded(0, by: lock) }

  /// Takes one more thread for a provider.
  /// - Parameter held: how many threads the calling provider uses.
  /// - Returns: whether the provider may use one more thread, which is then counted.
  func take(beside held: Int) -> Bool {
    used.withLock { used in
      guard held < Self.factor * (Self.count - used) else { return false }
      used += 1
      return true
    }
  }

  func give() { used.withLock { $0 -= 1 } }
}

/// The threads that one provider uses.
final class ProviderShare: Sendable {
  private let threads: ProviderThreads
  private let held: Guarded<Int>

  init(of threads: ProviderThreads, _ lock: any Lock) {
    self.threads = threads
    held = Guarded(0, by: lock)
  }

  /// Runs `body`, and meanwhile counts this thread as a part of the provider's share.
  /// - Throws: `.busy` if the share is used up; the errors of `body`.
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
