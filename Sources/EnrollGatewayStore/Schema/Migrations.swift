// The schema of the database as data: versions in order, each with its statements for both databases. Migrations only
// add: new tables, new indexes, and new columns that may be null or have a default. So a program of the previous
// version keeps working while replicas are replaced. The statements of a released version never change.

import EnrollGateway

/// One step of the schema.
struct Migration: Sendable {
  let version: Int64
  let sqlite: [String]
  let postgresql: [String]

  /// Every version, the oldest first.
  static let all = [version1, version2, version3, version4, version5]
  /// The version that this program reads and writes.
  static var current: Int64 { all.last?.version ?? 0 }

  /// The statement that creates the table of applied versions. Both databases accept it.
  static let versionTable =
    "CREATE TABLE IF NOT EXISTS schema_versions (version bigint PRIMARY KEY, applied bigint NOT NULL)"
  static let versionQuery = "SELECT coalesce(max(version), 0) FROM schema_versions"

  /// The versions that a database with schema `found` lacks.
  /// - Returns: an empty array for a database that a newer program has migrated.
  static func pending(after found: Int64) -> [Migration] { all.filter { $0.version > found } }
}
