// What a provider asks of a server beyond OAuth and OpenID Connect, as data. A plain provider asks for nothing.

public struct ProviderDialect: Sendable {
  /// Google Workspace: only users of this domain; `*`: of any domain, but no private account. The id_token proves it.
  public var hostedDomain: String?
  /// The browser comes back with a form instead of a query (OAuth 2.0 Form Post Response Mode). Apple's only way to tell a name.
  public var answersByForm = false
  /// Where the client proves itself with a JWT; nil: with the configured secret, or not at all.
  public var credential: ClientCredential?
  /// Facebook: each request with an access token proves that the sender has the app secret (`appsecret_proof`).
  public var provesAppSecret = false
  /// Facebook: forms with `signed_request`, by the app secret, tell that somebody removed the app or wants everything deleted.
  public var sendsSignedRequests = false
  /// The refresh token is kept for the day on which the account is deleted: Apple wants it revoked then.
  public var keepsRefreshToken = false
  /// The provider tells of accounts and consents that ended. nil: it does not; else the audiences of what it tells.
  public var notificationAudiences: [String]?

  /// `max_age` and `prompt=login` make the provider ask who somebody is, though it knows (OpenID Connect Core §3.1.2.1). Others may
  /// refuse them, or do not look.
  public var asksAgain = true

  public init() {}
}
