// The differences of one provider from a standard OpenID provider with public clients. Where a member is absent, the
// provider behaves as the specifications say.

import EnrollJSON

/// The dialect of one provider, which ``FakeProvider`` speaks.
public struct Dialect: Sendable {
  /// The issuer to configure. ``FakeProvider`` replaces the placeholders `<…>` in it.
  public let issuer: String
  let discovery: Discovery
  let urls: [String: String]
  let client: Client
  let refusals: Refusals
  let redirect: Redirect
  let scope: Scope
  let authorize: Authorize
  let token: Token
  let idToken: IDToken
  let refresh: Refresh
  let userinfo: Userinfo
  let logout: Logout
  let revocation: Revocation
  let device: Device
  let keys: Keys
  let dpop: DPoP
  let par: PAR

  struct Discovery: Sendable {
    /// The status of the response with the discovery document, if it is not 200.
    let status: Int64?
    /// The URL or path of the document, if it is not the OpenID path under the issuer.
    let url, path: String?
    /// Whether the document is also at the issuer's path.
    let isAtIssuer: Bool
    /// The `issuer` in the document.
    let issuer: String?
    let omit: [String]
    let extra: JSONObject
  }

  struct Client: Sendable {
    enum Secret: String, CaseIterable, Sendable { case none, required, refused, requiredUnlessDevice }
    enum PKCE: String, CaseIterable, Sendable { case supported, required, refused }
    /// The provider's reaction to a correct secret that was sent with a method for which the client is not registered.
    enum WrongMethod: String, CaseIterable, Sendable { case refused, spendsCode }
    let code, refresh, device: Secret
    let methods: [String]
    let pkce: PKCE
    let wrongMethod: WrongMethod
  }

  /// The answers to refused requests; nil for the answers that the specifications define.
  struct Refusals: Sendable {
    struct Answer: Sendable {
      let status: Int64
      let error: String?
    }
    /// The answers to a used code, to a wrong secret, to an unknown client, and to a renewal with scopes that
    /// were not granted.
    let code, secret, client, scope: Answer?
    /// The answer to the revocation of an unknown token.
    let revocation: Answer?
  }

  struct Redirect: Sendable {
    enum Port: String, CaseIterable, Sendable { case any, exact }
    /// The hosts that are accepted in a loopback redirect; nil for every loopback address and localhost.
    let loopbackHosts: [String]?
    let port: Port
    /// The accepted custom schemes, as patterns in which `<…>` is any text; nil if every scheme is accepted, empty if
    /// no scheme is accepted.
    let customSchemes: [String]?
    let isHTTPSOnly, addsSlash: Bool
  }

  struct Scope: Sendable {
    let refused: [String]
    /// The accepted scopes; nil if all scopes are accepted that are not refused.
    let accepted: [String]?
    /// A session gets a refresh token if it has one of these scopes; nil if every session gets a refresh token, empty
    /// if no session gets a refresh token.
    let offline: [String]?
    let `default`: [String]
    let needsOpenID: Bool
    /// Whether `offline_access` has an effect only with `prompt=consent` (OpenID Connect Core §11).
    let offlineNeedsConsent: Bool
  }

  struct Authorize: Sendable {
    enum UnknownPrompt: String, CaseIterable, Sendable { case ignored, errorPage, redirect }
    enum ResponseMode: String, CaseIterable, Sendable { case query, formPostForProfile }
    /// The accepted values of `prompt`; nil for the values of OpenID Connect.
    let prompts: [String]?
    let unknownPrompt: UnknownPrompt
    let responseMode: ResponseMode
    /// Whether the user is still signed in when the same browser begins the next sign-in.
    let keepsSession: Bool
  }

  struct Token: Sendable {
    enum AccessToken: String, CaseIterable, Sendable { case always, forAPIScope }
    /// The value of `expires_in`; nil if answers have no `expires_in`.
    let expiresIn: JSON?
    let scopeSeparator, type: String?
    let errorStatus: Int64?
    /// The body of an error, as a template with `<error>` and `<error_description>`.
    let errorShape: JSON?
    let extra: JSONObject
    let accessToken: AccessToken
    let isFormUnlessAccepted: Bool
    /// The header in which a response with status 429 states the time to wait; nil for Retry-After.
    let retryHeader: String?
  }

  struct IDToken: Sendable {
    enum Presence: String, CaseIterable, Sendable { case openid, never }
    /// Which claims the id_token has: the user's name and e-mail address, only the name, or none of these claims.
    enum Claims: String, CaseIterable, Sendable { case full, name, thin }
    enum Shape: String, CaseIterable, Sendable { case boolean, text, absent }
    enum AuthTime: String, CaseIterable, Sendable { case always, whenAsked, absent }
    let presence: Presence
    /// The `iss` of id_tokens, with `<tid>` for the user's tenant.
    let issuer: String?
    let audience: [String]?
    let hasAzp, hasNonce, hasTenant: Bool
    let algorithm: String
    let profileClaims: Claims
    let emailVerified: Shape
    let authTime: AuthTime
  }

  struct Refresh: Sendable {
    enum Rotation: Sendable { case never, always, sometimes }
    enum Reuse: String, CaseIterable, Sendable { case refused, family, keepsWorking }
    enum AuthTime: String, CaseIterable, Sendable { case same, new, absent }
    enum Audience: String, CaseIterable, Sendable { case same, grows }
    enum Scope: String, CaseIterable, Sendable { case narrows, narrowsForGood, ignored }
    enum SpentCode: String, CaseIterable, Sendable { case refused, endsSession }
    let isIssued: Bool
    let rotation: Rotation
    let graceSeconds: Int64
    let reuse: Reuse
    let bringsRefreshToken, bringsIDToken: Bool
    let authTime: AuthTime
    let audience: Audience
    /// The effect of `scope` in a renewal.
    let scope: Scope
    /// Whether a renewed id_token has the `nonce` of the sign-in.
    let hasNonce: Bool
    /// How the second use of a code affects the session that the code began.
    let spentCode: SpentCode
    let errorStatus: Int64?
    let error, errorDescription: String?
  }

  struct Userinfo: Sendable {
    enum SubjectType: String, CaseIterable, Sendable { case text, number, url }
    /// The path of the subject in the answer: the names of members, separated by dots.
    let subject: String
    let subjectType: SubjectType
    let wrapper: String?
    /// The members of the answer; nil for all members.
    let claims: [String]?
    /// The provider's own names for claims.
    let names: [String: String]
    let emailVerified: IDToken.Shape
    let requiresUserAgent: Bool
    /// The URL from which a second request gets the e-mail addresses; nil if there is no such request.
    let emails: String?
  }

  struct Logout: Sendable {
    enum Style: String, CaseIterable, Sendable { case rp, cognito, auth0, none }
    enum State: Sendable { case always, never, httpsOnly }
    let style: Style
    let returnsState: State
    let needsIDTokenHint: Bool
  }

  struct Revocation: Sendable {
    /// How the provider revokes tokens. With `token`, a request with only the token is enough; with `own`, the provider
    /// has a proprietary protocol instead of RFC 7009.
    enum Style: String, CaseIterable, Sendable { case rfc7009, token, own, none }
    enum PublicClient: String, CaseIterable, Sendable { case accepted, refused }
    let style: Style
    let publicClient: PublicClient
  }

  struct Device: Sendable {
    enum Style: String, CaseIterable, Sendable { case rfc8628, none }
    let style: Style
    let uriMember: String
    let pendingStatus, slowDownStatus: Int64?
    let bringsInterval, hasCompleteURI: Bool
    let deniedError, expiredError: String
    let publicClient: Revocation.PublicClient
    /// Scopes that are accepted only in the code flow.
    let refused: [String]
  }

  struct Keys: Sendable {
    enum Encryption: String, CaseIterable, Sendable { case sameKid, otherKid }
    enum Issuers: String, CaseIterable, Sendable { case template }
    let algorithmsOfOneKid: [String]
    let issuerPerKey: Issuers?
    let encryption: Encryption?
    let isEmpty: Bool
    /// The members of a published key; nil for all members of RFC 7517.
    let members: [String]?
  }

  struct DPoP: Sendable { let isAnnounced, bindsWhenProven: Bool }

  struct PAR: Sendable {
    let isAnnounced: Bool
    let publicClient: Revocation.PublicClient
  }
}

extension Dialect {
  /// The dialect without peculiarities: what the specifications allow, at the usual paths under the issuer.
  static func plain(issuer: String) throws(DialectError) -> Dialect {
    try Dialect(
      .object([
        ("issuer", .string(issuer)),
        (
          "discovery",
          .object([("extra", .object([("authorization_response_iss_parameter_supported", .bool(true))]))])
        ),
        ("scope", .object([("offline", .string("always"))])),
        ("idToken", .object([("alg", .string("ES256")), ("profileClaims", .string("name"))])),
        ("userinfo", .object([("claims", .array([.string("sub"), .string("email")]))])),
        ("dpop", .object([("bindsWhenProven", .bool(true))])),
      ]))
  }

  /// The `sub` of a user, in the form that the provider uses.
  func subject(of user: String, issuer: String) -> String {
    switch userinfo.subjectType {
    case .text: user
    case .number: "\(user.utf8.reduce(1000) { $0 + Int($1) })"
    case .url: "\(issuer)/id/\(user)"
    }
  }

  /// Whether the provider supports the device flow (RFC 8628).
  public var hasDeviceFlow: Bool { device.style != .none }

  /// Whether the provider refuses `offline_access`.
  public var refusesOfflineAccess: Bool {
    scope.refused.contains("offline_access") || !(scope.accepted?.contains("offline_access") ?? true)
  }
}
