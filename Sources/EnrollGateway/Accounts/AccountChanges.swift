// Changes of an account: link or unlink an identity, merge two accounts, delete an account. Each change is atomic. If
// a user asks for a change, the same transaction checks that the user's session is live and began recently.

public import EnrollRules

/// The key by which an identity is found. Two identities never have the same key.
public struct IdentityKey: Sendable, Equatable, Hashable {
  /// The gateway's name for the provider: `google`.
  public var provider: String
  /// As ``Identity/subject``.
  public var subject: String

  public init(provider: String, subject: String) {
    self.provider = provider
    self.subject = subject
  }
}

extension Identity {
  public var key: IdentityKey { IdentityKey(provider: provider, subject: subject) }
}

/// The session that asks for a change. It must be live, belong to the account, and have begun recently: the sign-in proves that
/// the user holds an identity of the account.
public struct RecentSignIn: Sendable, Equatable {
  /// SHA-256 of the session's token, 32 bytes.
  public var tokenHash: [UInt8]
  /// The id of the account that the session belongs to.
  public var account: AccountID
  /// The session counts as proof only if it began at this time or later.
  public var since: UnixTime

  public init(tokenHash: [UInt8], account: AccountID, since: UnixTime) {
    self.tokenHash = tokenHash
    self.account = account
    self.since = since
  }
}

/// The result of linking an identity.
public enum Linking: Sendable, Equatable {
  case linked
  /// The account already has the identity.
  case already
  /// Another account, with this id, has the identity. Nothing has changed.
  case other(account: AccountID)
  /// The session has ended, or began too long ago. Nothing has changed.
  case notRecent
}

/// The result of unlinking an identity.
public enum Unlinking: Sendable, Equatable {
  /// The identity was removed from the account.
  /// - Parameters:
  ///   - endedSessions: how many sessions of the identity ended.
  ///   - token: the token that ``AccountChanges/keepToken(_:of:)`` kept. The token is queued for revocation.
  case unlinked(endedSessions: Int, token: KeptProviderToken?)
  /// The account has no other identity. Nothing has changed.
  case last
  /// The account does not have the identity.
  case unknown
  /// The session has ended, or began too long ago. Nothing has changed.
  case notRecent
}

/// The result of merging two accounts.
public enum Merging: Sendable, Equatable {
  /// The other account and its sessions are deleted; its identities now belong to this account.
  case merged(endedSessions: Int)
  /// The identity already belongs to this account.
  case already
  /// The other account does not exist any more, or does not have the identity. Nothing has changed.
  case gone
  /// The session has ended, or began too long ago. Nothing has changed.
  case notRecent
}

/// A provider's token that is kept with an identity, sealed for ``KeyRing/Purpose/providerToken``.
public struct KeptProviderToken: Sendable, Equatable {
  public var identity: IdentityKey
  public var sealed: String

  public init(identity: IdentityKey, sealed: String) {
    self.identity = identity
    self.sealed = sealed
  }
}

/// The identities and provider tokens that were deleted with an account.
public struct DeletedAccount: Sendable, Equatable {
  public var identities: [Identity]
  /// The tokens are queued for revocation at their providers (``RevocationStore``).
  public var tokens: [KeptProviderToken]
  public var endedSessions: Int

  public init(identities: [Identity], tokens: [KeptProviderToken], endedSessions: Int) {
    self.identities = identities
    self.tokens = tokens
    self.endedSessions = endedSessions
  }
}

/// A provider's message that a user has signed out at the provider.
public struct ProviderLogout: Sendable, Equatable {
  /// The gateway's name for the provider.
  public var provider: String
  /// The subject, as in ``Identity/subject``. nil if the provider named only a session; the sessions of any user then
  /// match.
  public var subject: String?
  /// The session at the provider, as in ``Identity/providerSession``; nil for all sessions of the subject. If both
  /// subject and session are given, the subject's sessions whose provider session is unknown end as well.
  public var session: String?
  /// SHA-256 of the message's unique id, 32 bytes. By this hash, a repeated message is recognized, so that it counts
  /// only once.
  public var hash: [UInt8]
  /// When the message's validity ends. The store remembers the message until then.
  public var expires: UnixTime

  public init(provider: String, subject: String?, session: String?, hash: [UInt8], expires: UnixTime) {
    self.provider = provider
    self.subject = subject
    self.session = session
    self.hash = hash
    self.expires = expires
  }
}

/// A provider's message: a user wants the gateway to delete the data that the gateway got from this provider.
public struct ProviderDeletion: Sendable, Equatable {
  public var identity: IdentityKey
  /// SHA-256 of the message's unique id, 32 bytes. By this hash, a repeated message is recognized, so that it counts
  /// only once.
  public var hash: [UInt8]
  /// Until this time the store remembers that the deletion was done.
  public var expires: UnixTime

  public init(identity: IdentityKey, hash: [UInt8], expires: UnixTime) {
    self.identity = identity
    self.hash = hash
    self.expires = expires
  }
}

/// The result of a ``ProviderDeletion``.
public enum DataDeletionResult: Sendable, Equatable {
  /// The account was deleted, because it had no other identity.
  case account(id: AccountID, DeletedAccount)
  /// The identity was deleted, with the sessions that it began.
  /// - Parameter before: every identity that the account had, including the deleted one.
  case identity(account: AccountID, before: [Identity], endedSessions: Int)
  /// No account has the identity.
  case nobody
  /// The message was handled before; nothing was done.
  case repeated
}

/// The part of ``AccountStore`` that changes accounts.
public protocol AccountChanges: AnyObject, Sendable {
  /// Adds an identity to the account of the session, unless an account already has it. The identity's e-mail address
  /// does not matter.
  func link(_ identity: Identity, by proof: RecentSignIn, at now: UnixTime) throws(StoreFailure) -> Linking

  /// Removes an identity from the account of the session, but never the last identity of the account, and ends the
  /// sessions that the identity began.
  func unlink(_ identity: IdentityKey, by proof: RecentSignIn, at now: UnixTime) throws(StoreFailure)
    -> Unlinking

  /// Moves every identity of `other` to the account of the session, and deletes `other` with its sessions and codes.
  /// - Parameter identity: an identity of `other` with which the user has just signed in.
  func merge(_ other: AccountID, provenBy identity: IdentityKey, by proof: RecentSignIn, at now: UnixTime)
    throws(StoreFailure) -> Merging

  /// Deletes the account and all its data.
  /// - Parameter proof: nil if an operator of the gateway asks for the deletion.
  /// - Returns: nil if the account does not exist, or if the proof is not a recent sign-in to the account.
  func deleteAccount(_ id: AccountID, by proof: RecentSignIn?, at now: UnixTime) throws(StoreFailure)
    -> DeletedAccount?

  /// The id of the account that has the identity; nil if no account has it.
  func account(of identity: IdentityKey) throws(StoreFailure) -> AccountID?

  /// Ends the sessions that the identity began, and deletes the apps' codes that are not redeemed yet.
  /// - Parameters:
  ///   - providerSession: ends only the sessions that belong to this session of the provider, and sessions whose
  ///     provider session is unknown; nil ends all sessions of the identity.
  ///   - end: sessions that began after this time continue.
  /// - Returns: how many sessions ended.
  func endSessions(
    ofIdentity identity: IdentityKey, providerSession: String?, begunUntil end: UnixTime, at now: UnixTime
  ) throws(StoreFailure) -> Int

  /// Ends the sessions that the provider's message is about, deletes the unredeemed app codes of the same sign-ins,
  /// and records the message, in one transaction.
  /// - Returns: how many sessions ended; nil if the message was handled before, and nothing was done.
  func end(_ logout: ProviderLogout, at now: UnixTime) throws(StoreFailure) -> Int?

  /// Deletes the identity with the sessions and codes that it began, and records the message, in one transaction. If
  /// the account has no other identity, the whole account is deleted.
  func deleteData(_ deletion: ProviderDeletion, at now: UnixTime) throws(StoreFailure) -> DataDeletionResult

  /// Whether a ``ProviderDeletion`` with this hash was done, and is still remembered.
  func isDataDeleted(hash: [UInt8], at now: UnixTime) throws(StoreFailure) -> Bool

  /// Stores a token of the provider with the identity and replaces an earlier token; does nothing if the identity does
  /// not exist.
  func keepToken(_ sealed: String, of identity: IdentityKey) throws(StoreFailure)
}
