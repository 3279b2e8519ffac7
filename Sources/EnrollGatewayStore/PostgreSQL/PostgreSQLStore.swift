// The store in PostgreSQL.

public import EnrollGateway

/// Accounts in PostgreSQL, for one or several gateways.
public final class PostgreSQLStore: SQLStore, @unchecked Sendable {
  /// Parses the connection string. The store connects when it is first used.
  ///
  /// The string may name several hosts; the store uses the host that accepts writes
  /// (`target_session_attrs=read-write`). The store notices a dead server within five seconds. The string can set
  /// another rule for the host, and another time than five seconds. A connection pooler in front of the server has to
  /// pool sessions, not transactions.
  /// - Parameters:
  ///   - conninfo: keywords or a URI, as libpq reads them (PostgreSQL, libpq, "Connection Strings").
  ///   - connections: the highest number of open connections; ``SQLStore/check()`` uses one more.
  ///   - statementMilliseconds: the server's statement timeout; half a second later the client also stops waiting.
  ///   - waitMilliseconds: how long a call waits for a free connection.
  ///   - observer: gets reports of calls and sessions.
  /// - Throws: `.fault` if libpq is not installed, or the string cannot be parsed. No error contains the password.
  public init(
    _ conninfo: String, connections: Int = 8, statementMilliseconds: Int64 = 4_000,
    waitMilliseconds: Int64 = 5_000, observer: (any StoreObserver)? = nil
  ) throws(StoreFailure) {
    super.init(
      try PostgreSQLDatabase(
        conninfo, connections: connections, statementMilliseconds: statementMilliseconds,
        waitMilliseconds: waitMilliseconds, observer: observer), observer)
  }
}
