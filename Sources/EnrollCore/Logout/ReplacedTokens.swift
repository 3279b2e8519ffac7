// Tokens that another sign-in takes the place of. Nobody here will use them again, so their session is ended at the
// provider, unless that would end the new one too (RFC 7009 §2.1 lets a server revoke the whole grant).

import EnrollCrypto
import EnrollJSON

/// The tokens in a record that a sign-in replaces, and the user they belong to.
struct ReplacedTokens {
  private(set) var all: [(tokens: TokenSet, profile: JSONObject?)] = []

  mutating func add(_ tokens: TokenSet?, _ profile: JSONObject?) {
    if let tokens { all.append((tokens, profile)) }
  }

  /// - Parameter unsaved: what a renewal of the session brought and the disk would not take: its live token.
  mutating func addSession(of record: AccountRecord, unsaved: TokenSet?) {
    guard record.confirmed != nil else { return }
    add(record.confirmed, record.profile)
    add(unsaved, record.profile)
  }
}

extension Engine {
  /// Queues the revocation of what is replaced: all tokens of another user; the same user's refresh token, for a request of the
  /// host's may be on its way with an access token, which ends by itself.
  func revoke(_ replaced: ReplacedTokens, by tokens: TokenSet, _ profile: JSONObject?) {
    for (old, oldProfile) in replaced.all where old.source == .issuer && !isSharedSession(oldProfile, profile)
    {
      guard isSameUser(oldProfile, profile) else {
        revokeLater(old)
        continue
      }
      guard let token = old.refreshToken, token != tokens.refreshToken else { continue }
      revokeLater(token, hint: "refresh_token", bearer: old.accessToken, dpopKey: old.proofKey)
    }
  }

  /// Whether the provider may end the new session together with the old one: both belong to one session of the browser
  /// (`sid`), as after a step-up, or the provider revokes all that a user ever granted to this client.
  private func isSharedSession(_ old: JSONObject?, _ new: JSONObject?) -> Bool {
    isSame("sub", old, new) && (isSame("sid", old, new) || configuration.revokesWholeGrants)
  }

  /// Also where one of them is unknown: nobody's token is revoked on a guess.
  private func isSameUser(_ old: JSONObject?, _ new: JSONObject?) -> Bool {
    old?["sub"]?.string == nil || new?["sub"]?.string == nil || isSame("sub", old, new)
  }

  private func isSame(_ claim: String, _ old: JSONObject?, _ new: JSONObject?) -> Bool {
    guard let left = old?[claim]?.string, let right = new?[claim]?.string else { return false }
    return ASCII.equals(left, right)
  }
}

extension Configuration {
  /// Google and, by its default, Auth0 take the revocation of one refresh token for that of the user's whole grant.
  fileprivate var revokesWholeGrants: Bool {
    if logoutDialect == .auth0 || passwordless == .auth0 { return true }
    guard let host = (try? StrictURL(issuer.text))?.hostText else { return false }
    return ASCII.equals(host, "accounts.google.com")
      || host.utf8.reversed().starts(with: ".auth0.com".utf8.reversed())
  }
}
