// The values of an account that a host reads in one call.

public import EnrollCrypto
public import EnrollJSON

/// The values of one account. All values except the last two belong to the confirmed session; without such a session
/// they are nil.
public struct AccountSnapshot: Equatable, Sendable {
  /// The verified claims about the user who is signed in.
  public var profile: JSONObject?
  /// The id_token as it was received, for requests that send it as a hint.
  public var idToken: Secret?
  /// The access token as it is stored; it may have expired.
  public var accessToken: Secret?
  /// When the access token expires, by the device's clock.
  public var expiresAt: UnixTime?
  /// The whole lifetime of the access token, in seconds.
  public var lifetimeSeconds: Int64?
  /// Whether the session can renew its access token; nil without a confirmed session.
  public var renews: Bool?
  /// When the refresh token expires unless a renewal replaces it, by the device's clock; nil if the provider did not
  /// say.
  public var renewableUntil: UnixTime?
  /// The requested scopes that were not granted, according to what the provider says.
  public var missingScopes: [String] = []
  /// The registration type of the session: `SOCIAL`, `PASSWORDLESS` or nil.
  public var registrationType: String?
  /// The sign-in that waits for the user's confirmation, whether or not another user's session exists; nil if no
  /// sign-in waits.
  public var waiting: WaitingSignIn?
  /// How far the provider's clock is ahead of this device's, in seconds; nil if that is not known. Like ``waiting``,
  /// this value does not belong to the session.
  public var serverClockOffsetSeconds: Int64?

  package init(
    profile: JSONObject? = nil, idToken: Secret? = nil, accessToken: Secret? = nil,
    expiresAt: UnixTime? = nil, lifetimeSeconds: Int64? = nil, renews: Bool? = nil,
    renewableUntil: UnixTime? = nil,
    missingScopes: [String] = [], registrationType: String? = nil, waiting: WaitingSignIn? = nil,
    serverClockOffsetSeconds: Int64? = nil
  ) {
    self.profile = profile
    self.idToken = idToken
    self.accessToken = accessToken
    self.expiresAt = expiresAt
    self.lifetimeSeconds = lifetimeSeconds
    self.renews = renews
    self.renewableUntil = renewableUntil
    self.missingScopes = missingScopes
    self.registrationType = registrationType
    self.waiting = waiting
    self.serverClockOffsetSeconds = serverClockOffsetSeconds
  }
}

/// A sign-in whose tokens wait for the user's confirmation (state G `awaitingConfirmation`): the tokens are not used,
/// and not returned to callers.
public struct WaitingSignIn: Equatable, Sendable {
  /// Identifies the question to the user in the state
  /// ``RegistrationState/awaitingConfirmation(transactionID:profile:)``.
  public var transactionID: TransactionID
  /// The verified claims about the user who is to confirm; empty if the provider sends no claims.
  public var profile: JSONObject
  /// The registration type of the sign-in: `SOCIAL`, `PASSWORDLESS` or nil.
  public var registrationType: String?
}
