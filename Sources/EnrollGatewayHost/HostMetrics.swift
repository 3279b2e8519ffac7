// The host's counters, for the metrics page.

import EnrollCore
import EnrollPosix

/// A reading of an ``HTTPHost``'s counters. All but the two that say so only grow.
public struct HostMetrics: Sendable, Equatable {
  /// Connections that were accepted, those over a limit included.
  public var connectionsAccepted = 0
  /// Connections that are open now.
  public var connectionsOpen = 0
  /// Requests that a worker has or that wait for one, now.
  public var requestsInWork = 0
  /// Answers by the hundreds of their status: `[2]` counts 200 to 299. Refusals with a status are among them.
  public var answers = [0, 0, 0, 0, 0, 0]
  /// What the host refused by itself, by reason.
  public var refusals: [Refusal: Int] = [:]
}

/// Counts from any thread.
final class HostCounters: Sendable {
  private let metrics = Guarded(HostMetrics(), by: Mutex())

  var reading: HostMetrics { metrics.withLock { $0 } }

  func count(_ change: (inout HostMetrics) -> Void) { metrics.withLock(change) }

  func answered(_ status: Int) {
    metrics.withLock { $0.answers[min(max(status / 100, 0), 5)] &+= 1 }
  }

  func refused(_ refusal: Refusal) {
    metrics.withLock { metrics in
      metrics.refusals[refusal, default: 0] &+= 1
      if let status = refusal.status { metrics.answers[status / 100] &+= 1 }
    }
  }
}
