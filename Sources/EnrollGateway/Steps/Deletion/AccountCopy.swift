// All data that the gateway stores about an account, as JSON. The user downloads the copy, or an operator exports it on
// request. The copy contains no tokens and no hashes of tokens: they would open sessions, and are not data about the
// user.

public import EnrollRules
public import EnrollJSON

/// A copy of an account. Times are seconds since 1970.
public struct AccountCopy: Sendable {
  public let account: Account
  /// The identities, the oldest first.
  public let identities: [Identity]
  /// The live sessions, the most recently used first.
  public let sessions: [LiveSession]
  /// The audit entries, the newest first, at most 10,000.
  public let audit: [AuditEntry]

  private static let mostAuditEntries = 10_000

  /// Reads the data of an account from the store.
  /// - Returns: nil if no account has the id.
  public init?(
    of id: AccountID, in store: any SessionStore & AuditStore, at now: UnixTime
  ) throws(StoreFailure) {
    guard let account = try store.account(id) else { return nil }
    self.account = account
    identities = try store.identities(ofAccount: id)
    sessions = try store.sessions(ofAccount: id, at: now)
    audit = try store.audit(ofAccount: id, limit: Self.mostAuditEntries)
  }

  /// An object with `account`, `identities`, `sessions` and `audit`.
  public var json: JSON {
    .object([
      ("account", Self.json(account)), ("identities", .array(identities.map { Self.json($0) })),
      ("sessions", .array(sessions.map { Self.json($0) })), ("audit", .array(audit.map { Self.json($0) })),
    ])
  }

  public static func json(_ account: Account) -> JSON {
    .object([
      ("id", .string(account.id.text)), ("created", .integer(account.created.seconds)),
      ("lastLogin", .integer(account.lastLogin.seconds)),
    ])
  }

  public static func json(_ identity: Identity) -> JSON {
    .object([
      ("provider", .string(identity.provider)), ("subject", .string(identity.subject)),
      ("email", identity.email.map { .string($0) }), ("emailVerified", .bool(identity.isEmailVerified)),
      ("name", identity.name.map { .string($0) }),
    ])
  }

  public static func json(_ session: LiveSession) -> JSON {
    .object([
      ("id", .string(session.id.text)), ("provider", .string(session.identity.provider)),
      ("app", session.app.map { .string($0) }), ("device", session.device.map { .string($0) }),
      ("created", .integer(session.created.seconds)), ("lastSeen", .integer(session.lastSeen.seconds)),
      ("expires", .integer(session.expires.seconds)),
    ])
  }

  private static func json(_ entry: AuditEntry) -> JSON {
    .object([
      ("at", .integer(entry.at.seconds)), ("event", .string(entry.event.rawValue)),
      ("outcome", .string(entry.outcome.rawValue)), ("detail", entry.detail.map { .string($0) }),
      ("address", entry.origin.address.map { .string($0) }),
    ])
  }
}
