// Accounts and the identities with which a user signs in to them. The key of an identity is its provider, issuer and subject,
// never an e-mail address: addresses change hands (OpenID Connect Core §5.7).

public import EnrollRules

/// A user's account.
public struct Account: Sendable, Equatable {
  public var id: AccountID
  public var created: UnixTime
  public var lastLogin: UnixTime

  public init(id: AccountID, created: UnixTime, lastLogin: UnixTime) {
    self.id = id
    self.created = created
    self.lastLogin = lastLogin
  }
}

/// The provider's claims about a user who signed in.
public struct Identity: Sendable, Equatable {
  /// The gateway's name for the provider: `google`.
  public var provider: String
  /// The issuer, a space, and the issuer's id of the user (`sub`, OpenID Connect Core §2).
  public var subject: String
  public var email: String?
  /// Whether the provider has verified the address.
  public var isEmailVerified: Bool
  public var name: String?
  /// The provider's session that the sign-in belongs to: the issuer, a space, and the issuer's id of the session (`sid`, OpenID
  /// Connect Back-Channel Logout 1.0 §2.1). The store keeps it with the sessions that the sign-in begins; it is nil in
  /// identities that the store returns.
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
