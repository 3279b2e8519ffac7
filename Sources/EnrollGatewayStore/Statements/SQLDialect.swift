// The differences between the SQL of the two databases. Everything else in the statements is the same.

/// One of the two dialects.
struct SQLDialect: Sendable {
  /// Text appended to a query, so that nobody else changes the query's rows until the transaction ends.
  let lock: String
  /// Text appended to a query, so that nobody else deletes the query's rows until the transaction ends.
  let keyLock: String
  /// Text appended to a query, so that the query waits for a transaction that changes its rows.
  let shareLock: String
  /// Now by the database's own clock, in seconds since 1970.
  let now: String
  /// The function for the smaller of two numbers.
  let least: String
  /// The operator for "not equal" that also works if one side is null.
  let isNot: String
  /// The texts before and after a query: a change is then limited to the query's rows. Rows that another transaction
  /// has locked are left out.
  private let batch: (start: String, end: String)

  func among(_ query: String) -> String { batch.start + query + batch.end }

  /// SQLite has one writer, which holds the only write lock: its queries lock no rows.
  static let sqlite = SQLDialect(
    lock: "", keyLock: "", shareLock: "", now: "CAST(strftime('%s', 'now') AS integer)", least: "min",
    isNot: "IS NOT", batch: ("IN (", ")"))

  /// `batch` puts the subquery into an array, so that the server runs the subquery once, before the change.
  static let postgresql = SQLDialect(
    lock: " FOR UPDATE", keyLock: " FOR KEY SHARE", shareLock: " FOR SHARE",
    now: "extract(epoch FROM now())::bigint", least: "least", isNot: "IS DISTINCT FROM",
    batch: ("= ANY (ARRAY(", " FOR UPDATE SKIP LOCKED))"))
}

/// A statement that each connection prepares when it first uses it. Its parameters are $1, $2 …
final class SQLStatement: Sendable {
  let sqlite: String
  let postgresql: String

  /// A statement whose text depends on the dialect.
  init(_ text: (SQLDialect) -> String) {
    sqlite = Self.numbered(text(.sqlite))
    postgresql = text(.postgresql)
  }

  convenience init(_ text: String) { self.init { _ in text } }

  /// Rewrites the parameters for SQLite: its parameters are ?1, ?2 …, and it would read $1 as a name.
  static func numbered(_ text: String) -> String { String(text.map { $0 == "$" ? "?" : $0 }) }
}
