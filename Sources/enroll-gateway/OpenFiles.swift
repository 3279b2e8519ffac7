// How many files the program may have open, connections among them. The soft limit of most systems is meant for programs of other times:
// it is raised to the hard one, and the host takes as many connections as leave room for all else.

import CPosix
import EnrollCore

struct OpenFiles {
  /// What this process may have open.
  let limit: Int

  /// Nobody needs more, and some systems name no limit at all.
  private static let most: rlim_t = 1 << 20
  /// Connections that are taken however many files there may be.
  private static let mostConnections = 10_000

  /// Raises the soft limit to the hard one.
  static func raised() -> OpenFiles {
    let kind = Int32(RLIMIT_NOFILE.rawValue)
    var limits = rlimit()
    guard getrlimit(kind, &limits) == 0 else { return OpenFiles(limit: 1_024) }
    let before = limits.rlim_cur
    limits.rlim_cur = max(before, min(limits.rlim_max, most))
    let isRaised = setrlimit(kind, &limits) == 0
    return OpenFiles(limit: Int(clamping: min(isRaised ? limits.rlim_cur : before, most)))
  }

  /// Connections that clients may have. The rest is for those to providers (two descriptors each), to the database (three each with
  /// SQLite), for those that read the metrics, and for files that are opened now and then.
  /// - Parameters:
  ///   - providerThreads: requests that may wait for providers at once.
  ///   - metricsConnections: that may be open to the address of the metrics.
  func connections(providerThreads: Int, databaseConnections: Int, metricsConnections: Int) -> Int {
    let others = Self.least(databaseConnections) + 2 * providerThreads + metricsConnections
    return min(max(limit - others, limit / 4), Self.mostConnections)
  }

  /// Where files cannot be opened, requests fail one after the other: too few are refused before.
  /// - Throws: `.configuration`.
  func check(databaseConnections: Int) throws(EnrollError) {
    let least = Self.least(databaseConnections)
    guard limit < least else { return }
    throw EnrollError(
      .configuration,
      "the program may have at most \(limit) open files. With databaseConnections \(databaseConnections) it needs at least "
        + "\(least), and one more for each connection. Raise the hard limit (LimitNOFILE=, ulimit -Hn), such as to 65536.",
      field: "databaseConnections")
  }

  /// The number of open files before the first connection.
  private static func least(_ databaseConnections: Int) -> Int { 64 + 3 * (databaseConnections + 2) }
}
