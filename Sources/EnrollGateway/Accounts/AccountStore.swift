// Where accounts, sessions and one-time codes live. SQLite on one machine, PostgreSQL for several; one suite of tests holds both
// to these promises. Every call blocks, and is whole: after a failure nothing of it has happened, unless the failure says that
// nobody knows (``StoreFailure/unknownOutcome``).

public import EnrollCore

/// A session to begin. The store keeps the hash of its token only: nobody can use a session by reading the database.
public struct NewSession: Sendable, Equatable {
  /// SHA-256 of the token, 32 bytes.
  public var tokenHash: [UInt8]
  /// Names it to people who list their sessions; opens nothing. A UUID of version 7.
  public var id: String
  /// The app that has it; nil: a browser.
  public var app: String?
  /// The name that the browser or the app gives itself, at most 200 bytes, for the list of sessions.
  public var device: String?
  /// It ends so many seconds after its last use…
  public var idleSeconds: Int64
  /// …and so many seconds after its beginning, whatever its use.
  public var absoluteSeconds: Int64

  public init(
    tokenHash: [UInt8], id: String, app: String? = nil, device: String? = nil, idleSeconds: Int64,
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
  /// The provider by which the user signed in: the code is redeemed at its path.
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

/// The result of a sign-in: a session, or a code that an app redeems for one.
public enum Beginning: Sendable, Equatable {
  case session(NewSession)
  case code(NewAppCode)
}

/// Somebody signed in.
public struct SignedIn: Sendable, Equatable {
  public var account: Account
  /// The identity was never seen before.
  public var isNew: Bool

  public init(account: Account, isNew: Bool) {
    self.account = account
    self.isNew = isNew
  }
}

/// A live session, and whose it is.
public struct LiveSession: Sendable, Equatable {
  public var id: String
  public var account: Account
  /// The identity by which the user signed in.
  public var identity: Identity
  public var app: String?
  public var device: String?
  public var created: UnixTime
  public var lastSeen: UnixTime
  /// The earlier of both ends.
  public var expires: UnixTime

  public init(
    id: String, account: Account, identity: Identity, app: String?, device: String?, created: UnixTime,
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

/// How a code was redeemed.
public enum Redemption: Sendable, Equatable {
  /// The session has begun.
  case begun(Account)
  /// No code has this hash.
  case unknown
  /// It came too late.
  case expired
  /// It belongs to another provider's path.
  case otherProvider
  /// The verifier is not that of the challenge; the code stays good.
  case otherVerifier
  /// It was redeemed before; the session that it gave has been ended (RFC 6749 §4.1.2).
  case reused
}

/// Why the store did not do what it was asked.
public enum StoreFailure: Error, Sendable, Equatable {
  /// It cannot be reached, or has no time: nothing happened, and trying later helps.
  case unavailable(String)
  /// The connection was lost while a change was made: it may have happened.
  case unknownOutcome(String)
  /// No space, or not writable.
  case full(String)
  /// The schema is another than this program's.
  case schema(found: Int64, expected: Int64)
  /// A fault of this program, or a damaged database.
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

/// Each change writes its entry of the audit in its own transaction.
public protocol AccountStore: AccountChanges, RegistrationStore, AuditStore, LimitStore,
  RevocationStore
{
  /// Finds or makes the account of the identity, in one statement: a thousand calls at once for one new person make one account.
  /// The identity's e-mail, name and times become those of this sign-in; what this sign-in does not tell (nil) stays.
  /// An account has 100 live sessions; one more ends the one whose last use is longest ago.
  /// - Parameter newAccountID: the id of the account if the identity is new.
  func signIn(
    _ identity: Identity, newAccountID: String, beginning: Beginning, at now: UnixTime,
    from origin: AuditOrigin
  ) throws(StoreFailure) -> SignedIn

  /// Spends a code for a session of the code's app, atomically. A code that was spent before ends the session that it gave.
  /// - Parameter session: its ``NewSession/app`` is not looked at.
  func redeem(
    codeHash: [UInt8], provider: String, challenge: String, session: NewSession, at now: UnixTime,
    from origin: AuditOrigin
  ) throws(StoreFailure) -> Redemption

  /// The live session of a token; nil for none. Notes its use, at most once a minute.
  func session(tokenHash: [UInt8], at now: UnixTime) throws(StoreFailure) -> LiveSession?

  /// The live sessions of an account, the one used last first, at most 100.
  func sessions(ofAccount id: String, at now: UnixTime) throws(StoreFailure) -> [LiveSession]

  /// Ends the session of a token; one that is gone already is no failure.
  func endSession(tokenHash: [UInt8], at now: UnixTime, from origin: AuditOrigin) throws(StoreFailure)

  /// Ends a session of this account by its id.
  /// - Returns: whether there was one.
  func endSession(
    id: String, ofAccount account: String, at now: UnixTime, from origin: AuditOrigin
  ) throws(StoreFailure) -> Bool

  /// Ends all sessions of the account, but for that of a token, all codes that no app has redeemed yet, and all links of e-mails that
  /// nobody has used yet.
  /// - Returns: how many sessions.
  func endSessions(
    ofAccount account: String, exceptTokenHash: [UInt8]?, at now: UnixTime, from origin: AuditOrigin
  ) throws(StoreFailure) -> Int

  /// The accounts with an identity of this e-mail address, the oldest first, at most 100. Its case does not matter.
  func accounts(withEmail email: String) throws(StoreFailure) -> [Account]

  /// nil for none.
  func account(_ id: String) throws(StoreFailure) -> Account?

  /// Every identity of the account, the oldest first.
  func identities(ofAccount id: String) throws(StoreFailure) -> [Identity]

  /// Removes sessions and codes that ended days ago, by `now` and by the database's own clock: no clock that is wrong removes what lives.
  /// - Returns: how many.
  func prune(at now: UnixTime) throws(StoreFailure) -> Int

  /// Brings the schema to this program's, one replica at a time. Migrations only expand: the program from before goes on working, and
  /// starts with a newer schema. If there is nothing to do, the right to read and write rows is enough.
  /// - Returns: the versions that were applied; none with a newer schema.
  func migrate() throws(StoreFailure) -> [Int64]

  /// Returns if the store answers and has this program's schema. It has a connection of its own.
  func check() throws(StoreFailure)

  /// Returns if there is room for a change. SQLite writes a small row; a server of its own says by itself when its disk is full.
  /// - Throws: `.full`. A database that is busy, or away, is the business of ``check()``.
  func checkRoom(at now: UnixTime) throws(StoreFailure)

  /// Closes every connection. Calls fail with `.unavailable` afterwards.
  func close()
}
