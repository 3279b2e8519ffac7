// How a call of the store survives the loss of a connection. A restart of the server breaks all connections of the pool at
// once. So after a loss all idle connections are closed, and the call is repeated once on a new connection if that does no
// harm. A change that timed out is not repeated: the server would time out again, and have twice the work.

import EnrollGateway

extension SQLFailure {
  /// Runs `body`, which asks the server, and converts an error of `body`.
  static func asking<Result>(
    _ body: () throws(PostgreSQLError) -> Result
  ) throws(SQLFailure) -> Result {
    do throws(PostgreSQLError) { return try body() } catch { throw .postgresql(error) }
  }
}

extension PostgreSQLDatabase {
  private static let mostRaces = 3

  func perform<Result>(
    _ use: SQLUse, _ body: (any SQLConnection, Bool) throws(SQLFailure) -> Result
  ) throws(StoreFailure) -> Result {
    try attempt(use) { (connection, isRepeated) throws(SQLFailure) in try body(connection, isRepeated) }
  }

  /// - Parameters:
  ///   - other: the pool to use; nil for the pool that all calls share.
  ///   - body: gets the connection, and whether an earlier attempt may have taken effect.
  func attempt<Result>(
    _ use: SQLUse, by other: ConnectionPool<PostgreSQLConnection>? = nil,
    _ body: (PostgreSQLConnection, Bool) throws(SQLFailure) -> Result
  ) throws(StoreFailure) -> Result {
    try observer.measured { () throws(StoreFailure) in try attempts(use, by: other, body) }
  }

  private func attempts<Result>(
    _ use: SQLUse, by other: ConnectionPool<PostgreSQLConnection>?,
    _ body: (PostgreSQLConnection, Bool) throws(SQLFailure) -> Result
  ) throws(StoreFailure) -> Result {
    let pool = other ?? self.pool
    var wasLost = false
    var races = 0
    /// The error of an earlier try whose outcome is unknown.
    var missed: String?
    while true {
      // A call that may run only once must not start on a connection that the server is known to have closed.
      let connection = try use == .once ? acquireLive() : acquire(from: pool, orReport: missed)
      defer { pool.release(connection) }
      do throws(SQLFailure) {
        return try body(connection, missed != nil)
      } catch {
        guard case .postgresql(let error) = error else { throw error.failure }
        switch error {
        case .lost(let text, let mayHaveHappened):
          pool.dropIdle()
          if mayHaveHappened, use != .reading { missed = text }
          let isRepeatable = use != .once || !mayHaveHappened
          if isRepeatable, !wasLost {
            wasLost = true
            continue
          }
        case .timedOut where use == .reading && !wasLost:
          // The other connections probably go to the same server.
          connection.giveUp()
          pool.dropIdle()
          wasLost = true
          continue
        case .timedOut: break
        case .refused where error.isReadOnlyServer && !wasLost:
          connection.giveUp()
          pool.dropIdle()
          wasLost = true
          continue
        case .refused where error.isRace && races < Self.mostRaces:
          races += 1
          continue
        case .refused: break
        }
        if let missed { throw PostgreSQLError.unknownOutcome(missed) }
        if error.isOtherSchema { try PostgreSQLMigration.check(by: connection) }
        throw error.failure
      }
    }
  }

  /// Returns a connection that the server has not closed, as far as is known without a round trip.
  func acquireLive() throws(StoreFailure) -> PostgreSQLConnection {
    while true {
      let connection = try pool.acquire()
      guard connection.hasEnded else { return connection }
      connection.giveUp()
      pool.release(connection)
    }
  }

  private func acquire(
    from pool: ConnectionPool<PostgreSQLConnection>, orReport missed: String?
  ) throws(StoreFailure) -> PostgreSQLConnection {
    do {
      return try pool.acquire()
    } catch {
      if let missed { throw PostgreSQLError.unknownOutcome(missed) }
      throw error
    }
  }
}
