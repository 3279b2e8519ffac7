// How a call of the store survives the loss of a connection. A restart of the server breaks all connections of the pool at
// once. So after a loss all idle connections are closed, and the call is repeated once on a new connection if that does no
// harm. A change that timed out is not repeated: the server would time out again, and have twice the work.

import EnrollGateway

/// Whether a call may run twice.
enum PostgreSQLUse {
  /// The call makes no change that matters.
  case reading
  /// A repeated change detects the first change, and returns the same answer.
  case repeatable
  /// A change whose answer would be different the second time.
  case once
}

extension PostgreSQLStore {
  private static let mostRaces = 3

  /// - Parameters:
  ///   - other: the pool to use; nil for the pool that all calls share.
  ///   - body: gets the connection, and whether an earlier attempt may have taken effect.
  /// - Throws: `.unknownOutcome` if an attempt may have changed something and no later attempt could find
  ///   out; otherwise the failure of the last attempt.
  func perform<Result>(
    _ use: PostgreSQLUse, by other: ConnectionPool<PostgreSQLConnection>? = nil,
    _ body: (PostgreSQLConnection, Bool) throws(PostgreSQLError) -> Result
  ) throws(StoreFailure) -> Result {
    try observer.measured { () throws(StoreFailure) in try attempt(use, by: other, body) }
  }

  private func attempt<Result>(
    _ use: PostgreSQLUse, by other: ConnectionPool<PostgreSQLConnection>?,
    _ body: (PostgreSQLConnection, Bool) throws(PostgreSQLError) -> Result
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
      do throws(PostgreSQLError) {
        return try body(connection, missed != nil)
      } catch {
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
          // The other connections probably lead to the same server.
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
