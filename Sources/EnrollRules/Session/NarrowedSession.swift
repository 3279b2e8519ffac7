// Detects that a provider has narrowed a session to the audience of the last renewal.

import EnrollCrypto
import EnrollJSON

extension TokenSet {
  /// The token of the audience whose renewal returned the current refresh token; nil if the refresh token came from
  /// the session's own renewal or from a sign-in.
  /// - Parameter epoch: the record's epoch.
  package func lastAudience(at epoch: UInt64) -> AudienceToken? {
    audiences.entries.first { $0.token?.epoch == epoch }?.token
  }

  /// The audience of ``lastAudience(at:)``.
  package func lastAudienceName(at epoch: UInt64) -> TokenAudience? {
    audiences.entries.first { $0.token?.epoch == epoch }?.audience
  }

  /// The scopes that a renewal removed from the session because an earlier renewal for an audience returned a refresh
  /// token that has only the scopes of that audience. Empty if the provider removed scopes for another reason.
  /// - Parameters:
  ///   - told: the scopes of the response; nil if the response has no scopes, which means that the scopes did not
  ///     change (RFC 6749 §5.1).
  ///   - epoch: the record's epoch when the refresh token was sent.
  func scopesLost(to told: [String]?, at epoch: UInt64) -> [String] {
    guard let told, let last = lastAudience(at: epoch), told.count == last.scopes.count,
      told.allSatisfy({ Scopes.contains($0, in: last.scopes) })
    else { return [] }
    return scopes.filter { !Scopes.contains($0, in: told) }
  }

  /// Whether a renewal of the session returned an access token for another resource, because the server bound the
  /// refresh token to the audience whose renewal returned that refresh token. The tokens are not verified, only
  /// compared with each other.
  /// - Parameter epoch: the record's epoch when the refresh token was sent.
  func isBound(by accessToken: Secret, at epoch: UInt64) -> Bool {
    guard let last = lastAudience(at: epoch), let came = Self.audiences(of: accessToken),
      let before = Self.audiences(of: self.accessToken), let theirs = Self.audiences(of: last.accessToken)
    else { return false }
    return came == theirs && came != before
  }

  /// `aud` of a JWT, not verified; nil for any other token.
  private static func audiences(of token: Secret) -> [JSON]? {
    let parts = token.revealBytes().split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let payload = Base64URL.decode(parts[1]),
      let audience = (try? JSON.parse(payload))?["aud"]
    else { return nil }
    return audience.array ?? [audience]
  }
}

extension AccountRecord {
  /// The error for an audience at a provider that narrows sessions; nil for any other provider.
  package func narrowingError(for audience: TokenAudience) -> EnrollError? {
    guard narrowsSessions else { return nil }
    return EnrollError(
      .unsupported,
      "the provider narrows the whole session when it is asked for a token for \(audience.shown), so it is not asked; sign in with what the app needs",
      field: audience.resource == nil ? "scope" : "resource")
  }
}
