// `POST /account/export`: what the gateway keeps about an account, as a file for the person it belongs to. Tokens and their hashes are not
// in it: they open sessions, and say nothing about a person.

import EnrollCore
import EnrollJSON

extension Gateway {
  func export(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let (_, session) = try ownForm(request) else { return .redirect(to: "/login") }
    let account = session.account
    let (identities, sessions, audit) = try stored { () throws(StoreFailure) in
      try store.append(AuditEntry(at: now, .exported, account: account.id, from: .current))
      return (
        try store.identities(ofAccount: account.id), try store.sessions(ofAccount: account.id, at: now),
        try store.audit(ofAccount: account.id, limit: Self.mostAuditEntries)
      )
    }
    return .json(
      .object([
        (
          "account",
          .object([
            ("id", .string(account.id)), ("created", .integer(account.created.seconds)),
            ("lastLogin", .integer(account.lastLogin.seconds)),
          ])
        ),
        ("identities", .array(identities.map { Self.exported($0) })),
        ("sessions", .array(sessions.map { Self.exported($0) })),
        ("audit", .array(audit.map { Self.exported($0) })),
      ]),
      headers: [
        HTTPHeader("Content-Disposition", "attachment; filename=\"account.json\""),
        HTTPHeader("Cache-Control", "no-store"), HTTPHeader("X-Content-Type-Options", "nosniff"),
      ])
  }

  /// The newest, of each account.
  private static let mostAuditEntries = 10_000

  private static func exported(_ entry: AuditEntry) -> JSON {
    .object([
      ("at", .integer(entry.at.seconds)), ("event", .string(entry.event.rawValue)),
      ("outcome", .string(entry.outcome.rawValue)), ("detail", entry.detail.map { .string($0) }),
      ("address", entry.origin.address.map { .string($0) }),
    ])
  }

  private static func exported(_ identity: Identity) -> JSON {
    .object([
      ("provider", .string(identity.provider)), ("subject", .string(identity.subject)),
      ("email", identity.email.map { .string($0) }), ("emailVerified", .bool(identity.isEmailVerified)),
      ("name", identity.name.map { .string($0) }),
    ])
  }

  private static func exported(_ session: LiveSession) -> JSON {
    .object([
      ("id", .string(session.id)), ("provider", .string(session.identity.provider)),
      ("app", session.app.map { .string($0) }), ("device", session.device.map { .string($0) }),
      ("created", .integer(session.created.seconds)), ("lastSeen", .integer(session.lastSeen.seconds)),
      ("expires", .integer(session.expires.seconds)),
    ])
  }
}
