// The state of the fake provider: codes, tokens, requests, and the browser of its user.

import EnrollRules
import EnrollCrypto

extension FakeProvider {
  struct State {
    var key: PrivateKey
    var settings: Settings
    var replies: [(Endpoint, Reply)] = []
    var requests: [(endpoint: Endpoint?, request: HTTPRequest)] = []
    var codes: [String: Grant] = [:]
    /// Codes that were used, each with the number of the family of tokens that it began.
    var spentCodes: [String: Int] = [:]
    var refreshTokens: [String: Grant] = [:]
    /// Refresh tokens that were rotated, each with the number of its family.
    var rotatedTokens: [String: Int] = [:]
    var deviceCodes: [String: Grant] = [:]
    var deviceCodeSeconds: Int64 = 600
    /// The refresh tokens of sessions that began on a device without a browser.
    var deviceTokens: Set<String> = []
    /// The recipients who were sent a one-time code.
    var recipients: [String] = []
    var issued = 0
    var renewals = 0
    /// The queries of pushed requests, by `request_uri`.
    var pushed: [String: String] = [:]
    /// The thumbprints of the keys to which access tokens are bound.
    var bound: [String: String] = [:]
    /// The audience of each access token whose renewal named a resource or scopes.
    var audiences: [String: Audience] = [:]
    /// The `jti` of DPoP proofs: each `jti` is accepted only once.
    var identifiers: Set<String> = []
    var revoked: [String] = []
    var hostileBehaviours: Set<HostileBehaviour> = []
    /// The user who is signed in at the provider in the browser.
    var browserUser: String?
    /// The scopes of the last sign-in.
    var scopes: [String] = []
    /// Whether the last sign-in requested `max_age`.
    var asksAge = false
  }

  struct Grant: Sendable {
    var clientID: String
    var subject: String
    var nonce: String?
    var challenge = ""
    var redirectURI = ""
    var scopes: [String] = []
    /// The resource to which the refresh token of this grant is bound.
    var resource: String?
    var hasOpenID: Bool
    /// The number of the sign-in from which the refresh tokens of this grant come.
    var family = 0
    /// The thumbprint of the key to which the tokens of this grant are bound.
    var thumbprint: String?
    /// When the refresh token of this grant was rotated. The old token is accepted during the grace period.
    var rotated: UnixTime?
  }

  /// The audience of an access token: the parameters `resource` and `scope` of the renewal that requested it.
  public struct Audience: Equatable, Sendable {
    /// The resource server; nil if the renewal named no resource server.
    public var resource: String?
    /// The scopes; nil if the renewal named no scopes.
    public var scope: String?

    /// The audience that a renewal requests.
    public init(resource: String? = nil, scope: String? = nil) {
      self.resource = resource
      self.scope = scope
    }
  }
}
