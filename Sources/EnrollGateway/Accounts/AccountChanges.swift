// Changes of an account: another identity, one identity less, two accounts that become one, the end of an account. Each is whole or
// nothing, and each asks the store itself whether the session that wants it still lives and began lately, so that nothing can
// happen between the question and the change.

public import EnrollCore

/// Names an identity: nobody else has the same one.
public struct IdentityKey: Sendable, Equatable, Hashable {
  /// The gateway's name for the provider: `google`.
  public var provider: String
  /// As in ``Identity/subject``.
  public var subject: String

  public init(provider: String, subject: String) {
    self.provider = provider
    self.subject = subject
  }
}

extension Identity {
  public var key: IdentityKey { IdentityKey(provider: provider, subject: subject) }
}

/// The session that wants a change: it lives, it belongs to the account, and it began lately, which proves an identity of it.
public struct RecentSignIn: Sendable, Equatable {
  /// SHA-256 of the session's token, 32 bytes.
  public var tokenHash: [UInt8]
  /// The id of the account that the session belongs to.
  public var account: String
  /// A session that began earlier proves nothing.
  public var since: UnixTime

  public init(tokenHash: [UInt8], account: String, since: UnixTime) {
    self.tokenHash = tokenHash
    self.account = account
    self.since = since
  }
}

/// How an identity was linked.
public enum Linking: Sendable, Equatable {
  case linked
  /// The account has it already.
  case already
  /// Another account has it; its id. Nothing has changed.
  case other(account: String)
  /// The session has ended, or began too long ago. Nothing has changed.
  case notRecent
}

/// How an identity was unlinked.
public enum Unlinking: Sendable, Equatable {
  /// - Parameters:
  ///   - endedSessions: how many sessions it had begun; they are over.
  ///   - token: what ``AccountChanges/keepToken(_:of:)`` kept; it waits to be revoked.
  case unlinked(endedSessions: Int, token: KeptProviderToken?)
  /// The account has no other. Nothing has changed.
  case last
  /// The account does not have it.
  case unknown
  /// The session has ended, or began too long ago. Nothing has changed.
  case notRecent
}

/// How two accounts became one.
public enum Merging: Sendable, Equatable {
  /// The other account is gone, and so are its sessions; its identities lead to this one.
  case merged(endedSessions: Int)
  /// They were merged before.
  case already
  /// The other account is gone, or no longer has the identity. Nothing has changed.
  case gone
  /// The session has ended, or began too long ago. Nothing has changed.
  case notRecent
}

/// A token of a provider, sealed by ``KeyRing/Purpose/providerToken``, and whose it is.
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
  /// They wait in the store to be revoked at their providers (``RevocationStore``).
  public var tokens: [KeptProviderToken]
  public var endedSessions: Int

  public init(identities: [Identity], tokens: [KeptProviderToken], endedSessions: Int) {
    self.identities = identities
    self.tokens = tokens
    self.endedSessions = endedSessions
  }
}

/// A provider's word that somebody has signed out there.
public struct ProviderLogout: Sendable, Equatable {
  /// The gateway's name for the provider.
  public var provider: String
  /// As in ``Identity/subject``; nil: whoever has the session.
  public var subject: String?
  /// As in ``Identity/providerSession``; nil: all sessions of the subject. With both, sessions end as well of which the provider's
  /// session is not known.
  public var session: String?
  /// SHA-256 of what names this word, 32 bytes: it counts once.
  public var hash: [UInt8]
  /// When the word would count no longer, and need not be remembered.
  public var expires: UnixTime

  public init(provider: String, subject: String?, session: String?, hash: [UInt8], expires: UnixTime) {
    self.provider = provider
    self.subject = subject
    self.session = session
    self.hash = hash
    self.expires = expires
  }
}

/// A provider's word that somebody asked there to have deleted what came from it.
public struct ProviderDeletion: Sendable, Equatable {
  public var identity: IdentityKey
  /// SHA-256 of what names this word, 32 bytes: it counts once.
  public var hash: [UInt8]
  /// Until then it is known that it was done.
  public var remembered: UnixTime

  public init(identity: IdentityKey, hash: [UInt8], remembered: UnixTime) {
    self.identity = identity
    self.hash = hash
    self.remembered = remembered
  }
}

/// The result of a ``ProviderDeletion``.
public enum Forgetting: Sendable, Equatable {
  /// The account had no other identity.
  case account(id: String, DeletedAccount)
  /// The identity, with the sessions that it began.
  /// - Parameter before: every identity that the account had, that one included.
  case identity(account: String, before: [Identity], endedSessions: Int)
  /// Nobody has the identity.
  case nobody
  /// The same was said before; nothing was done.
  case repeated
}

/// The part of ``AccountStore`` that changes accounts.
public protocol AccountChanges: AnyObject, Sendable {
  /// Gives the account of the session one more identity, unless somebody has it. Its e-mail address decides nothing.
  func link(_ identity: Identity, by proof: RecentSignIn, at now: UnixTime) throws(StoreFailure) -> Linking

  /// Takes an identity from the account of the session, never the last one, and ends the sessions that it began.
  func unlink(_ identity: IdentityKey, by proof: RecentSignIn, at now: UnixTime) throws(StoreFailure)
    -> Unlinking

  /// Gives every identity of `other` to the account of the session, and deletes `other` with its sessions and codes.
  /// - Parameter identity: of `other`; the person proved it.
  func merge(_ other: String, provenBy identity: IdentityKey, by proof: RecentSignIn, at now: UnixTime)
    throws(StoreFailure) -> Merging

  /// Deletes the account and everything of it.
  /// - Parameter proof: nil where somebody who manages the gateway asks.
  /// - Returns: nil if there is no such account, or if the proof is no recent sign-in of it.
  func deleteAccount(_ id: String, by proof: RecentSignIn?, at now: UnixTime) throws(StoreFailure)
    -> DeletedAccount?

  /// The id of the account that the identity leads to; nil for none.
  func account(of identity: IdentityKey) throws(StoreFailure) -> String?

  /// Ends the sessions that the identity began, and the codes of apps that were not redeemed yet.
  /// - Parameters:
  ///   - providerSession: ends those of this session of the provider alone, and those of which it is not known; nil for all.
  ///   - end: a session that began later goes on.
  /// - Returns: how many sessions.
  func endSessions(
    ofIdentity identity: IdentityKey, providerSession: String?, begunUntil end: UnixTime, at now: UnixTime
  ) throws(StoreFailure) -> Int

  /// Ends the sessions, and the codes of apps that were not redeemed yet, of which the provider says that they are over, and notes that
  /// it was said, in one change.
  /// - Returns: how many sessions; nil where the same was said before, and nothing was done.
  func end(_ logout: ProviderLogout, at now: UnixTime) throws(StoreFailure) -> Int?

  /// Deletes the identity with the sessions and codes that it began, and notes that it was done, in one change. An account that has no
  /// other identity is deleted.
  func forget(_ deletion: ProviderDeletion, at now: UnixTime) throws(StoreFailure) -> Forgetting

  /// Whether a ``ProviderDeletion`` with this hash was done, and is remembered.
  func isForgotten(hash: [UInt8], at now: UnixTime) throws(StoreFailure) -> Bool

  /// Keeps a token of the provider with the identity, in the place of an earlier one; for an identity that is gone it does nothing.
  func keepToken(_ sealed: String, of identity: IdentityKey) throws(StoreFailure)
}
