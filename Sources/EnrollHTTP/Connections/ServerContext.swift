// The state that all loops and connections of a server share.

import EnrollPosix
import Synchronization

/// Shared by the event loops and the workers; nothing in it changes but counters and one flag.
final class ServerContext: Sendable {
  /// How requests are answered.
  enum Answering: Sendable {
    case lanes(any WebApplication)
    /// Called on the event loop.
    case later(@Sendable (WebRequest, Responder) -> Void)
  }

  let settings: ServerSettings
  let answering: Answering
  let rules: HeadRules
  let proxies: TrustedProxies
  let database: WorkerPool
  let provider: WorkerPool
  let census: ConnectionCensus
  let counters = ServerCounters()
  /// How often a loop with connections looks at the time. A timeout is noticed late by a quarter of the shortest one, and by a second
  /// at most.
  let tickMilliseconds: Int64
  private let draining = Atomic<Bool>(false)

  init(_ settings: ServerSettings, proxies: TrustedProxies, _ answering: Answering) {
    self.settings = settings
    self.answering = answering
    self.proxies = proxies
    rules = HeadRules(settings)
    database = WorkerPool(threads: settings.database.threads, queue: settings.database.queue)
    provider = WorkerPool(threads: settings.provider.threads, queue: settings.provider.queue)
    census = ConnectionCensus(settings.limits)
    let limits = settings.limits
    let shortest = min(
      limits.headerTimeoutMilliseconds, limits.bodyTimeoutMilliseconds, limits.idleTimeoutMilliseconds,
      limits.lingerMilliseconds)
    tickMilliseconds = min(max(shortest / 4, 5), 1_000)
  }

  var limits: ServerLimits { settings.limits }

  /// Answers close their connections, because the server stops.
  var isDraining: Bool { draining.load(ordering: .acquiring) }

  /// - Returns: false when it drains already.
  func drain() -> Bool { !draining.exchange(true, ordering: .acquiringAndReleasing) }

  /// By the clock of ``SystemClock/monotonic()``, in nanoseconds.
  static func deadline(afterMilliseconds milliseconds: Int64) -> Int64 {
    SystemClock.monotonic() &+ min(max(milliseconds, 0), 1 << 40) &* 1_000_000
  }
}
