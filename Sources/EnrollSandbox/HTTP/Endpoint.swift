// The provider's endpoints: one table of names and paths, on which routing, discovery and counters are based.

/// One endpoint of the sandbox.
public enum Endpoint: String, CaseIterable, Sendable {
  /// The start page: users, passwords, and a configuration for clients.
  case home
  /// The discovery document (OpenID Connect Discovery §4).
  case discovery
  /// The signing keys (RFC 7517 §5).
  case jwks
  /// The authorization endpoint (RFC 6749 §3.1).
  case authorize
  /// The pages that the user sees before the redirect: sign in, create an account, choose an account, consent.
  case interaction
  /// Pushed authorization requests (RFC 9126 §2).
  case pushed
  /// The token endpoint (RFC 6749 §3.2).
  case token
  /// Userinfo (OpenID Connect Core §5.3).
  case userinfo
  /// Revocation of tokens (RFC 7009).
  case revocation
  /// Introspection of tokens (RFC 7662).
  case introspection
  /// The logout page (OpenID Connect RP-Initiated Logout §2).
  case endSession
  /// The endpoint at which a device asks for a code (RFC 8628 §3.1).
  case deviceAuthorization
  /// The page on which the device's user types the code (RFC 8628 §3.3).
  case device
  /// The endpoint for the registration of clients (RFC 7591 §3).
  case clientRegistration
  /// A resource that accepts any access token of this provider.
  case notes
  /// The metadata of that resource (RFC 9728 §3).
  case notesMetadata
  /// The endpoint of the host's back end that reports whether the token's user is registered (flows.md §7).
  case registrationCheck
  /// The endpoint of the host's back end for the profile that the user confirmed.
  case profileUpdate
  /// The endpoint of the host's back end for reports of failures, without secrets.
  case errorReport
  /// The endpoint that sends a one-time code or a link, in Auth0's dialect.
  case passwordless
  /// The page that the link of a passwordless sign-in opens.
  case passwordlessLink
  /// The first step of a registration with another app.
  case otherAppInit
  /// The second step of a registration with another app.
  case otherAppComplete
  /// A page that plays the other app.
  case otherApp
  /// The provider's login page, whose script sends the browser to the gateway.
  case hostedLogin
  /// The gateway's own pages: sign in, register, e-mail sent, choose a password.
  case signIn, register, emailSent, welcome
  /// The callback of the gateway's own sign-in at the provider.
  case gatewayCallback
  /// The e-mails that a real gateway would send.
  case inbox
  /// The statements about the apps that may claim this site's links.
  case assetLinks, appSiteAssociation
  /// The test controls; no fault affects them.
  case control

  /// The path. A segment in braces matches any text.
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
    case .gatewayCallback: SandboxGateway.path
    case .inbox: "/inbox"
    case .assetLinks: "/.well-known/assetlinks.json"
    case .appSiteAssociation: "/.well-known/apple-app-site-association"
    case .control: "/_control"
    }
  }

  /// The HTTP methods that the endpoint answers.
  var methods: [String] {
    switch self {
    case .home, .discovery, .jwks, .hostedLogin, .emailSent,
      .gatewayCallback, .inbox, .assetLinks, .appSiteAssociation, .notes, .notesMetadata:
      ["GET"]
    case .authorize, .interaction, .userinfo, .endSession, .device, .passwordlessLink,
      .signIn, .register,
      .welcome, .otherApp:
      ["GET", "POST"]
    case .clientRegistration, .pushed, .token, .revocation, .introspection, .deviceAuthorization,
      .passwordless,
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

  /// The text that `path` has in place of the braces; nil if the path belongs to another endpoint.
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

  /// The path with `value` in place of the braces.
  func path(with value: String) -> String {
    path.split(separator: "/", omittingEmptySubsequences: false).map { $0.hasPrefix("{") ? value[...] : $0 }
      .joined(separator: "/")
  }
}
