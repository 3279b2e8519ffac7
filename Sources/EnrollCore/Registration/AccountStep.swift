// Reading what is kept of an account: everything that a host may see, never the refresh token (flows.md §7).

public import EnrollCrypto
public import EnrollJSON

/// The captured values of one account.
public struct AccountSnapshot: Equatable, Sendable {
  /// The proven claims of whoever is signed in; nil when nobody is.
  public var profile: JSONObject?
  /// The id_token as it came, for calls that want it as a hint.
  public var idToken: Secret?
  /// Of a confirmed session only: what waits for confirmation is not to be used.
  public var accessToken: Secret?
  /// When the access token ends, by the device's clock.
  public var expiresAt: UnixTime?
  /// Whether the session renews its access token; nil without a confirmed session.
  public var renews: Bool?
  /// When the refresh token ends unless a renewal replaces it, by the device's clock; nil if the provider did not say.
  public var renewableUntil: UnixTime?
  /// `SOCIAL`, `PASSWORDLESS` or nothing.
  public var registrationType: String?
}

extension Engine {
  public func readAccount() throws(EnrollError) -> AccountSnapshot {
    let record = try store.read(account) ?? AccountRecord()
    let tokens = record.confirmed ?? record.provisional
    let isOver = record.sessionEnded != nil || record.accessRefused != nil
    return AccountSnapshot(
      profile: record.shownProfile, idToken: tokens?.idToken, accessToken: record.confirmed?.accessToken,
      expiresAt: tokens?.expiry.expiresAt,
      renews: record.confirmed.map { $0.refreshToken != nil && !isOver },
      renewableUntil: isOver ? nil : record.confirmed?.refreshExpiry?.expiresAt,
      registrationType: record.provisional == nil
        ? record.registrationType : record.provisionalRegistrationType)
  }
}
