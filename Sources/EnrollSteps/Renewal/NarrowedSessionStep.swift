// Providers that narrow the session when they issue a token for one audience: the new refresh token has only the
// requested scopes, or works only for that resource. RFC 6749 §6 forbids this, and no response reports it. So the
// session is compared with its next renewal: the scopes and, if the access tokens are JWTs (RFC 9068), `aud`. A
// refused renewal also shows the narrowing: the provider refuses the session's resource, or refuses the refresh token
// for the session and accepts it for the audience. Only another sign-in restores the session. The account's record
// stores that the provider narrows sessions, and no token for an audience is requested again.

import EnrollRules

extension RenewalStep {
  /// Finds out whether the provider refuses to renew a session because the refresh token is bound to the resource of
  /// the last audience. For this, the refresh token is sent again with that resource. Returns the tokens of the
  /// response; nil if the provider refuses again, or if there is no such audience.
  func tokensOfBoundSession(_ renewal: Renewal, sent: Moment) -> UnkeptTokens? {
    let tokens = renewal.session.tokens
    guard let refreshToken = tokens.refreshToken,
      let audience = tokens.lastAudienceName(at: renewal.epoch), audience.resource != nil,
      let metadata = try? provider.metadata(isOldGood: true, cancellation: closing)
    else { return nil }
    let request = TokenRequest.refresh(
      refreshToken: refreshToken, for: audience, configuration: configuration, metadata: metadata)
    guard
      let http = try? requests.sendAsClient(
        request, of: metadata, provenBy: tokens.dpopKey, cancellation: nil),
      case .tokens(let response) = RefreshAnswer(processing: http, binding: requests.binding(tokens.dpopKey))
    else { return nil }
    return UnkeptTokens(response.tokenSet(renewing: tokens, at: sent), user: renewal.session.subject)
  }
}

extension RenewedTokensStep {
  /// Stores that the provider's renewals lose scopes, or work only for one resource, and reports this once.
  /// - Parameter lost: the scopes that are known to be lost; empty if the refresh token is bound to a resource.
  func remember(narrowing lost: [String], epoch: UInt64) throws(EnrollError) {
    var isNews = false
    try store.update(account) { record throws(EnrollError) in
      guard record.tokenEpoch == epoch, !record.narrowsSessions else { return }
      record.narrowsSessions = true
      isNews = true
    }
    guard isNews else { return }
    let what =
      lost.isEmpty
      ? "the provider bound the session to the audience of the last token"
      : "the provider took the scopes \(Scopes.joined(lost)) from the session when it was asked for a token for an audience"
    backEnd.report(
      EnrollError(
        .unsupported,
        "\(what). It is not asked for such tokens any more. Sign in again to restore the session"
      )
      .helped(by: .registerAgain))
  }
}
