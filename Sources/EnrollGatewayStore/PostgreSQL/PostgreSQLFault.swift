// The failures of a statement of PostgreSQL, and their meaning for a caller of the store (PostgreSQL,
// appendix A, "Error Codes"). Errors show the server's message without its detail, which quotes rows.

import EnrollGateway

enum PostgreSQLError: Error {
  /// The server refused the statement, which changed nothing.
  case refused(state: String, text: String)
  /// The connection is lost.
  case lost(String, mayHaveHappened: Bool)
  /// The server did not answer in time. It may be waiting for its standby: a repeated call would wait as well.
  case timedOut(mayHaveHappened: Bool)

  /// The same error for a statement that changes nothing: `mayHaveHappened` is false.
  var withoutChange: PostgreSQLError {
    switch self {
    case .lost(let text, _): .lost(text, mayHaveHappened: false)
    case .timedOut: .timedOut(mayHaveHappened: false)
    case .refused: self
    }
  }

  /// True if the server accepts no writes any more: another server has taken over.
  var isReadOnlyServer: Bool {
    if case .refused("25006", _) = self { true } else { false }
  }

  /// True if the statement conflicted with another statement, and can be repeated. Two concurrent inserts of one row
  /// report a violated unique index.
  var isRace: Bool {
    if case .refused(let state, _) = self { ["40001", "40P01", "23505"].contains(state) } else { false }
  }

  /// True if a table, column or schema is missing.
  var isOtherSchema: Bool {
    if case .refused(let state, _) = self { ["42P01", "42703", "3F000"].contains(state) } else { false }
  }

  /// Whether the server ends the connection with this SQLSTATE.
  static func endsConnection(_ state: String) -> Bool {
    state.hasPrefix("08") || ["57P01", "57P02", "57P03", "57P05", "25P03"].contains(state)
  }

  var failure: StoreFailure {
    switch self {
    case .lost(let text, let mayHaveHappened):
      mayHaveHappened ? Self.unknownOutcome(text) : Self.unavailable(text)
    case .timedOut(let mayHaveHappened):
      mayHaveHappened ? Self.unknownOutcome(Self.silence) : Self.unavailable(Self.silence)
    case .refused(let state, let text): Self.failure(state, text)
    }
  }

  private static let silence = "the server gave no answer in time"

  private static func failure(_ state: String, _ text: String) -> StoreFailure {
    switch state {
    case "53100":
      return .full(
        "The disk of PostgreSQL is full (\(text)). The store expected room for the change; nothing was changed. "
          + "Free some space there, then try again.")
    case "25006", "42501":
      return .full(
        "PostgreSQL does not let this user write (\(text)). The store expected to write; nothing was changed. "
          + "Grant the rights, or name the server that takes writes.")
    case "57014":
      return .unavailable(
        "PostgreSQL did not finish a statement within the statement timeout (\(text)). The store expected it "
          + "to; nothing was changed. Try again; if this lasts, look at the server's load and locks.")
    case "55P03":
      return .unavailable(
        "Another program holds a lock in PostgreSQL (\(text)). The store expected to get it; nothing was "
          + "changed. Try again when the other program has finished.")
    case "40001", "40P01":
      return .unavailable(
        "Statements of PostgreSQL hindered one another (\(text)). The store expected one of them to finish; "
          + "nothing was changed. Try again.")
    case "26000", "42P05":
      return .fault(
        "PostgreSQL does not know a statement that was prepared (\(text)). The store expects a connection of its "
          + "own. Let the connection pooler pool sessions, not transactions.")
    case _ where state.hasPrefix("53"), _ where state.hasPrefix("57"):
      return unavailable(text)
    default:
      return .fault(
        "PostgreSQL refused a statement: \(text) (SQLSTATE \(state)). The store expected it to succeed. Report "
          + "this as a fault of enroll-gateway.")
    }
  }

  static func unavailable(_ text: String) -> StoreFailure {
    .unavailable(
      "PostgreSQL cannot be reached (\(text)). The store expected a server that takes writes; nothing was "
        + "changed. Start the server or correct the connection string, then try again.")
  }

  static func unknownOutcome(_ text: String) -> StoreFailure {
    .unknownOutcome(
      "The connection to PostgreSQL was lost during a change (\(text)). The store expected an answer; the change "
        + "may have happened. Look whether it did, or try again.")
  }
}
