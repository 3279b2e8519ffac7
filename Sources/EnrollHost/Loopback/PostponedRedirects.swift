// Redirects that cannot be judged yet, as in an outage: each is handed over again when it is due.

import EnrollCore

/// A few URLs, each with the time of its next try.
struct PostponedRedirects {
  private var entries: [(url: String, due: Instant)] = []

  /// So many are tried again; one more is declined.
  private static let most = 4

  /// When the next try is due.
  var nextDue: Instant? { entries.map { $0.due }.min() }

  func due(at now: Instant) -> [String] { entries.filter { $0.due <= now }.map { $0.url } }

  /// - Returns: false when there is no room for another one.
  mutating func add(_ url: String, until due: Instant) -> Bool {
    remove(url)
    guard entries.count < Self.most else { return false }
    entries.append((url, due))
    return true
  }

  mutating func remove(_ url: String) { entries.removeAll { $0.url == url } }
}
