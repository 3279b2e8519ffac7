// The store of accounts, sessions and one-time codes. SQLite serves one machine, PostgreSQL several; one test suite runs
// against both. Every call blocks and is atomic: after a failure nothing has changed, unless the failure is
// ``StoreFailure/unknownOutcome``.

public import EnrollRules

/// A session to begin. The store keeps only the hash of its token, so a copy of the database cannot open a
/// session.
public struct NewSession: Sendable, Equatable {
  /// SHA-256 of the token, 32 bytes.
  public var tokenHash: [UInt8]
  public var id: SessionID
  /// The app that has the session; nil for a browser.
  public var app: String?
  /// The name of the browser or app for the list of sessions, at most 200 bytes.
  public var device: String?
  /// How many seconds after its last use the session ends.
  public var idleSeconds: Int64
  /// How many seconds after its beginning the session ends, even if it is used.
  public var absoluteSeconds: Int64

  public init(
    tokenHash: [UInt8], id: SessionID, app: String? = nil, device: String? = nil, idleSeconds: Int64,
    absoluteSeconds: Int64
  ) {
    self.tokenHash = tokenHash
    self.id = id
    self.app = app
    self.device = device
    self.idleSeconds = idleSeconds
    self.absoluteSeconds = absoluteSeconds
  }
}

/// A one-time code that an app will redeem for a session.
public struct NewAppCode: Sendable, Equatable {
  /// SHA-256 of the code, 32 bytes.
  public var codeHash: [UInt8]
  public var app: String
  /// The provider of the sign-in: the code is redeemed at this provider's path.
  public var provider: String
  /// The app's S256 challenge (RFC 7636 §4.2).
  public var challenge: String
  public var expires: UnixTime

  public init(codeHash: [UInt8], app: String, provider: String, challenge: String, expires: UnixTime) {
    self.codeHash = codeHash
    self.app = app
    self.provider = provider
    self.challenge = challenge
    self.expires = expires
  }
}

/// The credential that a sign-in creates: a session, or a code that an app redeems for a session.
public enum NewCredential: Sendable, Equatable {
  case session(NewSession)
  case code(NewAppCode)
}

/// The result of a sign-in.
public struct SignedIn: Sendable, Equatable {
  public var account: Account
  /// True if the identity was seen for the first time.
  public var isNew: Bool

  public init(account: Account, isNew: Bool) {
    self.account = account
    self.isNew = isNew
  }
}

/// A live session with its account and identity.
public struct LiveSession: Sendable, Equatable {
  public var id: SessionID
  public var account: Account
  /// The identity with which the user signed in.
  public var identity: Identity
  public var app: String?
  public var device: String?
  public var created: UnixTime
  public var lastSeen: UnixTime
  /// When the session ends: the earlier of the idle end and the absolute end.
  public var expires: UnixTime

  public init(
    id: SessionID, account: Account, identity: Identity, app: String?, device: String?, created: UnixTime,
    lastSeen: UnixTime, expires: UnixTime
  ) {
    self.id = id
    self.account = account
    self.identity = identity
    self.app = app
    self.device = device
    self.created = created
    self.lastSeen = lastSeen
    self.expires = expires
  }
}

/// The result of redeeming a code.
public enum Redemption: Sendable, Equatable {
  /// The session exists now.
  case created(Account)
  /// No code has this hash.
  case unknown
  /// The code has expired.
  case expired
  /// The code was issued for another provider's path.
  case otherProvider
  /// The verifier does not match the challenge; the code stays valid.
  case otherVerifier
  /// The code was redeemed before. The session that began with the code has been ended (RFC 6749 §4.1.2).
  case reused
}

/// Accounts with their sessions, and the codes of apps. Each change and its audit entry are written in one transaction.
public protocol SessionStore: AnyObject, Sendable {
  /// Finds or creates the account of the identity, atomically: a thousand concurrent calls for one new identity create one
  /// account. The identity's e-mail, name and times are updated; values that are nil in this sign-in stay as they were.
  /// An account has at most 100 live sessions: a further session ends the session that was unused for the longest time.
  /// - Parameter newAccountID: the id of the account if the identity is new.
  func signIn(
    _ identity: Identity, newAccountID: AccountID, creating credential: NewCredential, at now: UnixTime,
    from origin: AuditOrigin
  ) throws(StoreFailure) -> SignedIn

  /// Redeems a code for a session of the code's app, atomically. If the code was redeemed before, the session that
  /// began with the code is ended.
  /// - Parameter session: the session to begin; its ``NewSession/app`` is ignored.
  func redeem(
    codeHash: [UInt8], provider: String, challenge: String, session: NewSession, at now: UnixTime,
    from origin: AuditOrigin
  ) throws(StoreFailure) -> Redemption

  /// The live session of a token, or nil. Records the use of the session at most once a minute.
  func session(tokenHash: [UInt8], at now: UnixTime) throws(StoreFailure) -> LiveSession?

  /// The live sessions of an account, the most recently used first, at most 100.
  func sessions(ofAccount id: AccountID, at now: UnixTime) throws(StoreFailure) -> [LiveSession]

  /// Ends the session of a token. It is not a failure if the session does not exist.
  func endSession(tokenHash: [UInt8], at now: UnixTime, from origin: AuditOrigin) throws(StoreFailure)

  /// Ends a session of this account by its id.
  /// - Returns: whether the account had this session.
  func endSession(
    id: SessionID, ofAccount account: AccountID, at now: UnixTime, from origin: AuditOrigin
  ) throws(StoreFailure) -> Bool

  /// Ends all sessions of the account except the session with the given token, and deletes all unredeemed codes of apps
  /// and all unused links of e-mails.
  /// - Returns: how many sessions ended.
  func endSessions(
    ofAccount account: AccountID, exceptTokenHash: [UInt8]?, at now: UnixTime, from origin: AuditOrigin
  ) throws(StoreFailure) -> Int

  /// The accounts that have an identity with this e-mail address, the oldest first, at most 100. Case is ignored.
  func accounts(withEmail email: String) throws(StoreFailure) -> [Account]

  /// The account with this id, or nil.
  func account(_ id: AccountID) throws(StoreFailure) -> Account?

  /// Every identity of the account, the oldest first.
  func identities(ofAccount id: AccountID) throws(StoreFailure) -> [Identity]
}

/// The upkeep of the database itself.
public protocol StoreUpkeep: AnyObject, Sendable {
  /// Deletes sessions, codes, links and recorded messages that expired days ago. Both `now` and the database's own
  /// clock must be later than the expiry, so that one wrong clock cannot delete valid rows.
  /// - Returns: how many rows were deleted.
  func prune(at now: UnixTime) throws(StoreFailure) -> Int

  /// Brings the schema to this program's version, one replica at a time. Migrations only add: a program of the previous version
  /// keeps working, and also starts with the newer schema. If there is nothing to do, the right to read and write rows is
  /// enough.
  /// - Returns: the versions that were applied; empty if the schema is newer.
  func migrate() throws(StoreFailure) -> [Int64]

  /// Succeeds if the store answers and has this program's schema; PostgreSQL must also grant the gateway the rights to
  /// the tables. The check uses a separate connection.
  func check() throws(StoreFailure)

  /// Succeeds if there is disk space for a change. SQLite writes a small row; a database server reports a full disk
  /// itself.
  /// - Throws: `.full`. Only ``check()`` reports a database that is busy or cannot be reached.
  func checkDiskSpace(at now: UnixTime) throws(StoreFailure)

  /// Closes every connection. Calls fail with `.unavailable` afterwards.
  func close()
}

/// The whole store of a gateway. Code that needs only a part of the store gets one of the protocols that this protocol
/// combines.
public protocol AccountStore: SessionStore, AccountChanges, RegistrationStore, AuditStore, LimitStore,
  RevocationStore, StoreUpkeep
{}
