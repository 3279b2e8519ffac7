// Everything that EnrollKit has to be told about one provider and one client (flows.md §1), as a value that cannot be
// wrong: both ways in, from code and from JSON, run the same checks. Refused at once, each by its key: an `http`
// issuer that is not loopback, a redirect with a fragment, an empty client id, an
// unknown key, and whatever else breaks a rule.

public import EnrollCrypto

/// One provider and one client of it.
public struct Configuration: Sendable {
  /// The `ProviderPreset` that it was made of; nil for none.
  public internal(set) var preset: String?
  /// As the provider writes it in its discovery document and its tokens, byte for byte (R18). With `{tenantid}` as a segment
  /// of its path it is a template: each token names the issuer of its own tenant.
  public internal(set) var issuer: Issuer
  /// Where the discovery document is, if not below the issuer.
  public let discoveryURI: String?
  /// The tenants whose users may sign in, where ``issuer`` is a template; empty for all. GUIDs in lower case.
  public let tenants: [String]
  /// The name under which the provider knows the app.
  public let clientID: ClientID
  /// The secret that the provider gave this native client. Every copy of the app has it, so it is published, not
  /// confidential, and proves nothing (RFC 8252 §8.5); some providers ask for it (Google, GitHub). nil for none.
  public let clientSecret: Secret?
  /// How the secret is sent; nil: as the provider announces.
  public let tokenEndpointAuthMethod: ClientSecretMethod?
  /// Claimed https, a private scheme, or http to a loopback address or localhost (R3, R4). A loopback redirect without a
  /// port gets one from the system. A private scheme without a dot draws a warning (R2).
  public let redirectURI: String
  /// Where the browser comes back to after the provider ended its own session; nil when it does not.
  public let postLogoutRedirectURI: String?
  /// Where the provider ends its session in its own way instead of RP-Initiated Logout.
  public let logoutDialect: LogoutDialect?
  /// The `prompt` of the authorize request after a logout or a retry, so that the user can choose another account.
  public let promptAfterLogout: PromptAfterLogout
  /// `prompt` of a sign-in for which the host names none (OpenID Connect Core §3.1.2.1); nil for none.
  public let prompt: String?
  /// Where a link that lost its way comes back to (flows.md §4).
  public let fallbackURI: String?
  /// The scopes of every authorize request. Nothing is added silently: without `openid` there is no id_token.
  public let scopes: [String]
  /// Nobody configured ``scopes``.
  public let hasDefaultScopes: Bool
  /// Activation links that are accepted (flows.md §3).
  public let appLinks: [LinkTemplate]
  /// How long before its end an access token is due for renewal (flows.md §8).
  public let graceSeconds: Int64
  /// How long a transaction waits for its redirect (R12).
  public let transactionSeconds: Int64
  /// How long a transaction waits for the link in an e-mail (R12).
  public let emailWaitSeconds: Int64
  /// Sent with every authorize request, in this order, after the protocol's own.
  public let authorizeParameters: [(String, String)]
  /// Endpoints in place of those that the provider announces. Discovery is not asked where they are all that a sign-in needs.
  public let endpoints: Endpoints?
  /// How a provider without OpenID Connect describes the user; nil: as OpenID Connect has it.
  public let profile: ProfileMapping?
  /// The life of an access token whose response states none, in seconds (R32).
  public let withoutExpirySeconds: Int64
  /// What requests say about the app, before EnrollKit's own name in the header `User-Agent`: `App/2.1`.
  public let userAgent: String?
  /// Whether authorize requests are pushed (RFC 9126): with ``FeaturePolicy/auto`` wherever the provider has an endpoint
  /// for them, because nothing that the host sees changes with it.
  public let pushedRequests: FeaturePolicy
  /// Whether tokens are bound to a key of this client (RFC 9449). With ``FeaturePolicy/always`` a Bearer token is refused
  /// when one comes of a sign-in; a session that has one already keeps it.
  public let dpop: FeaturePolicy
  /// The algorithms of R21 that id_tokens may be signed with.
  public let idTokenAlgorithms: [SignatureAlgorithm]
  /// What tokens are asked for (RFC 8707): sent with every request that leads to tokens. Another resource is another account.
  public let resource: ResourceIdentifier?
  /// How a registration begins (flows.md §3).
  public let registration: Registration
  /// The effect of an activation link (flows.md §3).
  public let activation: Activation
  /// The page that ``Activation/openPage`` opens; nil: the activation link itself (R10).
  public let welcomePage: LinkTemplate?
  /// False on a platform that is not a native app: the stand-in token is used (flows.md §7, A).
  public let isNative: Bool
  /// The token that is used where ``isNative`` is false.
  public let standInToken: Secret?
  /// Whether the user confirms the profile before tokens count (flows.md §7, G).
  public let requiresConfirmation: Bool
  /// The host's own back end that says whether it knows the user (flows.md §7); nil for no such check.
  public let registrationCheckURI: String?
  /// Whether a registration counts only once that check has said yes; else its failures are reported, and no more.
  public let requireCheck: Bool
  /// The host's own back end that is told the confirmed profile; nil for nobody.
  public let profileUpdateURI: String?
  /// The host's own back end that is told of failures; nil for nobody.
  public let errorReportURI: String?
  /// Adds the scope `email` and asks for a verified address (flows.md §7).
  public let requireVerifiedEmail: Bool
  /// Ways to register that the host presents (flows.md §1).
  public let choices: [RegistrationChoice]
  /// Registration with another app's help (flows.md §9); nil if the app does not use it.
  public let app2app: App2AppSettings?
  /// A back end that signs in on the app's behalf (flows.md §10); nil if there is none.
  public let bff: BFFSettings?
  /// How the provider sends one-time codes and links (flows.md §6); nil where it does not.
  public let passwordless: PasswordlessDialect?
  /// The parameter by which the provider takes the connection that the user chose (flows.md §6).
  public let connectionParameter: String
  /// How the page looks that a loopback redirect leaves in the browser (R4).
  public let returnPage: ReturnPage
  /// Lets the provider be spoken to by http on loopback (R19), for development.
  public let allowsLoopbackHTTP: Bool
  /// A PEM file with the authorities to trust instead of the system's.
  public let caFile: String?

  /// - Throws: `.configuration`; `field` is the key at fault, as it is named in JSON.
  public init(
    issuer: String,
    discoveryURI: String? = nil,
    tenants: [String] = [],
    clientID: String,
    redirectURI: String,
    clientSecret: Secret? = nil,
    tokenEndpointAuthMethod: ClientSecretMethod? = nil,
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
    idTokenAlgorithms: [SignatureAlgorithm] = SignatureAlgorithm.allCases,
    resource: String? = nil,
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
    self.resource = try ConfigurationRules.resource(resource, allowsLoopbackHTTP: allowsLoopbackHTTP)
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

  /// The defaults of keys that are absent (flows.md §1, §8, R12).
  public enum Defaults {
    /// An id_token, a profile, and a refresh token; without `offline_access` at a provider that does not list it
    /// (``Configuration/scopes(listed:)``).
    public static let scopes = ["openid", "profile", "offline_access"]
    /// Seconds before its end from which on a token is renewed.
    public static let graceSeconds: Int64 = 60
    /// Seconds that a transaction waits for its redirect.
    public static let transactionSeconds: Int64 = 600
    /// Seconds that a registration waits for the link in an e-mail: a day.
    public static let emailWaitSeconds: Int64 = 86_400
    /// Seconds that an access token counts as valid whose response states no life.
    public static let withoutExpirySeconds: Int64 = 300
    /// ``Configuration/withoutExpirySeconds`` of tokens that never expire: a century.
    public static let neverExpiresSeconds: Int64 = 100 * 365 * 86_400
    /// The parameter's name at most providers.
    public static let connectionParameter = "connection"
  }
}

extension Configuration {
  /// The scopes to ask for where the host names none. A configured list goes as it is; the default one leaves
  /// `offline_access` out where the provider lists its scopes (RFC 8414 §2) and that is not among them: some refuse it, and
  /// give refresh tokens without it.
  /// - Parameter listed: the provider's list; nil where it has none.
  public func scopes(listed: [String]?) -> [String] {
    guard hasDefaultScopes, let listed, !Scopes.contains("offline_access", in: listed) else { return scopes }
    return scopes.filter { !ASCII.equals($0, "offline_access") }
  }

  /// The risk of the redirect, in words for a log; nil when there is none (R2).
  public var redirectWarning: String? {
    let colon = redirectURI.utf8.firstIndex(of: 0x3A) ?? redirectURI.utf8.endIndex
    let scheme = redirectURI.utf8[..<colon]
    guard !scheme.contains(0x2E), !scheme.elementsEqual("https".utf8), !scheme.elementsEqual("http".utf8)
    else { return nil }
    return "the redirect's scheme has no dot, so that other apps may claim it, too"
  }

  /// The redirect comes back to a listener of ours on this device (R4).
  public var usesLoopbackRedirect: Bool { (try? StrictURL(redirectURI))?.kind == .loopbackHTTP }
}
