// The statements about tokens that wait to be revoked, which both databases read alike. Parameters are $1, $2 …

import EnrollCore
import EnrollGateway

enum RevocationQueries {
  /// $1: provider; $2: sealed; $3: account; $4: now; $5: end.
  static let insert = """
    INSERT INTO revocations (provider, sealed, account, due, expires, attempts)
    VALUES ($1, $2, $3, $4, $5, 0)
    """
  /// $1: now; $2: until when they are taken; $3: at most so many; $4: beyond what any gateway with the right date writes: a clock that
  /// was wrong for a while leaves none behind.
  /// - Parameter lock: as the database writes it.
  static func take(_ lock: String) -> String {
    """
    UPDATE revocations SET due = $2, attempts = attempts + 1 WHERE id IN
      (SELECT id FROM revocations WHERE due <= $1 OR due > $4 ORDER BY due LIMIT $3\(lock))
    RETURNING id, provider, sealed, account, expires, attempts
    """
  }
  /// $1: id.
  static let remove = "DELETE FROM revocations WHERE id = $1"
  /// $1: id; $2: when.
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
