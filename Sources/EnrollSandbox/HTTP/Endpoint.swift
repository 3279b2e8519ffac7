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
  /// OpenID Connect RP-Initiated Logout §2.
  case endSession
  /// The test-control side; no fault ever strikes here.
  case control

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
    case .endSession: "/end-session"
    case .control: "/_control"
    }
  }

  /// HTTP methods that it answers.
  var methods: [String] {
    switch self {
    case .home, .discovery, .jwks: ["GET"]
    case .authorize, .interaction, .userinfo, .endSession: ["GET", "POST"]
    case .pushed, .token, .revocation, .control: ["POST"]
    }
  }

  init?(path: String) {
    guard let found = Self.allCases.first(where: { $0.path == path }) else { return nil }
    self = found
  }
}
