// The audit: who changed what, when, from where, and with what outcome. The store writes an entry in the transaction of the
// change, and refuses later changes of the entry; entries are deleted only by their age. No entry contains a name, an e-mail
// address, a token or a secret.

public import EnrollRules

/// The kind of an event. The database stores its raw value, so a released value never changes its meaning.
public enum AuditEvent: String, Sendable, CaseIterable {
  case registered
  case signedIn = "signed_in"
  /// An app redeemed its code; the detail names the app.
  case sessionBegun = "session_begun"
  /// One session was ended by its owner or an operator.
  case sessionEnded = "session_ended"
  /// Several sessions were ended at once.
  case sessionsEnded = "sessions_ended"
  /// Sessions over the limit of 100 were ended for a new session; the detail is their number.
  case surplusEnded = "surplus_ended"
  /// Sessions ended because a provider reported a sign-out or a deleted account. The detail names the provider.
  case providerLogout = "provider_logout"
  /// A provider passed on a user's request for deletion; an entry `unlinked` or `deleted` follows. The detail names
  /// the provider.
  case providerDeletion = "provider_deletion"
  /// A one-time code was presented a second time; the session that began with the code was ended.
  case codeReused = "code_reused"
  case linked
  case unlinked
  /// The account got the identities of another account. The detail is the id of that other account.
  case merged
  case exported
  case deleted
  case mailConfirmed = "mail_confirmed"
  /// A password was set for an account that had no password.
  case passwordSet = "password_set"
  case passwordChanged = "password_changed"
  /// A wrong password was entered.
  case passwordRefused = "password_refused"
  /// An operator read the data of an account; the detail names the command. If no account was found, the
  /// entry has no account.
  case viewed
  /// A provider did not revoke a token within seven days; the detail names the provider.
  case revocationDropped = "revocation_dropped"
  /// The gateway read its key file again.
  case keysReloaded = "keys_reloaded"
}

/// The origin of a change.
public struct AuditOrigin: Sendable, Equatable {
  /// The client's address; nil for the program itself; `operator` for an operator's command.
  public var address: String?
  /// The id of the request, as in the log.
  public var request: String?

  public init(address: String? = nil, request: String? = nil) {
    self.address = address
    self.request = request
  }

  /// The program itself.
  public static let program = AuditOrigin()

  /// An operator's command.
  public static let `operator` = AuditOrigin(address: "operator")

  /// The origin of the request that this task answers; ``program`` outside of a request.
  @TaskLocal public static var current = AuditOrigin.program
}

/// One line of the audit.
public struct AuditEntry: Sendable, Equatable {
  public enum Outcome: String, Sendable { case done, refused }

  public var at: UnixTime
  public var event: AuditEvent
  public var outcome: Outcome
  /// The account of the event; nil if the event concerns no account. The id stays when the account is deleted.
  public var account: AccountID?
  /// A detail of the event, as a word, an id or a number: for example the provider's name, the id of the session, or a
  /// count.
  public var detail: String?
  public var origin: AuditOrigin

  public init(
    at: UnixTime, _ event: AuditEvent, _ outcome: Outcome = .done, account: AccountID?, detail: String? = nil,
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

/// The audit in a store. Entries about changes of the store are written with the changes.
public protocol AuditStore: AnyObject, Sendable {
  /// Appends an entry about an event that is not a change of the store.
  func append(_ entry: AuditEntry) throws(StoreFailure)

  /// The newest entries of an account, the newest first.
  func audit(ofAccount id: AccountID, limit: Int) throws(StoreFailure) -> [AuditEntry]

  /// The number of the newest entry: how many entries were ever written, plus the gaps that failed changes left.
  func auditEntries() throws(StoreFailure) -> Int

  /// Deletes entries from before `end`, but never an entry younger than ``AuditRetention/shortestDays``.
  /// - Returns: how many entries were deleted.
  func pruneAudit(before end: UnixTime) throws(StoreFailure) -> Int
}

/// How long audit entries are kept.
public enum AuditRetention {
  /// The smallest permitted number of days for which entries are kept. The database refuses to delete younger entries.
  public static let shortestDays: Int64 = 30
  public static let defaultDays: Int64 = 400
}
