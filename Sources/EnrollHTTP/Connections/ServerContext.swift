// The state that all loops and connections of a server share.

import EnrollPosix
import Synchronization

/// The state that the event loops and the workers share. Only its counters, its pools and one flag change.
final class ServerContext: Sendable {
  /// How the server gets its answers.
  enum Answering: Sendable {
    case lanes(any WebApplication)
    /// The closure is called on the event loop.
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
  /// The interval at which a loop with connections checks deadlines: a quarter of the shortest timeout, but between 5
  /// ms and 1 s. A timeout is noticed late by at most this interval.
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

  /// True once the server stops: each answer then closes its connection.
  var isDraining: Bool { draining.load(ordering: .acquiring) }

  /// Begins to stop the server.
  /// - Returns: false if the server is already stopping.
  func beginStopping() -> Bool { !draining.exchange(true, ordering: .acquiringAndReleasing) }

  /// The deadline that is `milliseconds` from now, as a time of ``SystemClock/monotonic()`` in nanoseconds.
  static func deadline(afterMilliseconds milliseconds: Int64) -> Int64 {
    SystemClock.monotonic() &+ min(max(milliseconds, 0), 1 << 40) &* 1_000_000
  }
}
