// The audit: who changed what, when, from where, and with what outcome. The store writes an entry in the transaction of the change
// that it tells of, and refuses to change one afterwards; an entry goes only by its age. No entry holds a name, an e-mail
// address, a token or a secret.

public import EnrollCore

/// The kind of an event. The database holds its text, so a text that was released keeps its meaning.
public enum AuditEvent: String, Sendable, CaseIterable {
  case registered
  case signedIn = "signed_in"
  /// An app redeemed its code; the detail names the app.
  case sessionBegun = "session_begun"
  /// One session, by its owner or an operator.
  case sessionEnded = "session_ended"
  /// Several at once.
  case sessionsEnded = "sessions_ended"
  /// Sessions beyond the hundredth, which gave way to a new one; the detail is their number.
  case surplusEnded = "surplus_ended"
  /// A provider told of a sign-out, or of an account that is no more; sessions ended. The detail names the provider.
  case providerLogout = "provider_logout"
  /// A provider told that somebody asked there to be forgotten; `unlinked` or `deleted` follows. The detail names the provider.
  case providerDeletion = "provider_deletion"
  /// A one-time code came a second time; the session that it gave was ended.
  case codeReused = "code_reused"
  case linked
  case unlinked
  /// The account took the identities of another, which the detail names.
  case merged
  case exported
  case deleted
  case mailConfirmed = "mail_confirmed"
  /// There was none before.
  case passwordSet = "password_set"
  case passwordChanged = "password_changed"
  /// A password that is not the account's.
  case passwordRefused = "password_refused"
  /// An operator looked at what is kept about the account; the detail names the command. Without an account nobody was found.
  case viewed
  /// A provider did not take back a token in seven days; the detail names the provider.
  case revocationDropped = "revocation_dropped"
  /// A gateway read its key file again.
  case keysReloaded = "keys_reloaded"
}

/// Where a change came from.
public struct AuditOrigin: Sendable, Equatable {
  /// The client's address; nil for the program itself, `operator` for an operator's command.
  public var address: String?
  /// The id of the request, as the log has it.
  public var request: String?

  public init(address: String? = nil, request: String? = nil) {
    self.address = address
    self.request = request
  }

  /// The program itself.
  public static let program = AuditOrigin()

  /// An operator's command.
  public static let `operator` = AuditOrigin(address: "operator")

  /// That of the request that this thread answers; ``program`` outside of one.
  @TaskLocal public static var current = AuditOrigin.program
}

/// One line of the audit.
public struct AuditEntry: Sendable, Equatable {
  public enum Outcome: String, Sendable { case done, refused }

  public var at: UnixTime
  public var event: AuditEvent
  public var outcome: Outcome
  /// The account's id; nil where none is concerned. It stays when the account is deleted.
  public var account: String?
  /// One word or id that tells more: the provider's name, the id of the session, a count.
  public var detail: String?
  public var origin: AuditOrigin

  public init(
    at: UnixTime, _ event: AuditEvent, _ outcome: Outcome = .done, account: String?, detail: String? = nil,
    from origin: AuditOrigin
  ) {
    self.at = at
    self.event = event
    self.outcome = outcome
    self.account = account
    self.detail = detail
    self.origin = origin
  }
}

/// The audit, as a store keeps it. Entries about changes of the store are written with the changes.
public protocol AuditStore: AnyObject, Sendable {
  /// Appends an entry about something that the store itself does not change.
  func append(_ entry: AuditEntry) throws(StoreFailure)

  /// The newest entries of an account, the newest first.
  func audit(ofAccount id: String, limit: Int) throws(StoreFailure) -> [AuditEntry]

  /// The number of the newest entry: how many were written, apart from numbers that a failed change left out.
  func auditEntries() throws(StoreFailure) -> Int

  /// Removes entries from before `end`. None goes that is younger than ``AuditRetention/shortestDays``.
  /// - Returns: how many.
  func pruneAudit(before end: UnixTime) throws(StoreFailure) -> Int
}

/// How long entries stay.
public enum AuditRetention {
  /// The database refuses to remove younger entries, whoever asks.
  public static let shortestDays: Int64 = 30
  public static let defaultDays: Int64 = 400
}
