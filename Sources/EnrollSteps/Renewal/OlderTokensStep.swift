// The effect of a renewal on the session's older access tokens. At many providers the older tokens work until they
// expire. Some providers end them (Spring, Hydra, zitadel), and no metadata shows that. So a token that a renewal for
// another audience may have ended is not returned to callers (R44), but renewed at the next call for this token. The
// exception is a provider that is known to keep older tokens, because its userinfo endpoint accepted the session's own
// token after such a renewal.

import EnrollRules

extension RenewalStep {
  /// Finds out whether older access tokens still work after a renewal for an audience. If that is not known yet, the
  /// method sends a userinfo request with the session's own access token to find out.
  /// - Parameter audience: the audience of the requested token, which a renewal may have ended.
  /// - Returns: whether older tokens still work, so that the older token for this audience can be used again.
  func hasOutlivedRenewal(for audience: TokenAudience?) throws(EnrollError) -> Bool {
    guard let record = try store.read(account), let tokens = record.confirmed, tokens.isSuperseded,
      tokens.isSuperseded(for: audience), let wanted = tokens.access(for: audience),
      record.keepsAccessTokens == nil, record.sessionEnded == nil, record.renewalIntent == nil,
      Scopes.contains("openid", in: tokens.scopes),
      [tokens.expiry, wanted.expiry].allSatisfy({
        $0.band(at: clock.moment(), graceSeconds: configuration.graceSeconds) == .fresh
      })
    else { return false }
    let keeps: Bool
    do throws(EnrollError) {
      guard try userinfo.fetchUserinfo(with: tokens, subject: nil, cancellation: closing) != nil else {
        return false
      }
      keeps = true
    } catch {
      guard error.httpStatus == 401 || error.httpStatus == 403 else { return false }
      keeps = false
    }
    try store.update(account) { record throws(EnrollError) in
      record.keepsAccessTokens = keeps
      if keeps { record.confirmed?.keepAll() }
    }
    return keeps
  }
}
