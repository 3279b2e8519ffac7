// The limit of open files. Connections count as open files. The soft limit of most systems is too low for a server, so
// this code raises the soft limit to the hard limit. The server limits its connections, so that descriptors are left
// for everything else.

import CPosix
import EnrollRules

struct OpenFiles {
  /// How many files this process may have open.
  let limit: Int

  /// The highest limit of open files that is used. It is needed because some systems set no limit at all.
  private static let most: rlim_t = 1 << 20
  /// The maximum number of connections, even if more files may be open.
  private static let mostConnections = 10_000

  /// Raises the soft limit to the hard limit.
  static func raised() -> OpenFiles {
    let kind = Int32(RLIMIT_NOFILE.rawValue)
    var limits = rlimit()
    guard getrlimit(kind, &limits) == 0 else { return OpenFiles(limit: 1_024) }
    let before = limits.rlim_cur
    limits.rlim_cur = max(before, min(limits.rlim_max, most))
    let isRaised = setrlimit(kind, &limits) == 0
    return OpenFiles(limit: Int(clamping: min(isRaised ? limits.rlim_cur : before, most)))
  }

  /// The number of connections that clients may have. The other descriptors are for connections to providers (two
  /// each) and to the database (three each with SQLite), for clients that read the metrics, and for files that are
  /// open for a short time.
  /// - Parameters:
  ///   - providerThreads: requests that may wait for providers at once.
  ///   - metricsConnections: the limit of connections to the address of the metrics.
  func connections(providerThreads: Int, databaseConnections: Int, metricsConnections: Int) -> Int {
    let others = Self.least(databaseConnections) + 2 * providerThreads + metricsConnections
    return min(max(limit - others, limit / 4), Self.mostConnections)
  }

  /// Refuses a limit that is too low. This happens when the program starts, because otherwise single requests would
  /// fail later.
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

  /// How many files are open at most before the first connection of a client.
  private static func least(_ databaseConnections: Int) -> Int { 64 + 3 * (databaseConnections + 2) }
}
