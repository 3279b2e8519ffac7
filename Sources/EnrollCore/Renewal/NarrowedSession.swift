// A provider that narrows the session itself when it is asked for a token for one audience: its new refresh token holds only the
// scopes that were asked for, or works for that resource alone. RFC 6749 §6 forbids it, and no answer says so: what the session
// had is compared with what its next renewal brings, its scopes and, where access tokens are JWTs (RFC 9068), their `aud`. A renewal
// that is refused shows it, too: the resource of the session is refused, or the token is invalid for it and valid for the audience.
// Nothing but another sign-in restores the session, so a provider that narrows is remembered in the account's record and asked
// no more.

import EnrollCrypto
import EnrollJSON

extension TokenSet {
  /// The audience whose renewal brought the refresh token; nil where the session's own renewal did, or a sign-in.
  /// - Parameter epoch: the record's.
  func lastAudience(at epoch: UInt64) -> AudienceToken? {
    audiences.entries.first { $0.token?.epoch == epoch }?.token
  }

  /// The same audience by its name.
  func lastAudienceName(at epoch: UInt64) -> TokenAudience? {
    audiences.entries.first { $0.token?.epoch == epoch }?.audience
  }

  /// The scopes that a renewal took from the session, because the refresh token came with a token for an audience and now holds
  /// the scopes of that token; none where the provider took them for another reason.
  /// - Parameters:
  ///   - told: the scopes of the answer; nil where it says none, which means that they are the same (RFC 6749 §5.1).
  ///   - epoch: the record's when the refresh token was sent.
  func scopesLost(to told: [String]?, at epoch: UInt64) -> [String] {
    guard let told, let last = lastAudience(at: epoch), told.count == last.scopes.count,
      told.allSatisfy({ Scopes.contains($0, in: last.scopes) })
    else { return [] }
    return scopes.filter { !Scopes.contains($0, in: told) }
  }

  /// Whether a renewal of the session brought an access token for another resource: that of the audience whose renewal brought
  /// the refresh token. Nothing is believed of these tokens: they are compared with one another.
  /// - Parameter epoch: the record's when the refresh token was sent.
  func isBound(by accessToken: Secret, at epoch: UInt64) -> Bool {
    guard let last = lastAudience(at: epoch), let came = Self.audiences(of: accessToken),
      let before = Self.audiences(of: self.accessToken), let theirs = Self.audiences(of: last.accessToken)
    else { return false }
    return came == theirs && came != before
  }

  /// `aud` of a JWT, unproven; nil for any other token.
  private static func audiences(of token: Secret) -> [JSON]? {
    let parts = token.revealBytes().split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let payload = Base64URL.decode(parts[1]),
      let audience = (try? JSON.parse(payload))?["aud"]
    else { return nil }
    return audience.array ?? [audience]
  }
}

extension AccountRecord {
  /// The refusal of an audience at a provider that narrows.
  func refusesToAsk(for audience: TokenAudience) -> EnrollError? {
    guard narrowsSessions else { return nil }
    return EnrollError(
      .unsupported,
      "the provider narrows the whole session when it is asked for a token for \(audience.shown), so it is not asked; sign in with what the app needs",
      field: audience.resource == nil ? "scope" : "resource")
  }
}

extension Engine {
  /// The tokens of a session that the provider refuses to renew because it bound the refresh token to the resource of the audience
  /// whose renewal brought it: it takes the token for that resource. nil where it takes it for nothing, or nothing binds it.
  func tokensOfBoundSession(_ renewal: Renewal, sent: Moment) -> UnkeptTokens? {
    let tokens = renewal.session.tokens
    guard let refreshToken = tokens.refreshToken,
      let audience = tokens.lastAudienceName(at: renewal.epoch), audience.resource != nil,
      let metadata = try? provider.metadata(cancellation: closing)
    else { return nil }
    let request = TokenRequest.refresh(
      refreshToken: refreshToken, for: audience, configuration: configuration, metadata: metadata)
    guard let http = try? send(request, provenBy: tokens.dpopKey, cancellation: nil),
      case .tokens(let response) = RefreshAnswer(processing: http, binding: binding(tokens.dpopKey))
    else { return nil }
    return UnkeptTokens(response.tokenSet(renewing: tokens, at: sent), user: renewal.session.subject)
  }

  /// Remembers a provider that narrows, and says so once.
  /// - Parameter lost: the scopes that are known to be gone; none where the refresh token is bound to a resource.
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
    report(
      EnrollError(
        .unsupported,
        "\(what). It is not asked for such tokens any more. Sign in again to restore the session"
      )
      .helped(by: .registerAgain))
  }
}
