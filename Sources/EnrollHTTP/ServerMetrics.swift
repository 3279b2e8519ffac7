// The server's counters, for a metrics page. Every thread increments them without a lock.

import Synchronization

/// A reading of an ``HTTPServer``'s counters. Counters only grow, except the counters whose description has the word
/// "now".
public struct ServerMetrics: Sendable, Equatable {
  /// The number of accepted connections, including connections that were then refused because of a limit.
  public var connectionsAccepted = 0
  /// Connections that are open now.
  public var connectionsOpen = 0
  /// Requests that wait for their answer now: in a queue, on a worker thread, or until a ``Responder`` sends it.
  public var requestsInWork = 0
  /// Answers by the first digit of their status: `[2]` counts 200 to 299. Refusals with a status are included.
  public var answers = [0, 0, 0, 0, 0, 0]
  /// The requests and connections that the server itself refused, by reason.
  public var refusals: [Refusal: Int] = [:]
  /// For ``Lane/database``: how many requests wait for a thread now, and how many threads exist now.
  public var database = (waiting: 0, threads: 0)
  /// The same numbers for ``Lane/provider``.
  public var provider = (waiting: 0, threads: 0)

  public static func == (left: ServerMetrics, right: ServerMetrics) -> Bool {
    left.connectionsAccepted == right.connectionsAccepted && left.connectionsOpen == right.connectionsOpen
      && left.requestsInWork == right.requestsInWork && left.answers == right.answers
      && left.refusals == right.refusals && left.database == right.database
      && left.provider == right.provider
  }
}

/// The counters, which any thread may increment.
final class ServerCounters: Sendable {
  private final class Cell: Sendable {
    private let value = Atomic<Int>(0)
    func add() { value.wrappingAdd(1, ordering: .relaxed) }
    var reading: Int { value.load(ordering: .relaxed) }
  }

  private let accepted = Cell()
  private let answers = (0..<6).map { _ in Cell() }
  private let refusals = Refusal.allCases.map { (reason: $0, cell: Cell()) }

  var reading: ServerMetrics {
    var metrics = ServerMetrics()
    metrics.connectionsAccepted = accepted.reading
    metrics.answers = answers.map(\.reading)
    for (reason, cell) in refusals where cell.reading > 0 { metrics.refusals[reason] = cell.reading }
    return metrics
  }

  func acceptedConnection() { accepted.add() }

  func answered(_ status: Int) { answers[min(max(status / 100, 0), 5)].add() }

  func refused(_ refusal: Refusal) {
    refusals.first { $0.reason == refusal }?.cell.add()
  }
}
