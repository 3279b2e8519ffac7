// The settings of the fake provider, which a test chooses.

public import EnrollRules
public import EnrollJSON

extension FakeProvider {
  /// The provider's behaviour, its metadata, and the content of its tokens. The first values are those of the
  /// provider's dialect; a test may change them.
  public struct Settings: Sendable {
    /// The value of `expires_in`; nil to leave `expires_in` out.
    public var lifetime: JSON?
    /// The `sub` of the user who signs in.
    public var subject: String
    /// Whether the provider issues refresh tokens.
    public var givesRefreshToken: Bool
    /// Whether each renewal issues a new refresh token and makes the old one invalid.
    public var rotates: Bool
    /// For how many seconds after a renewal the previous refresh token is still accepted.
    public var graceSeconds: Int64
    /// Whether a renewal returns an id_token.
    public var givesIDTokenOnRefresh: Bool
    /// Whether a renewal returns an id_token also for sessions without the scope `openid`.
    public var givesIDTokenUnasked = false
    /// The resource servers for which a renewal may request a token (RFC 8707).
    public var resources: [String] = []
    /// Whether a renewal for a resource or for fewer scopes permanently limits the new refresh token to this resource
    /// or these scopes.
    public var narrowsSessions: Bool
    /// The announced DPoP algorithms (RFC 9449). If any algorithm is announced, tokens are bound to the key of a client
    /// that sends a proof.
    public var dpopAlgorithms: [String]
    /// Whether the provider issues Bearer tokens even to clients that send a DPoP proof.
    public var answersBearer: Bool
    /// The nonce that every DPoP proof must contain. A request without it is refused, and the answer contains the
    /// nonce.
    public var dpopNonce: String?
    /// Whether answers have the header `Date`, as the answers of most servers do.
    public var sendsDate = true
    /// Whether the provider announces an endpoint for pushed authorization requests.
    public var takesPushedRequests: Bool
    /// The `kid` of the provider's key in the key set and in tokens; nil to leave `kid` out.
    public var keyID: String? = "key-1"
    /// The secret with which the client must authenticate, with exactly one method; nil for a public client.
    public var clientSecret: String?
    /// The accepted methods for ``clientSecret``.
    public var secretMethods: [ClientSecretMethod] = [.post, .basic]
    /// The methods for ``clientSecret`` that the discovery document announces; nil to announce the accepted methods.
    public var announcedSecretMethods: [ClientSecretMethod]?
    /// The answer to a client that fails to authenticate. Keycloak, Spring, Hydra and others give different answers.
    public var clientRefusal = HTTPResponse(
      status: 401, headers: [HTTPHeader("Content-Type", "application/json")],
      body: Array(#"{"error":"invalid_client"}"#.utf8))
    /// Whether a client that authenticates with the wrong method loses its code, as with better-auth.
    public var spendsCodesOfRefusedClients: Bool
    /// The methods that the revocation and introspection endpoints accept; nil for ``secretMethods``.
    public var laterSecretMethods: [ClientSecretMethod]?
    /// A suffix of each refresh token.
    public var refreshTokenSuffix = ""
    /// The URLs of the endpoints.
    public var addresses: [Endpoint: String]
    /// A session gets a refresh token if it has one of these scopes; nil if every session gets a refresh token.
    public var offlineScopes: [String]?
    /// Whether `offline_access` is granted only if the request has `prompt=consent` (OpenID Connect Core §11).
    public var wantsConsent: Bool
    /// The separator of the granted scopes in token answers; nil if the answer has no `scope`, unless a renewal named
    /// scopes.
    public var scopeSeparator: String?
    /// Edits the claims before they are signed.
    public var claims: @Sendable (inout JSONObject) -> Void = { _ in }
    /// Edits the key set.
    public var keySet: @Sendable (inout JSONObject) -> Void = { _ in }
    /// Headers of the discovery document and the key set, such as `Cache-Control`; a request with their `ETag` gets
    /// 304.
    public var documentHeaders: [HTTPHeader] = []
    /// The age in seconds (header `Age`) of the discovery document and the key set, as if they came from a cache.
    public var documentAgeSeconds: Int64 = 0
    /// Edits the discovery document.
    public var metadata: @Sendable (inout JSONObject) -> Void = { _ in }
    /// The difference in seconds between the server's clock and the clock of the test.
    public var clockOffsetSeconds: Int64 = 0
    /// The `sub` in userinfo; nil for the user of the token.
    public var userinfoSubject: String?
    /// The one-time code that every recipient gets.
    public var oneTimeCode = "123456"
    /// The error for a poll of a device code; nil to issue tokens.
    public var deviceError: String? = "authorization_pending"
    /// Edits the answer of the device authorization endpoint.
    public var deviceAuthorization: @Sendable (inout JSONObject) -> Void = { _ in }
    /// Edits the answers with tokens.
    public var tokens: @Sendable (inout JSONObject) -> Void = { _ in }
    /// Headers that an answer with tokens has in front of its other headers.
    public var tokenHeaders: [HTTPHeader] = []
    /// Edits the claims of userinfo.
    public var userinfo: @Sendable (inout JSONObject) -> Void = { _ in }
    /// Edits the answer of the registration check.
    public var checkAnswer: @Sendable (inout JSONObject) -> Void = { _ in }

    init(_ dialect: Dialect, _ urls: ProviderURLs) {
      lifetime = dialect.token.expiresIn
      subject = dialect.subject(of: "alice", issuer: urls.issuer)
      givesRefreshToken = dialect.refresh.isIssued
      rotates = dialect.refresh.rotation != .never
      graceSeconds = dialect.refresh.graceSeconds
      givesIDTokenOnRefresh = dialect.refresh.bringsIDToken
      narrowsSessions = dialect.refresh.scope == .narrowsForGood
      dpopAlgorithms = dialect.dpop.isAnnounced ? ["ES256"] : []
      answersBearer = !dialect.dpop.bindsWhenProven
      takesPushedRequests = dialect.par.isAnnounced
      spendsCodesOfRefusedClients = dialect.client.wrongMethod == .spendsCode
      addresses = urls.endpoints
      offlineScopes = dialect.scope.offline
      wantsConsent = dialect.scope.offlineNeedsConsent
      scopeSeparator = dialect.token.scopeSeparator
    }

    /// Whether an answer has a refresh token. A session that has a refresh token keeps it, even with fewer
    /// scopes.
    func givesRefreshToken(for scopes: [String], isRefresh: Bool) -> Bool {
      guard givesRefreshToken else { return false }
      return isRefresh ? rotates : offlineScopes?.contains { scopes.contains($0) } ?? true
    }
  }
}
