// Accounts and the identities that lead to them. An identity's key is its provider, its issuer and its subject, never an e-mail
// address: addresses change hands (OpenID Connect Core §5.7).

public import EnrollCore

/// A person's account.
public struct Account: Sendable, Equatable {
  /// A UUID of version 7 (RFC 9562 §5.7): the same for life, and nobody else's.
  public var id: String
  public var created: UnixTime
  public var lastLogin: UnixTime

  public init(id: String, created: UnixTime, lastLogin: UnixTime) {
    self.id = id
    self.created = created
    self.lastLogin = lastLogin
  }
}

/// The provider's claims about a user who signed in.
public struct Identity: Sendable, Equatable {
  /// The gateway's name for the provider: `google`.
  public var provider: String
  /// The issuer, a space, and the issuer's name for the person (OpenID Connect Core §2, `sub`).
  public var subject: String
  public var email: String?
  /// The provider vouches for the address.
  public var isEmailVerified: Bool
  public var name: String?
  /// The session at the provider that a sign-in belongs to: the issuer, a space, and the issuer's name for it (`sid`, OpenID Connect
  /// Back-Channel Logout 1.0 §2.1). Kept with the sessions that the sign-in begins; what the store tells of an identity has none.
  public var providerSession: String?

  public init(
    provider: String, subject: String, email: String? = nil, isEmailVerified: Bool = false,
    name: String? = nil, providerSession: String? = nil
  ) {
    self.provider = provider
    self.subject = subject
    self.email = email
    self.isEmailVerified = isEmailVerified
    self.name = name
    self.providerSession = providerSession
  }
}
