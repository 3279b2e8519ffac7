// How a call of the store survives the loss of a connection. A restart of the server breaks every connection of the pool at
// once; so after a loss all idle ones are dropped, and the call is made once more on a new one, where that does no harm. A change that
// the server did not answer in time is not made again: the server would be as silent, and have twice as much to do.

import EnrollGateway

/// What a call may do twice.
enum PostgreSQLUse {
  /// It changes nothing that matters.
  case reading
  /// A change that happened already is found, and gives the same answer.
  case repeatable
  /// A change whose answer would be another the second time.
  case once
}

extension PostgreSQLStore {
  private static let mostRaces = 3

  /// - Parameters:
  ///   - other: nil: the connections that all calls share.
  ///   - body: told whether an earlier try may have happened.
  /// - Throws: `.unknownOutcome` if a try may have changed something and no later one told; else what the last try failed
  ///   with.
  func perform<Result>(
    _ use: PostgreSQLUse, by other: ConnectionPool<PostgreSQLConnection>? = nil,
    _ body: (PostgreSQLConnection, Bool) throws(PostgreSQLError) -> Result
  ) throws(StoreFailure) -> Result {
    try observer.calling { () throws(StoreFailure) in try attempt(use, by: other, body) }
  }

  private func attempt<Result>(
    _ use: PostgreSQLUse, by other: ConnectionPool<PostgreSQLConnection>?,
    _ body: (PostgreSQLConnection, Bool) throws(PostgreSQLError) -> Result
  ) throws(StoreFailure) -> Result {
    let pool = other ?? self.pool
    var wasLost = false
    var races = 0
    /// Why nobody knows about an earlier try.
    var missed: String?
    while true {
      // What can be done only once is not sent into a connection that is known to have ended.
      let connection = try use == .once ? takeLive() : take(of: pool, orTell: missed)
      defer { pool.give(connection) }
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
          // The others probably lead to the same server.
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

  /// A connection that the server has not closed, as far as is known without asking it.
  func takeLive() throws(StoreFailure) -> PostgreSQLConnection {
    while true {
      let connection = try pool.take()
      guard connection.hasEnded else { return connection }
      connection.giveUp()
      pool.give(connection)
    }
  }

  private func take(
    of pool: ConnectionPool<PostgreSQLConnection>, orTell missed: String?
  ) throws(StoreFailure) -> PostgreSQLConnection {
    do {
      return try pool.take()
    } catch {
      if let missed { throw PostgreSQLError.unknownOutcome(missed) }
      throw error
    }
  }
}
