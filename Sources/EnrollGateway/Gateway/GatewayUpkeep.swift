// What the host's threads do besides answering requests: they check the database, revoke tokens, and read the values of
// metrics.

import EnrollRules
import EnrollSteps
public import EnrollHTTP

extension Gateway {
  /// The paths that load balancers request. These requests may have any host name.
  public static let probePaths = Route.all.filter(\.isProbe).map(\.path)
  /// The interval of checks.
  public static let probeMilliseconds: Int64 = 2_000
  /// The interval after a failed check. It is short, because no request is served until a check succeeds.
  public static let failedProbeMilliseconds: Int64 = 250

  /// Checks the store, and records the result for `/readyz`. A separate thread calls this repeatedly.
  /// - Returns: whether the store can be used.
  @discardableResult
  public func probe() -> Bool { readiness.probe() }

  /// Revokes tokens that are due.
  /// - Returns: how many tokens this call tried to revoke; 0 if no token is due.
  @discardableResult
  public func revokeDue(most: Int = 16) throws(StoreFailure) -> Int { try revocations.revokeDue(most: most) }

  /// The interval of calls of ``measure()``.
  public static let measureSeconds: Int64 = 10

  /// Reads the metrics that come from the store. A separate thread calls this repeatedly.
  public func measure() { measurement.measure() }

  /// The text of the metrics.
  /// - Parameter outside: samples of the host, the process and the log.
  public func metricsAnswer(with outside: [MetricSample]) -> WebResponse {
    measurement.answer(services.keys, at: services.clock.wallTime(), with: outside)
  }

  /// The labels of the routes in the metrics.
  public static let routeLabels = RouteTable.shared.labels
}
