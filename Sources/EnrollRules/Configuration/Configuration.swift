// The configuration of one provider and one client (flows.md §1), as a value that is always valid: configurations from
// code and from JSON pass the same checks. Refused at once, with the key at fault: an `http` issuer that is not
// loopback, a redirect URI with a fragment, an empty client id, an unknown key, and everything else that breaks a rule.

public import EnrollCrypto

/// One provider and one client at it.
public struct Configuration: Sendable {
  /// The name of the `ProviderPreset` from which it was made; nil for none.
  public package(set) var preset: String?
  /// The issuer as the provider writes it in its discovery document and its tokens, byte for byte (R18). With
  /// `{tenantid}` as a segment of its path it is a template: each token names the issuer of its own tenant.
  public package(set) var issuer: Issuer
  /// The URL of the discovery document, if it is not below the issuer.
  public let discoveryURI: String?
  /// The tenants whose users may sign in, if ``issuer`` is a template; empty for all. GUIDs in lower case.
  public let tenants: [String]
  /// The client id that the provider assigned to the app.
  public let clientID: ClientID
  /// The secret that the provider gave this native client. Every copy of the app has it, so it is public, not
  /// confidential, and proves nothing (RFC 8252 §8.5); some providers require it (Google, GitHub). nil for none.
  public let clientSecret: Secret?
  /// How the secret is sent; nil: as the provider announces.
  public let tokenEndpointAuthMethod: ClientSecretMethod?
  /// The client's own private key, with which it authenticates instead of with a secret (private_key_jwt); nil for
  /// none.
  public let clientKey: ClientKeySettings?
  /// Claimed https, a private scheme, or http to a loopback address or localhost (R3, R4). For a loopback redirect
  /// without a port the system chooses one. A private scheme without a dot causes a warning (R2).
  public let redirectURI: String
  /// The URI to which the browser returns after the provider ended its own session; nil if it does not return.
  public let postLogoutRedirectURI: String?
  /// The provider's own logout, used instead of RP-Initiated Logout; nil for none.
  public let logoutDialect: LogoutDialect?
  /// The `prompt` of the authorize request after a logout or a retry, so that the user can choose another account.
  public let promptAfterLogout: PromptAfterLogout
  /// `prompt` of a sign-in for which the host sets none (OpenID Connect Core §3.1.2.1); nil for none.
  public let prompt: String?
  /// The URI of the fallback link (flows.md §4).
  public let fallbackURI: String?
  /// The scopes of every authorize request. EnrollKit adds none to a configured list, except `email` for
  /// ``requireVerifiedEmail``; without `openid` there is no id_token.
  public let scopes: [String]
  /// Whether ``scopes`` is the default, because none were configured.
  public let hasDefaultScopes: Bool
  /// The activation links that are accepted (flows.md §3).
  public let appLinks: [LinkTemplate]
  /// How long before its end an access token is due for renewal (flows.md §8).
  public let graceSeconds: Int64
  /// How long a transaction waits for its redirect (R12).
  public let transactionSeconds: Int64
  /// How long a transaction waits for the link in an e-mail (R12).
  public let emailWaitSeconds: Int64
  /// Sent with every authorize request, in this order, after the protocol's own parameters.
  public let authorizeParameters: [(String, String)]
  /// Endpoints that replace the endpoints that the provider announces. The discovery document is not fetched
  /// if they include all that a sign-in needs.
  public let endpoints: Endpoints?
  /// Where a provider without OpenID Connect describes the user; nil for OpenID Connect's userinfo.
  public let profile: ProfileMapping?
  /// The lifetime of an access token whose response states none, in seconds (R32).
  public let withoutExpirySeconds: Int64
  /// The app's name and version before EnrollKit's in the header `User-Agent`, such as `App/2.1`.
  public let userAgent: String?
  /// Whether authorize requests are pushed (RFC 9126). With ``FeaturePolicy/auto`` they are pushed if the provider has
  /// an endpoint for it, because the host sees no difference.
  public let pushedRequests: FeaturePolicy
  /// Whether tokens are bound to a key of this client (RFC 9449). With ``FeaturePolicy/always`` a sign-in that returns
  /// a Bearer token is refused; a session that has one already keeps it.
  public let dpop: FeaturePolicy
  /// The algorithms of R21 with which id_tokens may be signed; nil: the algorithms among them that the
  /// provider announces.
  public let idTokenAlgorithms: [SignatureAlgorithm]?
  /// Audiences that an id_token may name beside this client (R24); `*` for any, if `azp` is this client.
  public let trustedAudiences: [String]
  /// The resource for which tokens are requested (RFC 8707): sent with every request for tokens. Another resource is
  /// another account.
  public let resource: ResourceIdentifier?
  /// Further APIs for which tokens may be requested later; sent with the request that begins a sign-in (RFC 8707 §2).
  public let resources: [ResourceIdentifier]
  /// The parameter with which ``resource`` and ``resources`` are sent.
  public let resourceParameter: ResourceParameter
  /// How a registration begins (flows.md §3).
  public let registration: Registration
  /// The effect of an activation link (flows.md §3).
  public let activation: Activation
  /// The page that ``Activation/openPage`` opens; nil: the activation link itself (R10).
  public let welcomePage: LinkTemplate?
  /// False on a platform that is not a native app: the stand-in token is used (flows.md §7, A).
  public let isNative: Bool
  /// The token that is used if ``isNative`` is false.
  public let standInToken: Secret?
  /// Whether the user must confirm the profile before the tokens are used (flows.md §7, G).
  public let requiresConfirmation: Bool
  /// The endpoint of the host's own back end that says whether it knows the user (flows.md §7); nil for no check.
  public let registrationCheckURI: String?
  /// Whether the back end must confirm the account. If false, only an answer about another user stops the sign-in;
  /// other failures of the check are reported.
  public let requireCheck: Bool
  /// The endpoint of the host's own back end that receives the confirmed profile; nil for none.
  public let profileUpdateURI: String?
  /// The endpoint of the host's own back end that receives failures; nil for none.
  public let errorReportURI: String?
  /// Whether the user must have a verified e-mail address; adds the scope `email` (flows.md §7).
  public let requireVerifiedEmail: Bool
  /// Ways to register that the host presents (flows.md §1).
  public let choices: [RegistrationChoice]
  /// Registration with the help of another app (flows.md §9); nil if the app does not use it.
  public let app2app: App2AppSettings?
  /// A back end that signs in on the app's behalf (flows.md §10); nil if there is none.
  public let bff: BFFSettings?
  /// The provider's API for one-time codes and links (flows.md §6); nil if the provider has none.
  public let passwordless: PasswordlessDialect?
  /// The name of the parameter for the connection that the user chose (flows.md §6).
  public let connectionParameter: String
  /// The content of the page that the browser shows after a loopback redirect (R4).
  public let returnPage: ReturnPage
  /// Whether http to a provider on loopback is allowed (R19), for development.
  public let allowsLoopbackHTTP: Bool
  /// A PEM file with the certificate authorities to trust instead of the system's.
  public let caFile: String?

  /// - Throws: `.configuration`; `field` is the argument at fault.
  public init(
    issuer: String,
    discoveryURI: String? = nil,
    tenants: [String] = [],
    clientID: String,
    redirectURI: String,
    clientSecret: Secret? = nil,
    tokenEndpointAuthMethod: ClientSecretMethod? = nil,
    clientKey: ClientKeySettings? = nil,
    postLogoutRedirectURI: String? = nil,
    logoutDialect: LogoutDialect? = nil,
    prompt: String? = nil,
    promptAfterLogout: PromptAfterLogout = .login,
    fallbackURI: String? = nil,
    scopes: [String]? = nil,
    appLinks: [String] = [],
    graceSeconds: Int64 = Configuration.Defaults.graceSeconds,
    transactionSeconds: Int64 = Configuration.Defaults.transactionSeconds,
    emailWaitSeconds: Int64 = Configuration.Defaults.emailWaitSeconds,
    authorizeParameters: [(String, String)] = [],
    endpoints: Endpoints? = nil,
    profile: ProfileMapping? = nil,
    withoutExpirySeconds: Int64 = Configuration.Defaults.withoutExpirySeconds,
    userAgent: String? = nil,
    pushedRequests: FeaturePolicy = .auto,
    dpop: FeaturePolicy = .never,
    idTokenAlgorithms: [SignatureAlgorithm]? = nil,
    trustedAudiences: [String] = [],
    resource: String? = nil,
    resources: [String] = [],
    resourceParameter: ResourceParameter = .resource,
    registration: Registration = .signIn,
    activation: Activation = .authorize,
    welcomePage: String? = nil,
    isNative: Bool = true,
    standInToken: Secret? = nil,
    requiresConfirmation: Bool = true,
    registrationCheckURI: String? = nil,
    requireCheck: Bool = false,
    profileUpdateURI: String? = nil,
    errorReportURI: String? = nil,
    requireVerifiedEmail: Bool = false,
    choices: [RegistrationChoice] = [],
    app2app: App2AppSettings? = nil,
    bff: BFFSettings? = nil,
    passwordless: PasswordlessDialect? = nil,
    connectionParameter: String = Configuration.Defaults.connectionParameter,
    returnPage: ReturnPage = ReturnPage(),
    allowsLoopbackHTTP: Bool = false,
    caFile: String? = nil
  ) throws(EnrollError) {
    self.issuer = Issuer(issuer)
    self.discoveryURI = discoveryURI
    self.tenants = tenants.map { ASCII.lowercased($0) }
    self.clientID = ClientID(clientID)
    self.clientSecret = clientSecret
    self.tokenEndpointAuthMethod = tokenEndpointAuthMethod
    self.clientKey = clientKey
    self.redirectURI = redirectURI
    self.postLogoutRedirectURI = postLogoutRedirectURI
    self.logoutDialect = logoutDialect
    self.prompt = prompt
    self.promptAfterLogout = promptAfterLogout
    self.fallbackURI = fallbackURI
    hasDefaultScopes = scopes == nil
    let named = scopes ?? Defaults.scopes
    self.scopes = requireVerifiedEmail ? Scopes.adding("email", to: named) : named
    self.appLinks = try ConfigurationRules.links(appLinks, key: "appLinks")
    self.graceSeconds = graceSeconds
    self.transactionSeconds = transactionSeconds
    self.emailWaitSeconds = emailWaitSeconds
    self.authorizeParameters = authorizeParameters
    self.endpoints = endpoints
    self.profile = profile
    self.withoutExpirySeconds = withoutExpirySeconds
    self.userAgent = userAgent
    self.pushedRequests = pushedRequests
    self.dpop = dpop
    self.idTokenAlgorithms = idTokenAlgorithms
    self.trustedAudiences = trustedAudiences
    self.resource = try ConfigurationRules.resource(resource, allowsLoopbackHTTP: allowsLoopbackHTTP)
    self.resources = try ConfigurationRules.resources(resources, allowsLoopbackHTTP: allowsLoopbackHTTP)
    self.resourceParameter = resourceParameter
    self.registration = registration
    self.activation = activation
    self.welcomePage = try ConfigurationRules.page(
      welcomePage, key: "welcomePage", allowsLoopbackHTTP: allowsLoopbackHTTP)
    self.isNative = isNative
    self.standInToken = standInToken
    self.requiresConfirmation = requiresConfirmation
    self.registrationCheckURI = registrationCheckURI
    self.requireCheck = requireCheck
    self.profileUpdateURI = profileUpdateURI
    self.errorReportURI = errorReportURI
    self.requireVerifiedEmail = requireVerifiedEmail
    self.choices = choices
    self.app2app = app2app
    self.bff = bff
    self.passwordless = passwordless
    self.connectionParameter = connectionParameter
    self.returnPage = returnPage
    self.allowsLoopbackHTTP = allowsLoopbackHTTP
    self.caFile = caFile
    do throws(EnrollError) {
      try ConfigurationRules.check(self)
    } catch {
      throw ConfigurationSpelling.inSwift(error)
    }
  }

  /// The defaults of absent keys (flows.md §1, §8, R12).
  public enum Defaults {
    /// For an id_token, a profile, and a refresh token; fewer if the provider does not support them
    /// (``Configuration/scopes(at:)``).
    public static let scopes = ["openid", "profile", "offline_access"]
    /// Seconds before its expiry at which a token is renewed.
    public static let graceSeconds: Int64 = 60
    /// Seconds that a transaction waits for its redirect.
    public static let transactionSeconds: Int64 = 600
    /// Seconds that a registration waits for the link in an e-mail: a day.
    public static let emailWaitSeconds: Int64 = 86_400
    /// The lifetime of an access token whose response states none, in seconds.
    public static let withoutExpirySeconds: Int64 = 300
    /// ``Configuration/withoutExpirySeconds`` for tokens that never expire: a century.
    public static let neverExpiresSeconds: Int64 = 100 * 365 * 86_400
    /// The parameter's name at most providers.
    public static let connectionParameter = "connection"
  }
}

extension Configuration {
  /// The configured endpoints, if these include all that a sign-in needs; nil if discovery is needed.
  var endpointsOfSignIn: (authorization: String, token: String)? {
    guard let endpoints, let authorization = endpoints.authorization, let token = endpoints.token,
      endpoints.jwks != nil || !Scopes.contains("openid", in: scopes)
    else { return nil }
    return (authorization, token)
  }

  /// The risk of the redirect URI, as text for a log; nil if there is none (R2).
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
