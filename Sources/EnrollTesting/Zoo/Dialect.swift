// How one provider differs from a plain OpenID provider with public clients. A member that is absent means: as the
// specifications have it.

import EnrollJSON

/// The dialect of one provider, as ``ZooProvider`` plays it.
public struct Dialect: Sendable {
  /// As a configuration names it; `<…>` is a place that ``ZooProvider`` fills in.
  public let issuer: String
  let discovery: Discovery
  let urls: [String: String]
  let client: Client
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
    /// Instead of 200.
    let status: Int64?
    /// Where it is, if not at the issuer's path for OpenID.
    let url, path: String?
    /// It is at the issuer's path, too.
    let isAtIssuer: Bool
    /// `issuer` of the document.
    let issuer: String?
    let omit: [String]
    let extra: JSONObject
  }

  struct Client: Sendable {
    enum Secret: String, CaseIterable, Sendable { case none, required, refused, requiredUnlessDevice }
    enum PKCE: String, CaseIterable, Sendable { case supported, required, refused }
    let code, refresh, device: Secret
    let methods: [String]
    let pkce: PKCE
  }

  struct Redirect: Sendable {
    enum Port: String, CaseIterable, Sendable { case any, exact }
    /// nil: every loopback address, and localhost.
    let loopbackHosts: [String]?
    let port: Port
    /// Patterns in which `<…>` is any text; nil: every scheme; empty: none.
    let customSchemes: [String]?
    let isHTTPSOnly, addsSlash: Bool
  }

  struct Scope: Sendable {
    let refused: [String]
    /// nil: all that are not refused.
    let accepted: [String]?
    /// Scopes of which one brings a refresh token; nil: every session has one; empty: none has.
    let offline: [String]?
    let `default`: [String]
    let needsOpenID: Bool
  }

  struct Authorize: Sendable {
    enum UnknownPrompt: String, CaseIterable, Sendable { case ignored, errorPage }
    enum ResponseMode: String, CaseIterable, Sendable { case query, formPostForProfile }
    /// nil: those of OpenID Connect.
    let prompts: [String]?
    let unknownPrompt: UnknownPrompt
    let responseMode: ResponseMode
  }

  struct Token: Sendable {
    enum AccessToken: String, CaseIterable, Sendable { case always, forAPIScope }
    /// nil: `expires_in` is absent.
    let expiresIn: JSON?
    let scopeSeparator, type: String?
    let errorStatus: Int64?
    /// A template with `<error>` and `<error_description>`.
    let errorShape: JSON?
    let extra: JSONObject
    let accessToken: AccessToken
    let isFormUnlessAccepted: Bool
  }

  struct IDToken: Sendable {
    enum Presence: String, CaseIterable, Sendable { case openid, never }
    enum Claims: String, CaseIterable, Sendable { case full, thin }
    enum Shape: String, CaseIterable, Sendable { case boolean, text, absent }
    let presence: Presence
    /// With `<tid>` for the user's tenant.
    let issuer: String?
    let audience: [String]?
    let hasAzp, hasNonce, hasTenant: Bool
    let algorithm: String
    let profileClaims: Claims
    let emailVerified: Shape
  }

  struct Refresh: Sendable {
    enum Rotation: Sendable { case never, always, sometimes }
    enum Reuse: String, CaseIterable, Sendable { case refused, family, keepsWorking }
    enum AuthTime: String, CaseIterable, Sendable { case same, new, absent }
    enum Audience: String, CaseIterable, Sendable { case same, grows }
    let isIssued: Bool
    let rotation: Rotation
    let graceSeconds: Int64
    let reuse: Reuse
    let bringsRefreshToken, bringsIDToken: Bool
    let authTime: AuthTime
    let audience: Audience
    let errorStatus: Int64?
    let error, errorDescription: String?
  }

  struct Userinfo: Sendable {
    enum SubjectType: String, CaseIterable, Sendable { case text, number, url }
    /// A path with dots.
    let subject: String
    let subjectType: SubjectType
    let wrapper: String?
    /// The members that are told; nil: all.
    let claims: [String]?
    /// Other names for claims.
    let names: [String: String]
    let emailVerified: IDToken.Shape
    let requiresUserAgent: Bool
    /// Of a second request, for the e-mail addresses.
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
    /// `token`: a token alone is enough; `own`: not RFC 7009.
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
  }

  struct Keys: Sendable {
    enum Encryption: String, CaseIterable, Sendable { case sameKid }
    enum Issuers: String, CaseIterable, Sendable { case template }
    let algorithmsOfOneKid: [String]
    let issuerPerKey: Issuers?
    let encryption: Encryption?
    let isEmpty: Bool
    /// nil: all that RFC 7517 has.
    let members: [String]?
  }

  struct DPoP: Sendable { let isAnnounced, bindsWhenProven: Bool }

  struct PAR: Sendable {
    let isAnnounced: Bool
    let publicClient: Revocation.PublicClient
  }
}

extension Dialect {
  /// Whether the provider signs in a device without a browser (RFC 8628).
  public var hasDeviceFlow: Bool { device.style != .none }
}
