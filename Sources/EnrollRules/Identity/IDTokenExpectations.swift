// The values against which an id_token is checked: from the request, the client, and the clock.

public import EnrollCrypto

/// The values that the rules need in addition to the token.
public struct IDTokenExpectations: Sendable {
  /// The clock difference that is tolerated (R25).
  public static let defaultToleranceSeconds: Int64 = 300

  /// The configured issuer or issuer template.
  public var issuer: Issuer
  /// The tenants that are allowed, if ``issuer`` is a template; empty for all.
  public var tenants: [String]
  public var clientID: ClientID
  /// The audiences that `aud` may have in addition to ``clientID``; `*` for any.
  public var trustedAudiences: [String] = []
  /// The nonce of the transaction; nil at a renewal, which has no nonce.
  public var nonce: Secret?
  /// The tolerated difference between the clocks of one provider's machines, for times that only the provider has set.
  public static let serverToleranceSeconds: Int64 = 10

  /// `max_age` of the request.
  public var maxAgeSeconds: Int64?
  /// How many seconds ago the request was made. ``maxAgeSeconds`` counts back from that time.
  public var requestAgeSeconds: Int64
  /// `acr_values` of the request; empty if the request had none.
  public var acrValues: [String]
  /// The access token of the same response, for `at_hash`.
  public var accessToken: Secret?
  /// The device's time plus the known offset of the server's clock.
  public var now: UnixTime
  /// The clock of ``now``, for error texts.
  package var clock = "the server's clock"
  public var toleranceSeconds: Int64
  /// The accepted algorithms (R21).
  public var algorithms: [SignatureAlgorithm]
  /// The claims of the session's last verified id_token; nil at a sign-in (R27).
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
