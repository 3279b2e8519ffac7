// The settings of the fake provider that a test chooses.

public import EnrollCore
public import EnrollJSON

extension FakeProvider {
  /// What happens when a refresh token comes again that was rotated, and whose time of grace is over.
  public enum Reuse: Sendable {
    /// It is refused, and no more.
    case refused
    /// It is refused, and the session's current refresh token ends, too.
    case endsFamily
    /// It brings tokens as before.
    case keepsWorking
  }

  /// The provider's metadata, and the content of its tokens.
  public struct Settings: Sendable {
    /// The value of `expires_in`; nil for no such member.
    public var lifetime: JSON? = .integer(3600)
    /// `sub` of the user who signs in.
    public var subject = "alice"
    /// Whether it gives a refresh token at all.
    public var givesRefreshToken = true
    /// Whether each renewal brings another refresh token, and ends the old one.
    public var rotates = true
    /// For how long the refresh token before the current one may be sent again, in seconds.
    public var graceSeconds: Int64 = 0
    /// Whether a renewal brings an id_token too.
    public var givesIDTokenOnRefresh = true
    /// Whether it does so for sessions without the scope `openid`, too.
    public var givesIDTokenUnasked = false
    /// The resource servers for which a renewal may ask for a token (RFC 8707).
    public var resources: [String] = []
    /// Whether a renewal for a resource or for fewer scopes narrows its new refresh token to them for good.
    public var narrowsSessions = false
    /// Announces DPoP with these algorithms, and binds tokens to the key of whoever proves one (RFC 9449).
    public var dpopAlgorithms: [String] = []
    /// Answers Bearer tokens to those who prove a key, too.
    public var answersBearer = false
    /// The nonce that every proof must hold; a request without it is refused with the nonce.
    public var dpopNonce: String?
    /// Announces an endpoint for pushed authorization requests.
    public var takesPushedRequests = false
    /// `kid` of its key, in the key set and in tokens; nil for none.
    public var keyID: String? = "key-1"
    /// What its client must prove itself with, in one of these ways and no other; nil for a public client.
    public var clientSecret: String?
    /// The ways that it takes ``clientSecret`` in.
    public var secretMethods: [ClientSecretMethod] = [.post, .basic]
    /// The ways that its revocation and introspection endpoints take instead; nil for the same.
    public var laterSecretMethods: [ClientSecretMethod]?
    /// At the end of each refresh token.
    public var refreshTokenSuffix = ""
    /// Of its token endpoint. Nobody is at the old one when it changes.
    public var tokenPath = "/token"
    /// The addresses of endpoints that are not below the issuer.
    public var addresses: [Endpoint: String] = [:]
    /// The scopes of which one brings a refresh token; nil: every session has one.
    public var offlineScopes: [String]?
    /// What happens when a refresh token comes again that was rotated.
    public var reuse = Reuse.refused
    /// Between the granted scopes in an answer with tokens; nil: they are not told.
    public var scopeSeparator: String?
    /// `alg` of its id_tokens, where that is not their signature's.
    var claimedAlgorithm: String?
    /// Edits the claims before they are signed.
    public var claims: @Sendable (inout JSONObject) -> Void = { _ in }
    /// Edits the claims of a renewed id_token, after ``claims``.
    public var renewedClaims: @Sendable (inout JSONObject) -> Void = { _ in }
    /// Edits the key set.
    public var keySet: @Sendable (inout JSONObject) -> Void = { _ in }
    /// Headers of the discovery document and the key set, `Cache-Control` say; a request that names their `ETag` gets 304.
    public var documentHeaders: [HTTPHeader] = []
    /// Those two come out of a cache, where they have been for so many seconds.
    public var documentAgeSeconds: Int64 = 0
    /// Edits the discovery document.
    public var metadata: @Sendable (inout JSONObject) -> Void = { _ in }
    /// Seconds by which the server's clock differs.
    public var clockOffsetSeconds: Int64 = 0
    /// `sub` of what userinfo says; nil for the user of the token.
    public var userinfoSubject: String?
    /// The one-time code that everybody gets.
    public var oneTimeCode = "123456"
    /// The answer to a poll of a device code: nil for tokens, else the error.
    public var deviceError: String? = "authorization_pending"
    /// Edits the answer of the device authorization endpoint.
    public var deviceAuthorization: @Sendable (inout JSONObject) -> Void = { _ in }
    /// Edits what the token endpoint answers with tokens.
    public var tokens: @Sendable (inout JSONObject) -> Void = { _ in }
    /// Headers of an answer with tokens, before its own.
    public var tokenHeaders: [HTTPHeader] = []
    /// Edits the claims that userinfo tells.
    public var userinfo: @Sendable (inout JSONObject) -> Void = { _ in }
    /// Edits what the registration check answers.
    public var checkAnswer: @Sendable (inout JSONObject) -> Void = { _ in }

    /// Whether a session of these scopes has a refresh token.
    func givesRefreshToken(for scopes: [String]) -> Bool {
      givesRefreshToken && (offlineScopes?.contains { scopes.contains($0) } ?? true)
    }
  }
}
