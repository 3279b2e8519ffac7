// What `GET /metrics` shows, on an address of its own, and what is looked up for it beforehand: a scrape waits for no database.

import EnrollCore
public import EnrollHTTP

extension Gateway {
  /// Seconds from one look of ``measure()`` to the next.
  public static let measureSeconds: Int64 = 10

  /// Asks the store for figures that only it knows. To be called by a thread of its own, again and again.
  public func measure() {
    let waiting = registrationWaits()
    metrics.mailsWaiting.set(waiting ?? -1)
    do throws(StoreFailure) { metrics.auditEntries.set(try store.auditEntries()) } catch {
      metrics.auditEntries.set(-1)
    }
  }

  private func registrationWaits() -> Int? {
    do throws(StoreFailure) { return try store.waitingMails() } catch { return nil }
  }

  /// The text of the metrics.
  /// - Parameter outside: what the host, the process and the log count.
  public func metricsAnswer(with outside: [MetricSample]) -> WebResponse {
    let (keys, now) = (keys, now)
    let isUp = readiness.withLock { $0.holds(at: clock.instant()) }
    var samples = outside
    samples.append(MetricSample(.databaseUp, [], isUp ? 1 : 0))
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
