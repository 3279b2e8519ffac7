// The answer to `GET /metrics`, on a separate address. Another thread reads the values in the database, so a scrape
// does not wait for the database.

import EnrollRules
import EnrollHTTP

/// Reads the values that only the store knows, and makes the text of all metrics.
struct MetricsReading: Sendable {
  let metrics: GatewayMetrics
  let audit: any AuditStore
  let registrations: any RegistrationStore
  let readiness: ReadinessCheck

  func measure() {
    metrics.mailsWaiting.set(waitingMails ?? -1)
    do throws(StoreFailure) { metrics.auditEntries.set(try audit.auditEntries()) } catch {
      metrics.auditEntries.set(-1)
    }
  }

  private var waitingMails: Int? {
    do throws(StoreFailure) { return try registrations.waitingMails() } catch { return nil }
  }

  /// The answer with the text of all metrics.
  /// - Parameter outside: samples of the host, the process and the log.
  func answer(_ keys: KeyRing, at now: UnixTime, with outside: [MetricSample]) -> WebResponse {
    var samples = outside
    samples.append(MetricSample(.databaseUp, [], readiness.isReady ? 1 : 0))
    samples.append(MetricSample(.keys, [], Double(keys.count)))
    for (name, created) in [("newest", keys.newest), ("oldest", keys.oldest)] {
      samples.append(MetricSample(.keyAge, [name], Double(max(0, now.since(created)))))
    }
    return WebResponse(
      200,
      headers: [
        HTTPHeader("Content-Type", MetricsText.contentType), HTTPHeader("Cache-Control", "no-store"),
      ], body: Array(metrics.text(with: samples).utf8))
  }
}
