// The values that an id_token is checked against: those of the request, of the client, and the time.

public import EnrollCrypto

/// Everything outside the token that its rules need.
public struct IDTokenExpectations: Sendable {
  /// Clock difference that is tolerated (R25).
  public static let defaultToleranceSeconds: Int64 = 300

  /// The configured issuer, or template of issuers.
  public var issuer: Issuer
  /// The tenants that are allowed, where ``issuer`` is a template; empty for all.
  public var tenants: [String]
  public var clientID: ClientID
  /// The nonce of the transaction; nil on refresh, which has none.
  public var nonce: Secret?
  /// Difference between the clocks of one provider's machines that is tolerated where only they are compared.
  public static let serverToleranceSeconds: Int64 = 10

  /// `max_age` of the request.
  public var maxAgeSeconds: Int64?
  /// How long ago the request was made: what ``maxAgeSeconds`` counts back from.
  public var requestAgeSeconds: Int64
  /// `acr_values` of the request; empty when none were asked for.
  public var acrValues: [String]
  /// The access token that came with it, for `at_hash`.
  public var accessToken: Secret?
  /// The device's time with the learned server offset added.
  public var now: UnixTime
  /// Which clock tells ``now``, for error texts.
  var clock = "the server's clock"
  public var toleranceSeconds: Int64
  /// The accepted algorithms (R21).
  public var algorithms: [SignatureAlgorithm]
  /// The facts of the session's first id_token; nil at sign-in (R27).
  public var previous: IdentityFacts?

  public init(
    issuer: Issuer, tenants: [String] = [], clientID: ClientID, nonce: Secret? = nil,
    maxAgeSeconds: Int64? = nil,
    requestAgeSeconds: Int64 = 0, acrValues: [String] = [], accessToken: Secret? = nil, now: UnixTime,
    toleranceSeconds: Int64 = Self.defaultToleranceSeconds,
    algorithms: [SignatureAlgorithm] = SignatureAlgorithm.allCases, previous: IdentityFacts? = nil
  ) {
    self.issuer = issuer
    self.tenants = tenants
    self.clientID = clientID
    self.nonce = nonce
    self.maxAgeSeconds = maxAgeSeconds
    self.requestAgeSeconds = requestAgeSeconds
    self.acrValues = acrValues
    self.accessToken = accessToken
    self.now = now
    self.toleranceSeconds = toleranceSeconds
    self.algorithms = algorithms
    self.previous = previous
  }
}
