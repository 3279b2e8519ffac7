// Audit entries as parameters and as rows, the same for SQLite and PostgreSQL.

import EnrollRules
import EnrollGateway

enum AuditRow {
  /// The columns in the order that every statement uses.
  static let columns = "at, event, outcome, account, detail, address, request"

  /// The parameters for ``columns``.
  static func values(_ entry: AuditEntry) -> [SQLValue] {
    [
      .integer(entry.at.seconds), .text(entry.event.rawValue), .text(entry.outcome.rawValue),
      entry.account.map { .id($0) } ?? .null,
      StoredText.shown(entry.detail), StoredText.shown(entry.origin.address),
      StoredText.shown(entry.origin.request),
    ]
  }

  /// The last two parameters of a change: the client's address and the request id.
  static func origin(_ origin: AuditOrigin) -> [SQLValue] {
    [StoredText.shown(origin.address), StoredText.shown(origin.request)]
  }

  /// The entry of a row; nil for an event that this program does not know, because a newer program wrote it.
  static func entry(_ row: some SQLRow) -> AuditEntry? {
    guard let event = AuditEvent(rawValue: row.text(1)),
      let outcome = AuditEntry.Outcome(rawValue: row.text(2))
    else { return nil }
    return AuditEntry(
      at: row.time(0), event, outcome, account: row.isNull(3) ? nil : row.id(3),
      detail: row.textOrNil(4),
      from: AuditOrigin(address: row.textOrNil(5), request: row.textOrNil(6)))
  }
}

extension LimitRule {
  /// The cost of one request (`each`) and the capacity of the bucket (`all`), in milliseconds.
  var milliseconds: (each: Int64, all: Int64) { (seconds * 1_000 / max(1, requests), seconds * 1_000) }

  /// The refusal of a request, with the seconds after which a request is granted again.
  /// - Parameter fullAt: when the exhausted bucket will be full again, in milliseconds since 1970.
  func refusal(fullAt: Int64, now: Int64) -> LimitVerdict {
    let wait = fullAt + milliseconds.each - now - milliseconds.all
    return .refused(retryAfterSeconds: min(max(1, (wait + 999) / 1_000), seconds))
  }
}
