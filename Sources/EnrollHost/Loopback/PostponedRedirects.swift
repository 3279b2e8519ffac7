// Redirects that cannot be processed yet, for example during an outage. Each is processed again when it is due.

import EnrollRules

/// A few URLs, each with the time of its next try.
struct PostponedRedirects {
  private var entries: [(url: String, due: Instant)] = []

  /// The maximum number of URLs that wait. A further URL is declined.
  private static let most = 4

  /// When the next URL is due.
  var nextDue: Instant? { entries.map { $0.due }.min() }

  func due(at now: Instant) -> [String] { entries.filter { $0.due <= now }.map { $0.url } }

  /// Adds a URL, or sets the time of its next try.
  /// - Returns: false if the limit of waiting URLs is reached.
  mutating func add(_ url: String, until due: Instant) -> Bool {
    remove(url)
    guard entries.count < Self.most else { return false }
    entries.append((url, due))
    return true
  }

  mutating func remove(_ url: String) { entries.removeAll { $0.url == url } }
}
