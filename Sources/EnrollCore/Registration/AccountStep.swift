// Reading what is kept of an account: everything that a host may see, never the refresh token (flows.md §7).

public import EnrollCrypto
public import EnrollJSON

/// The captured values of one account. Everything but ``waiting`` is the confirmed session's, and nil without one.
public struct AccountSnapshot: Equatable, Sendable {
  /// The proven claims about the user who is signed in.
  public var profile: JSONObject?
  /// The id_token as it came, for calls that want it as a hint.
  public var idToken: Secret?
  /// The access token as it is stored; it may have expired.
  public var accessToken: Secret?
  /// When the access token ends, by the device's clock.
  public var expiresAt: UnixTime?
  /// Whether the session renews its access token; nil without a confirmed session.
  public var renews: Bool?
  /// When the refresh token ends unless a renewal replaces it, by the device's clock; nil if the provider did not say.
  public var renewableUntil: UnixTime?
  /// `SOCIAL`, `PASSWORDLESS` or nothing.
  public var registrationType: String?
  /// The sign-in that waits for the user's confirmation, beside the session or without one; nil if none waits.
  public var waiting: WaitingSignIn?
}

/// A sign-in whose tokens wait for the user's confirmation (G): they are not to be used, and are not handed out.
public struct WaitingSignIn: Equatable, Sendable {
  /// Names the question that ``RegistrationState/awaitingConfirmation(transactionID:profile:)`` asks.
  public var transactionID: TransactionID
  /// The proven claims about the user who is to confirm; empty where the provider names nobody.
  public var profile: JSONObject
  /// `SOCIAL`, `PASSWORDLESS` or nothing.
  public var registrationType: String?
}

extension Engine {
  public func readAccount() throws(EnrollError) -> AccountSnapshot {
    let record = try store.read(account) ?? AccountRecord()
    let tokens = record.confirmed
    let isOver = record.sessionEnded != nil || record.accessRefused != nil
    return AccountSnapshot(
      profile: record.profile, idToken: tokens?.idToken, accessToken: tokens?.accessToken,
      expiresAt: tokens?.expiry.expiresAt, renews: tokens.map { $0.refreshToken != nil && !isOver },
      renewableUntil: isOver ? nil : tokens?.refreshExpiry?.expiresAt,
      registrationType: record.registrationType, waiting: record.waiting)
  }
}
