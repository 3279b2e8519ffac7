// The failures that every store reports.

/// Why a call of the store failed.
public enum StoreFailure: Error, Sendable, Equatable {
  /// The store cannot be reached or is too busy: nothing has changed, and a later attempt may succeed.
  case unavailable(String)
  /// The connection was lost while a change was made: the change may have happened.
  case unknownOutcome(String)
  /// The disk is full or the database is not writable.
  case full(String)
  /// The schema version of the database differs from this program's version.
  case schema(found: Int64, expected: Int64)
  /// A defect of this program, or a damaged database.
  case fault(String)

  public var message: String {
    switch self {
    case .unavailable(let text), .unknownOutcome(let text), .full(let text), .fault(let text): text
    case .schema(let found, let expected):
      found > expected
        ? "the database has schema \(found), and this program knows \(expected): it was migrated by a newer enroll-gateway"
        : "the database has schema \(found), and this program needs \(expected): run enroll-gateway migrate"
    }
  }
}
