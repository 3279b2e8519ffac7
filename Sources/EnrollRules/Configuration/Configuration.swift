// The configuration of one provider and one client (flows.md §1). Configurations from code and from JSON pass the same
// checks. Refused, with the key at fault: an `http` issuer that is not loopback, a redirect URI with a fragment, an
// empty client id, an unknown key, and everything else that breaks a rule. Each property belongs to a key in the table
// (ConfigurationKey); the table's row names, reads and checks the property.

public import EnrollCrypto

/// One provider, and one client that is registered there.
///
/// ```swift
/// let configuration = try Configuration(
///   issuer: "https://id.example", clientID: "app", redirectURI: "com.example.app:/callback"
/// ) {
///   $0.scopes = ["openid", "email", "offline_access"]
/// }
/// ```
public struct Configuration: Sendable {
  /// The name of the `ProviderPreset` from which the configuration was made; nil if there was no preset.
  public package(set) var preset: String?
  /// Whether the client is a server, which can keep a secret. If so, providers without public clients are accepted,
  /// too.
  var isOfServer = false
  /// The issuer as the provider writes it in its discovery document and its tokens, byte for byte (R18). An issuer
  /// with `{tenantid}` as a segment of its path is a template: each token names the issuer of its own tenant.
  public package(set) var issuer: Issuer
  /// The URL of the discovery document, if it is not the usual URL below the issuer.
  public var discoveryURI: String?
  /// The tenants (GUIDs) whose users may sign in, if ``issuer`` is a template; empty if the users of all tenants may
  /// sign in.
  public var tenants: [String] = []
  /// The client id that the provider assigned to the app.
  public package(set) var clientID: ClientID
  /// The secret that the provider gave this native client. Every copy of the app has it, so it is public, not
  /// confidential, and proves nothing (RFC 8252 §8.5). Some providers require the secret anyway (Google, GitHub). nil
  /// if there is no secret.
  public var clientSecret: Secret?
  /// The method with which the secret is sent; nil if EnrollKit uses a method that the provider announces.
  public var tokenEndpointAuthMethod: ClientSecretMethod?
  /// The private key with which the client authenticates, instead of with a secret (private_key_jwt); nil if there is
  /// no such key.
  public var clientKey: ClientKeySettings?
  /// The redirect URI: claimed https, a private scheme, or http to a loopback address or localhost (R3, R4). For a
  /// loopback redirect without a port the system chooses one. A private scheme without a dot causes a warning (R2).
  public package(set) var redirectURI: String
  /// The URI to which the browser returns after the provider ended its own session; nil if the browser does not return.
  public var postLogoutRedirectURI: String?
  /// The provider's own kind of logout, which is used instead of RP-Initiated Logout; nil if the provider has no such
  /// kind.
  public var logoutDialect: LogoutDialect?
  /// The `prompt` of the authorize request after a logout or a retry, so that the user can choose another account.
  public var promptAfterLogout = PromptAfterLogout.login
  /// The `prompt` of a sign-in for which the host sets no `prompt` (OpenID Connect Core §3.1.2.1); nil for no `prompt`.
  public var prompt: String?
  /// The URI of the fallback link (flows.md §4).
  public var fallbackURI: String?
  /// The scopes of every authorize request. EnrollKit sends a configured list unchanged, except that
  /// ``requireVerifiedEmail`` adds `email`. Without `openid` the provider sends no id_token.
  public var scopes = Defaults.scopes { didSet { hasDefaultScopes = false } }
  /// Whether ``scopes`` is the default, because no scopes were configured.
  public private(set) var hasDefaultScopes = true
  /// The templates of the activation links that are accepted (flows.md §3).
  public var appLinks: [String] = []
  /// How long before its end an access token is due for renewal (flows.md §8).
  public var graceSeconds = Defaults.graceSeconds
  /// How long a transaction waits for its redirect (R12).
  public var transactionSeconds = Defaults.transactionSeconds
  /// How long a transaction waits for the link in an e-mail (R12).
  public var emailWaitSeconds = Defaults.emailWaitSeconds
  /// Parameters that are sent with every authorize request, in this order, after the protocol's own parameters.
  public var authorizeParameters: [(String, String)] = []
  /// Endpoints that replace the endpoints that the provider announces. The discovery document is not fetched
  /// if they include all that a sign-in needs.
  public var endpoints: Endpoints?
  /// Where a provider without OpenID Connect describes the user; nil for OpenID Connect's userinfo.
  public var profile: ProfileMapping?
  /// The lifetime, in seconds, of an access token whose response states no lifetime (R32).
  public var withoutExpirySeconds = Defaults.withoutExpirySeconds
  /// The app's name and version, such as `App/2.1`. In the header `User-Agent` they precede EnrollKit's own name and
  /// version.
  public var userAgent: String?
  /// Whether authorize requests are pushed (RFC 9126). With ``FeaturePolicy/auto`` they are pushed if the provider has
  /// an endpoint for pushed requests. This is the default, because the host sees no difference.
  public var pushedRequests = FeaturePolicy.auto
  /// Whether tokens are bound to a key of this client (RFC 9449). With ``FeaturePolicy/always`` a sign-in that returns
  /// a Bearer token is refused; a session that already has a Bearer token keeps it.
  public var dpop = FeaturePolicy.never
  /// The algorithms of R21 with which id_tokens may be signed; nil means: the algorithms of R21 that the provider
  /// announces.
  public var idTokenAlgorithms: [SignatureAlgorithm]?
  /// Audiences that an id_token may name in addition to this client (R24); `*` allows any audience if `azp` is this
  /// client.
  public var trustedAudiences: [String] = []
  /// The URI of the resource for which tokens are requested (RFC 8707): sent with every request for tokens. A
  /// different resource means a different account.
  public var resource: String?
  /// Further APIs for which tokens may be requested later; sent with the request that begins a sign-in (RFC 8707 §2).
  public var resources: [String] = []
  /// The parameter with which ``resource`` and ``resources`` are sent.
  public var resourceParameter = ResourceParameter.resource
  /// How a registration begins (flows.md §3).
  public var registration = Registration.signIn
  /// The effect of an activation link (flows.md §3).
  public var activation = Activation.authorize
  /// The template of the page that ``Activation/openPage`` opens; nil if the activation link itself is opened (R10).
  public var welcomePage: String?
  /// False if the app runs on a platform that is not native. Then the stand-in token is used (flows.md §7, state A
  /// `notNative`).
  public var isNative = true
  /// The token that is used if ``isNative`` is false.
  public var standInToken: Secret?
  /// Whether the user must confirm the profile before the tokens are used (flows.md §7, state G
  /// `awaitingConfirmation`).
  public var requiresConfirmation = true
  /// The endpoint of the host's own back end that says whether it knows the user (flows.md §7); nil for no check.
  public var registrationCheckURI: String?
  /// Whether the back end must confirm the account. If false, the check stops a sign-in only if the back end's answer
  /// is about another user; other failures of the check are only reported.
  public var requireCheck = false
  /// The endpoint of the host's own back end that receives the confirmed profile; nil if there is no such endpoint.
  public var profileUpdateURI: String?
  /// The endpoint of the host's own back end that receives reports of failures; nil if there is no such endpoint.
  public var errorReportURI: String?
  /// Whether the user must have a verified e-mail address. If true, the scope `email` is added (flows.md §7).
  public var requireVerifiedEmail = false
  /// Ways to register that the host presents (flows.md §1).
  public var choices: [RegistrationChoice] = []
  /// The settings for a registration with the help of another app (flows.md §9); nil if the app does not use it.
  public var app2app: App2AppSettings?
  /// The settings for a back end that signs in on the app's behalf (flows.md §10); nil if there is no such back end.
  public var bff: BFFSettings?
  /// The provider's API for one-time codes and links (flows.md §6); nil if the provider has none.
  public var passwordless: PasswordlessDialect?
  /// The name of the authorize request's parameter that has the connection that the user chose (flows.md §6).
  public var connectionParameter = Defaults.connectionParameter
  /// The content of the page that the browser shows after a loopback redirect (R4).
  public var returnPage = ReturnPage()
  /// Whether http is allowed to a provider at a loopback address (R19). This is for development.
  public var allowsLoopbackHTTP = false
  /// A PEM file with the certificate authorities to trust instead of the system's.
  public var caFile: String?

  /// - Parameter setOthers: sets properties other than the three that every configuration needs.
  /// - Throws: `.configuration`, whose `field` is the property at fault.
  public init(
    issuer: String, clientID: String, redirectURI: String,
    _ setOthers: (inout Configuration) -> Void = { _ in }
  ) throws(EnrollError) {
    self.init(unchecked: Issuer(issuer), ClientID(clientID), redirectURI)
    setOthers(&self)
    self = try validated()
  }

  init(unchecked issuer: Issuer, _ clientID: ClientID, _ redirectURI: String) {
    self.issuer = issuer
    self.clientID = clientID
    self.redirectURI = redirectURI
  }

  /// The configuration after all checks: tenants are in lower case, and ``requireVerifiedEmail`` has added its scope.
  /// `EnrollClient` calls this method, because properties can change after `init`.
  /// - Throws: as ``init(issuer:clientID:redirectURI:_:)``.
  public func validated() throws(EnrollError) -> Configuration {
    var configuration = self
    do throws(ConfigurationFault) {
      try configuration.check()
    } catch {
      throw error.error(.swift)
    }
    return configuration
  }

  /// Checks each key with the check in its row of the table. Throws the first fault.
  mutating func check() throws(ConfigurationFault) {
    tenants = tenants.map { ASCII.lowercased($0) }
    if requireVerifiedEmail {
      let areDefaults = hasDefaultScopes
      scopes = Scopes.adding("email", to: scopes)
      hasDefaultScopes = areDefaults
    }
    for key in Configuration.keys {
      if let fault = key.fault(in: self) { throw fault }
    }
  }

  /// The values that absent keys have (flows.md §1, §8, R12).
  public enum Defaults {
    /// The scopes for an id_token, a profile and a refresh token. A scope that the provider does not support is not
    /// requested (``Configuration/scopes(at:)``).
    public static let scopes = ["openid", "profile", "offline_access"]
    /// How many seconds before its expiry a token is renewed.
    public static let graceSeconds: Int64 = 60
    /// The number of seconds that a transaction waits for its redirect.
    public static let transactionSeconds: Int64 = 600
    /// The number of seconds that a registration waits for the link in an e-mail: a day.
    public static let emailWaitSeconds: Int64 = 86_400
    /// The lifetime, in seconds, of an access token whose response states no lifetime.
    public static let withoutExpirySeconds: Int64 = 300
    /// ``Configuration/withoutExpirySeconds`` for tokens that never expire: a century.
    public static let neverExpiresSeconds: Int64 = 100 * 365 * 86_400
    /// The name that most providers use for the parameter with the user's connection.
    public static let connectionParameter = "connection"
  }
}

extension Configuration {
  /// The configured endpoints, if they include all endpoints that a sign-in needs; nil if they do not, so that
  /// discovery is needed.
  var endpointsOfSignIn: (authorization: String, token: String)? {
    guard let endpoints, let authorization = endpoints.authorization, let token = endpoints.token,
      endpoints.jwks != nil || !Scopes.contains("openid", in: scopes)
    else { return nil }
    return (authorization, token)
  }

  /// The activation links that are accepted.
  var linkTemplates: [LinkTemplate] { appLinks.compactMap { try? LinkTemplate($0) } }

  /// ``welcomePage`` as a template, which marks the position of the activation token.
  package var welcomeTemplate: LinkTemplate? {
    welcomePage.flatMap { try? LinkTemplate($0, mayBeLoopback: allowsLoopbackHTTP) }
  }

  /// ``resource`` as a URL.
  package var resourceIdentifier: ResourceIdentifier? {
    resource.flatMap { try? ResourceIdentifier($0, allowsLoopbackHTTP: allowsLoopbackHTTP) }
  }

  /// The risk of the redirect URI, as text for a log; nil if there is no risk (R2).
  public var redirectWarning: String? {
    let colon = redirectURI.utf8.firstIndex(of: 0x3A) ?? redirectURI.utf8.endIndex
    let scheme = redirectURI.utf8[..<colon]
    guard !scheme.contains(0x2E), !scheme.elementsEqual("https".utf8), !scheme.elementsEqual("http".utf8)
    else { return nil }
    return "the redirect's scheme has no dot, so that other apps may claim it, too"
  }

  /// Whether the redirect arrives at a listener of EnrollKit on this device (R4).
  public var usesLoopbackRedirect: Bool { (try? StrictURL(redirectURI))?.kind == .loopbackHTTP }
}
