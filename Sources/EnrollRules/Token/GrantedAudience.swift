// Checks whether an access token for an audience has the resource and the scopes that were requested. In a renewal
// some providers ignore `scope` (Hydra, Authelia) and some ignore `resource` (Spring, Hydra, Keycloak): they answer
// with the ordinary token. The response shows the difference, or the token does if it is a JWT (RFC 9068 §2.2). The
// token's claims are not verified: they are only compared, and a difference is reported.

import EnrollCrypto
import EnrollJSON

extension TokenResponse {
  /// The differences as text; nil if no difference is known.
  func deviation(from audience: TokenAudience) -> String? {
    let claims = IDToken.unprovenClaims(of: accessToken)
    let found = [wider(than: audience.scopes, claims), other(than: audience.resource, claims)].compactMap {
      $0
    }
    return found.isEmpty ? nil : found.reduce("") { $0.utf8.isEmpty ? $1 : $0 + "; " + $1 }
  }

  private func wider(than asked: [String], _ claims: JSON?) -> String? {
    guard !asked.isEmpty, let given = Self.scopes(in: claims) ?? scopes else { return nil }
    let more = given.filter { scope in !asked.contains { ASCII.equals($0, scope) } }
    guard !more.isEmpty else { return nil }
    return "the provider gave more scopes than were requested: "
      + PrintableText.bounded(Scopes.joined(more), maximumBytes: 500)
  }

  private func other(than asked: String?, _ claims: JSON?) -> String? {
    guard let asked, let audience = claims?["aud"] else { return nil }
    let given = audience.string.map { [$0] } ?? audience.array?.compactMap { $0.string } ?? []
    guard !given.isEmpty, !given.contains(where: { Self.isSame($0, asked) }) else { return nil }
    return "the provider gave a token for another audience than was requested: "
      + PrintableText.bounded(Scopes.joined(given), maximumBytes: 500)
  }

  private static func scopes(in claims: JSON?) -> [String]? {
    guard let scope = claims?["scope"] ?? claims?["scp"] else { return nil }
    return scope.string.map { Scopes.split($0) } ?? scope.array?.compactMap { $0.string }
  }

  /// Whether the texts are equal, except for a slash at the end.
  private static func isSame(_ left: String, _ right: String) -> Bool {
    func bare(_ text: String) -> Substring.UTF8View {
      text.utf8.last == UInt8(ascii: "/") ? text.utf8.dropLast() : text.utf8[...]
    }
    return bare(left).elementsEqual(bare(right))
  }
}
