// The parts of a configuration that each belong to one flow, as values.

/// Configured endpoints. Each replaces the same endpoint in the discovery document. That document is fetched only if an
/// endpoint that a sign-in needs is missing here.
public struct Endpoints: Equatable, Sendable {
  /// The authorization endpoint (RFC 6749 §3.1); nil, here and below, for the endpoint that the provider announces.
  public var authorization: String?
  /// The token endpoint (RFC 6749 §3.2).
  public var token: String?
  /// The JWK Set with the keys of id_tokens (RFC 7517 §5); needed only for the scope `openid`.
  public var jwks: String?
  /// The userinfo endpoint (OpenID Connect Core §5.3).
  public var userinfo: String?
  /// The revocation endpoint (RFC 7009).
  public var revocation: String?
  /// The end_session endpoint (OpenID Connect RP-Initiated Logout).
  public var endSession: String?
  /// The introspection endpoint (RFC 7662).
  public var introspection: String?
  /// The endpoint for pushed authorization requests (RFC 9126).
  public var pushedAuthorizationRequest: String?
  /// The device authorization endpoint (RFC 8628 §3.1).
  public var deviceAuthorization: String?
  /// Whether the provider puts `iss` into every response (RFC 9207); if so, a response without `iss` is refused (R17).
  /// nil if the provider's announcement decides.
  public var announcesIssuerInRedirect: Bool?

  public init(
    authorization: String? = nil, token: String? = nil, jwks: String? = nil, userinfo: String? = nil,
    revocation: String? = nil, endSession: String? = nil, introspection: String? = nil,
    pushedAuthorizationRequest: String? = nil, deviceAuthorization: String? = nil,
    announcesIssuerInRedirect: Bool? = nil
  ) {
    self.authorization = authorization
    self.token = token
    self.jwks = jwks
    self.userinfo = userinfo
    self.revocation = revocation
    self.endSession = endSession
    self.introspection = introspection
    self.pushedAuthorizationRequest = pushedAuthorizationRequest
    self.deviceAuthorization = deviceAuthorization
    self.announcesIssuerInRedirect = announcesIssuerInRedirect
  }
}

/// Whether an optional feature of the provider is used.
public enum FeaturePolicy: String, Sendable, CaseIterable {
  /// The feature is used if the provider announces it.
  case auto
  /// The feature is always used; a sign-in without it fails.
  case always
  /// The feature is never used, even if the provider announces it.
  case never
}

/// How a registration begins (flows.md §3).
public enum Registration: Equatable, Sendable {
  /// The registration begins with the ordinary authorize URL.
  case signIn
  /// It begins with `prompt=create`.
  case promptCreate
  /// It begins with `prompt=registration` (Hydra).
  case promptRegistration
  /// The registration begins with the gateway's own page.
  case page(String)
}

extension Registration {
  /// The `prompt` of the authorize request; nil if the request has no `prompt`.
  package var prompt: String? {
    switch self {
    case .promptCreate: "create"
    case .promptRegistration: "registration"
    case .signIn, .page: nil
    }
  }
}

/// The effect of an activation link (flows.md §3).
public enum Activation: String, Sendable, CaseIterable {
  /// The link begins a sign-in with an authorize request.
  case authorize
  /// The link opens the page in ``Configuration/welcomePage``.
  case openPage
}

/// A way to register that the host presents.
public struct RegistrationChoice: Equatable, Sendable {
  /// The host's own name: `google`, `email`, ….
  public var kind: String
  /// The provider's name for the connection.
  public var connection: String?
  /// The button's text, in the host's language.
  public var label: String
  /// The text next to the button; nil for no text.
  public var guidance: String?

  public init(kind: String, connection: String? = nil, label: String, guidance: String? = nil) {
    self.kind = kind
    self.connection = connection
    self.label = label
    self.guidance = guidance
  }
}

/// Registration with the help of another app (flows.md §9).
public struct App2AppSettings: Equatable, Sendable {
  /// The gateway's endpoint that opens a session: an https URL for a POST.
  public var initURI: String
  /// The gateway's endpoint for the other app's answer: an https URL for a POST.
  public var completeURI: String
  /// The gateway's field name for the session id.
  public var sessionIDField: String
  /// The gateway's field name for the link to the other app.
  public var linkField: String
  /// The gateway's field name for the artefact id, which the other app returns.
  public var artefactIDField: String
  /// Prefixes of links that may be opened. Each prefix ends at the end of a host or of a path segment.
  public var allowedLinks: [String]
  /// Whether the user sets a PIN for the account before the profile is shown.
  public var requiresPIN: Bool

  public init(
    initURI: String, completeURI: String, sessionIDField: String = "sessionId", linkField: String = "link",
    artefactIDField: String = "artefactId", allowedLinks: [String], requiresPIN: Bool = false
  ) {
    self.initURI = initURI
    self.completeURI = completeURI
    self.sessionIDField = sessionIDField
    self.linkField = linkField
    self.artefactIDField = artefactIDField
    self.allowedLinks = allowedLinks
    self.requiresPIN = requiresPIN
  }
}

/// A back end that signs in on the app's behalf (flows.md §10).
public struct BFFSettings: Equatable, Sendable {
  /// The base URL of the back end, which serves `/v1/auth` below this URL.
  public var base: String
  /// Accepts a session token in the redirect itself, also without `state` if exactly one transaction of this
  /// kind is pending. Everyone who sees that URL has the token, and any page can send such a URL (RFC 9700
  /// §4.3.2). For back ends that cannot use a code yet.
  public var dangerouslyAcceptsTokenInRedirect: Bool

  public init(base: String, dangerouslyAcceptsTokenInRedirect: Bool = false) {
    self.base = base
    self.dangerouslyAcceptsTokenInRedirect = dangerouslyAcceptsTokenInRedirect
  }
}

/// The provider's API for passwordless sign-in (flows.md §6).
public enum PasswordlessDialect: String, Sendable, CaseIterable {
  /// Auth0's `/passwordless/start`, and its grant for one-time codes.
  case auth0
}

/// A provider's own way to end its session in the browser (flows.md §5).
public enum LogoutDialect: String, Sendable, CaseIterable {
  /// `/v2/logout` with `returnTo`.
  case auth0
  /// `/logout` next to the authorization endpoint, with `logout_uri`. Cognito does not allow additions to that URI,
  /// so the callback has no state.
  case cognito
}

/// The `prompt` that lets the user choose another account (OpenID Connect Core §3.1.2.1).
public enum PromptAfterLogout: String, Sendable, CaseIterable {
  /// The user signs in again, and can use another account.
  case login
  /// The provider shows the accounts that it knows.
  case selectAccount = "select_account"
  /// The provider asks again whether the app may sign in, and with which account (Discord).
  case consent
}
