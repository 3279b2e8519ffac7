// The provider's doors: one table of names and paths, from which routing, discovery and counters are made.

/// One endpoint of the sandbox.
public enum Endpoint: String, CaseIterable, Sendable {
  /// The start page: users, passwords, how to configure a client.
  case home
  /// OpenID Connect Discovery §4.
  case discovery
  /// The signing keys (RFC 7517 §5).
  case jwks
  /// RFC 6749 §3.1.
  case authorize
  /// The pages in between: sign in, create an account, choose one, consent.
  case interaction
  /// RFC 9126 §2.
  case pushed
  /// RFC 6749 §3.2.
  case token
  /// OpenID Connect Core §5.3.
  case userinfo
  /// RFC 7009.
  case revocation
  /// RFC 7662.
  case introspection
  /// OpenID Connect RP-Initiated Logout §2.
  case endSession
  /// The back end: choosing a provider.
  /// The back end sends the browser to a provider.
  case backendStart
  /// The provider sends it back.
  case bffCallback
  /// An app redeems its one-time code.
  case backendRedeem
  /// The account of a browser that is signed in at the back end.
  /// Where a device asks for a code (RFC 8628 §3.1).
  case deviceAuthorization
  /// The page on which its user types it (RFC 8628 §3.3).
  case device
  /// RFC 7591 §3.
  case clientRegistration
  /// A resource that any token of this provider opens.
  case notes
  /// Where that resource says so (RFC 9728 §3).
  case notesMetadata
  /// The host's back end: does it know whoever holds this token? (flows.md §7)
  case registrationCheck
  /// The host's back end: the profile that the user confirmed.
  case profileUpdate
  /// The host's back end: a failure, without secrets.
  case errorReport
  /// Where Auth0's dialect has a code or link sent.
  case passwordless
  /// The page behind such a link.
  case passwordlessLink
  /// Registration with another app, step one.
  case otherAppInit
  /// Step two.
  case otherAppComplete
  /// A page that plays the other app.
  case otherApp
  /// The provider's login page, whose script leads to the gateway.
  case hostedLogin
  /// The gateway's own pages: sign in, register, wait for the e-mail, choose a password.
  case signIn, register, emailSent, welcome
  /// Where the gateway's own sign-in at the provider ends.
  case gatewayCallback
  /// The e-mails that would have been sent.
  case inbox
  /// Which apps may claim this site's links.
  case assetLinks, appSiteAssociation
  /// The test-control side; no fault ever strikes here.
  case control

  /// One segment in braces stands for any text.
  public var path: String {
    switch self {
    case .home: "/"
    case .discovery: "/.well-known/openid-configuration"
    case .jwks: "/jwks"
    case .authorize: "/authorize"
    case .interaction: "/interaction"
    case .pushed: "/par"
    case .token: "/token"
    case .userinfo: "/userinfo"
    case .revocation: "/revoke"
    case .introspection: "/introspect"
    case .endSession: "/end-session"
    case .backendStart: "/v1/auth/{provider}"
    case .bffCallback: "/v1/auth/{provider}/callback"
    case .backendRedeem: "/v1/auth/{provider}/redeem"
    case .deviceAuthorization: "/device/authorize"
    case .device: "/device"
    case .clientRegistration: "/clients"
    case .notes: "/notes"
    case .notesMetadata: "/.well-known/oauth-protected-resource/notes"
    case .registrationCheck: "/app/registration-check"
    case .profileUpdate: "/app/profile"
    case .errorReport: "/app/error-report"
    case .passwordless: "/passwordless/start"
    case .passwordlessLink: "/passwordless/link"
    case .otherAppInit: "/other-app/init"
    case .otherAppComplete: "/other-app/complete"
    case .otherApp: "/other-app"
    case .hostedLogin: "/login/login.htm"
    case .signIn: "/signin"
    case .register: "/register"
    case .emailSent: "/register/email-sent"
    case .welcome: "/welcome/{token}"
    case .gatewayCallback: Gateway.path
    case .inbox: "/inbox"
    case .assetLinks: "/.well-known/assetlinks.json"
    case .appSiteAssociation: "/.well-known/apple-app-site-association"
    case .control: "/_control"
    }
  }

  /// HTTP methods that it answers.
  var methods: [String] {
    switch self {
    case .home, .discovery, .jwks, .backendStart, .bffCallback, .hostedLogin, .emailSent,
      .gatewayCallback, .inbox, .assetLinks, .appSiteAssociation, .notes, .notesMetadata:
      ["GET"]
    case .authorize, .interaction, .userinfo, .endSession, .device, .passwordlessLink,
      .signIn, .register,
      .welcome, .otherApp:
      ["GET", "POST"]
    case .clientRegistration, .pushed, .token, .revocation, .introspection, .deviceAuthorization,
      .passwordless, .backendRedeem,
      .registrationCheck,
      .profileUpdate, .errorReport, .otherAppInit, .otherAppComplete, .control:
      ["POST"]
    }
  }

  init?(path: String) {
    guard let found = Self.allCases.first(where: { $0.path == path || $0.parameter(of: path) != nil }) else {
      return nil
    }
    self = found
  }

  /// The text in the place of the braces; nil if the path belongs to another endpoint.
  func parameter(of path: String) -> String? {
    let pattern = self.path.split(separator: "/", omittingEmptySubsequences: false)
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard pattern.count == parts.count else { return nil }
    var found: String?
    for (expected, part) in zip(pattern, parts) {
      if expected.hasPrefix("{"), !part.isEmpty {
        found = String(part)
      } else if expected != part {
        return nil
      }
    }
    return found
  }

  /// The path with `value` in the place of the braces.
  func path(with value: String) -> String {
    path.split(separator: "/", omittingEmptySubsequences: false).map { $0.hasPrefix("{") ? value[...] : $0 }
      .joined(separator: "/")
  }
}
