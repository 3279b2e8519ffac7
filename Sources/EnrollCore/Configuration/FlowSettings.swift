// The parts of a configuration that belong to one flow each, as values.

/// Endpoints that are configured. Each takes the place of the one in the discovery document, which is fetched only if one
/// that a sign-in needs is not among them.
public struct Endpoints: Equatable, Sendable {
  /// Where the browser is sent (RFC 6749 §3.1); nil, as with the others, for the one that the provider announces.
  public var authorization: String?
  /// Where codes and refresh tokens are exchanged (RFC 6749 §3.2).
  public var token: String?
  /// Where the keys of id_tokens are (RFC 7517 §5); needed for the scope `openid` alone.
  public var jwks: String?
  /// OpenID Connect Core §5.3.
  public var userinfo: String?
  /// RFC 7009.
  public var revocation: String?
  /// OpenID Connect RP-Initiated Logout.
  public var endSession: String?
  /// RFC 7662.
  public var introspection: String?
  /// RFC 9126.
  public var pushedAuthorizationRequest: String?
  /// RFC 8628 §3.1.
  public var deviceAuthorization: String?
  /// Whether the provider puts `iss` into every answer (RFC 9207); its absence is then refused (R17). nil: as it announces.
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

/// Whether something that a provider may be able to do is made use of.
public enum FeaturePolicy: String, Sendable, CaseIterable {
  /// Where the provider announces it.
  case auto
  /// Without it nothing is begun.
  case always
  /// Not even where the provider announces it.
  case never
}

/// How a registration begins (flows.md §3).
public enum Registration: Equatable, Sendable {
  /// With the ordinary authorize URL.
  case signIn
  /// With `prompt=create`.
  case promptCreate
  /// With the gateway's own page.
  case page(String)
}

/// The effect of an activation link (flows.md §3).
public enum Activation: String, Sendable, CaseIterable {
  /// A sign-in with an authorize request.
  case authorize
  /// The page that ``Configuration/welcomePage`` names.
  case openPage
}

/// One way to register that the host presents beside the others.
public struct RegistrationChoice: Equatable, Sendable {
  /// `google`, `email`, …: the host's word.
  public var kind: String
  /// The provider's name for the connection.
  public var connection: String?
  /// The button's text, in the host's language.
  public var label: String
  /// The text beside the button; nil for none.
  public var guidance: String?

  public init(kind: String, connection: String? = nil, label: String, guidance: String? = nil) {
    self.kind = kind
    self.connection = connection
    self.label = label
    self.guidance = guidance
  }
}

/// Registration with another app's help (flows.md §9).
public struct App2AppSettings: Equatable, Sendable {
  /// Where the gateway opens a session: an https URL that takes a POST.
  public var initURI: String
  /// Where the gateway is told that the other app came back: an https URL that takes a POST.
  public var completeURI: String
  /// The gateway's name for the session id.
  public var sessionIDField: String
  /// The gateway's name for the link to the other app.
  public var linkField: String
  /// The gateway's name for the artefact id, which the other app returns.
  public var artefactIDField: String
  /// Beginnings of links that may be opened, each ending in a whole host or path segment.
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
  /// Where its `/v1/auth` begins.
  public var base: String
  /// Takes a session token out of the redirect itself, also one without `state` when exactly one transaction of this
  /// kind is pending. Everybody who sees that URL has the token, and any page can send one (RFC 9700 §4.3.2). It is
  /// for back ends that cannot do better yet.
  public var dangerouslyAcceptsTokenInRedirect: Bool

  public init(base: String, dangerouslyAcceptsTokenInRedirect: Bool = false) {
    self.base = base
    self.dangerouslyAcceptsTokenInRedirect = dangerouslyAcceptsTokenInRedirect
  }
}

/// Which provider's way of passwordless sign-in is spoken (flows.md §6).
public enum PasswordlessDialect: String, Sendable, CaseIterable {
  /// Auth0's `/passwordless/start`, and its grant for one-time codes.
  case auth0
}

/// Which provider's own way of ending its session in the browser is spoken (flows.md §5).
public enum LogoutDialect: String, Sendable, CaseIterable {
  /// `/v2/logout` with `returnTo`.
  case auth0
  /// `/logout` beside the authorization endpoint, with `logout_uri`. Nothing can be added to that address, so the return has no
  /// state.
  case cognito
}

/// How the user gets to choose another account (OpenID Connect Core §3.1.2.1).
public enum PromptAfterLogout: String, Sendable, CaseIterable {
  /// The user signs in again, and can choose who they are.
  case login
  /// The provider shows the accounts that it knows.
  case selectAccount = "select_account"
  /// The provider asks again whether the app may sign in, and with which account (Discord).
  case consent
}
