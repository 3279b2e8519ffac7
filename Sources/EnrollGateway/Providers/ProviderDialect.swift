// Data about a provider: its requirements for a server that are not part of OAuth and OpenID Connect. The defaults
// describe a standard provider.

package import EnrollRules

public struct ProviderDialect: Sendable {
  /// The only domain whose users may sign in (Google Workspace); `*` allows users of any domain, but no private
  /// accounts. The id_token's `hd` is checked.
  public var hostedDomain: String?
  /// Whether the provider answers with a form post instead of a redirect (OAuth 2.0 Form Post Response Mode).
  /// Apple sends a name only in this way.
  public var answersByForm = false
  /// The facts from which the gateway makes Apple's client secret, a JWT that the gateway signs; nil for other
  /// providers.
  public var appleSecret: AppleSecret?
  /// The client's key for private_key_jwt; nil if the client authenticates with the configured secret, or not at all.
  package var clientKey: ClientKey?

  var readClientKey: ClientKey.Reader? {
    guard let clientKey else { return nil }
    return { () throws(EnrollError) in clientKey }
  }
  /// Whether each request with an access token also has a proof of the app secret (Facebook:
  /// `appsecret_proof`).
  public var provesAppSecret = false
  /// Whether the provider sends a form with a `signed_request`, signed with the app secret, if a user removes
  /// the app or asks for deletion (Facebook).
  public var sendsSignedRequests = false
  /// Whether the refresh token is kept, so that it can be revoked when the account is deleted (Apple requires
  /// that).
  public var keepsRefreshToken = false
  /// The audiences of the provider's notifications about accounts and consents; nil if the provider sends no
  /// notifications.
  public var notificationAudiences: [String]?

  /// Whether `max_age` and `prompt=login` make the provider authenticate the user again (OpenID Connect Core §3.1.2.1). Other
  /// providers refuse or ignore them.
  public var supportsReauthentication = true

  public init() {}
}
