// Parameters of statements and rows of results, the same for SQLite and PostgreSQL.

import EnrollRules
import EnrollGateway

/// A parameter of a statement.
enum SQLValue: Sendable, Equatable {
  case null
  case integer(Int64)
  case boolean(Bool)
  case text(String)
  case bytes([UInt8])

  static func id<Kind>(_ id: RecordID<Kind>) -> SQLValue { .bytes(id.bytes) }
  static func text(orNull text: String?) -> SQLValue { text.map { .text($0) } ?? .null }
}

/// One row of a result; valid until the statement takes its next step. Columns count from 0.
protocol SQLRow {
  func isNull(_ column: Int32) -> Bool
  func integer(_ column: Int32) -> Int64
  func boolean(_ column: Int32) -> Bool
  func text(_ column: Int32) -> String
  func bytes(_ column: Int32) -> [UInt8]
}

extension SQLRow {
  func textOrNil(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }
  func id<Kind>(_ column: Int32) -> RecordID<Kind> { RecordID(bytes: bytes(column)) }
  func accountID(_ column: Int32) -> AccountID { id(column) }
  func time(_ column: Int32) -> UnixTime { UnixTime(seconds: integer(column)) }
}
