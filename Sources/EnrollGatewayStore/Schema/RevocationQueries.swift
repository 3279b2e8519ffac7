// The statements about tokens to revoke, which both databases share. Parameters are $1, $2 …

import EnrollRules
import EnrollGateway

enum RevocationQueries {
  /// $1: provider; $2: sealed; $3: account; $4: now; $5: end.
  static let insert = """
    INSERT INTO revocations (provider, sealed, account, due, expires, attempts)
    VALUES ($1, $2, $3, $4, $5, 0)
    """
  /// $1: now; $2: when the lease of the tokens ends; $3: the limit; $4: later than any due time that a
  /// gateway with the right clock writes: tokens with a later due time, from a wrong clock, are taken at
  /// once.
  /// - Parameter lock: the database's clause for locking the rows.
  static func take(_ lock: String) -> String {
    """
    UPDATE revocations SET due = $2, attempts = attempts + 1 WHERE id IN
      (SELECT id FROM revocations WHERE due <= $1 OR due > $4 ORDER BY due LIMIT $3\(lock))
    RETURNING id, provider, sealed, account, expires, attempts
    """
  }
  /// $1: id.
  static let remove = "DELETE FROM revocations WHERE id = $1"
  /// $1: id; $2: the time of the next try.
  static let putOff = "UPDATE revocations SET due = $2 WHERE id = $1"

  static func values(_ most: Int, leaseSeconds: Int64, at now: UnixTime) -> [SQLValue] {
    [
      .integer(now.seconds), .integer((now + leaseSeconds).seconds), .integer(Int64(clamping: most)),
      .integer((now + 2 * RevocationTimes.longestPauseSeconds).seconds),
    ]
  }
}

extension TakenRevocation {
  /// A row of ``RevocationQueries/take(_:)``.
  init(row: some SQLRow) {
    self.init(
      id: row.integer(0), provider: row.text(1), sealed: row.text(2),
      account: StoredID.text(of: row.bytes(3)),
      expires: row.time(4), attempts: row.integer(5))
  }
}
