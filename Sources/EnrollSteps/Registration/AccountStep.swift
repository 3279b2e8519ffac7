// Reads the values of an account that a host may have: all except the refresh token (flows.md §7).

public import EnrollRules

extension RegistrationStep {
  public func readAccount() throws(EnrollError) -> AccountSnapshot {
    let record = try store.read(account) ?? AccountRecord()
    let tokens = record.confirmed
    let moment = clock.moment()
    let isOver = record.sessionEnded != nil || record.accessRefused != nil
    return AccountSnapshot(
      profile: record.profile, idToken: tokens?.idToken, accessToken: tokens?.accessToken,
      expiresAt: tokens?.expiry.date(at: moment), lifetimeSeconds: tokens?.expiry.lifetimeSeconds,
      renews: tokens.map { $0.refreshToken != nil && !isOver },
      renewableUntil: isOver ? nil : tokens?.refreshExpiry?.date(at: moment),
      missingScopes: tokens?.missingScopes ?? [], registrationType: record.registrationType,
      waiting: record.waiting, serverClockOffsetSeconds: record.serverClock.offsetSeconds)
  }
}
