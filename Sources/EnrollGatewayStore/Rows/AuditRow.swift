// Entries of the audit as parameters and as rows, the same for both databases.

import EnrollCore
import EnrollGateway

enum AuditRow {
  /// Every statement names them in this order.
  static let columns = "at, event, outcome, account, detail, address, request"

  /// The parameters of ``columns``.
  static func values(_ entry: AuditEntry) throws(StoreFailure) -> [SQLValue] {
    guard let id = entry.account else { return values(entry, account: .null) }
    let account = try CheckedID.bytes(id, "The account of an entry of the audit")
    return values(entry, account: .bytes(account))
  }

  /// - Parameter account: as it is stored; what the entry names is not looked at.
  static func values(_ entry: AuditEntry, account: SQLValue) -> [SQLValue] {
    [
      .integer(entry.at.seconds), .text(entry.event.rawValue), .text(entry.outcome.rawValue), account,
      StoredText.shown(entry.detail), StoredText.shown(entry.origin.address),
      StoredText.shown(entry.origin.request),
    ]
  }

  /// The last parameters of a change: where it came from.
  static func origin(_ origin: AuditOrigin) -> [SQLValue] {
    [StoredText.shown(origin.address), StoredText.shown(origin.request)]
  }

  /// nil for an event that this program does not know: a newer one wrote it.
  static func entry(_ row: some SQLRow) -> AuditEntry? {
    guard let event = AuditEvent(rawValue: row.text(1)),
      let outcome = AuditEntry.Outcome(rawValue: row.text(2))
    else { return nil }
    return AuditEntry(
      at: row.time(0), event, outcome, account: row.isNull(3) ? nil : StoredID.text(of: row.bytes(3)),
      detail: row.textOrNil(4),
      from: AuditOrigin(address: row.textOrNil(5), request: row.textOrNil(6)))
  }
}

extension LimitRule {
  /// What one costs, and what the bucket holds, in milliseconds.
  var milliseconds: (each: Int64, all: Int64) { (seconds * 1_000 / max(1, requests), seconds * 1_000) }

  /// - Parameter fullAt: of the counter that has nothing to give, in milliseconds.
  func refusal(fullAt: Int64, now: Int64) -> LimitVerdict {
    let wait = fullAt + milliseconds.each - now - milliseconds.all
    return .refused(retryAfterSeconds: min(max(1, (wait + 999) / 1_000), seconds))
  }
}
