// A provider's metadata (OpenID Connect Discovery §3, RFC 8414 §2), as proven facts: the issuer is the
// configured one, byte for byte (R18), and every endpoint is https or allowed loopback (R19).

/// A provider's endpoints and abilities.
public struct ProviderMetadata: Equatable, Sendable {
  /// Appended to the issuer (OpenID Connect Discovery §4.1).
  public static let wellKnownPath = "/.well-known/openid-configuration"
  /// Put between the issuer's host and path (RFC 8414 §3.1).
  public static let authorizationServerPath = "/.well-known/oauth-authorization-server"

  /// `issuer`: the configured one.
  public var issuer: Issuer
  /// `authorization_endpoint`.
  public var authorizationEndpoint: String
  /// `token_endpoint`.
  public var tokenEndpoint: String
  /// `jwks_uri`; nil at a provider without id_tokens.
  public var jwksURI: String?
  /// `userinfo_endpoint`; nil, as with the endpoints below, where it is not announced.
  public var userinfoEndpoint: String?
  /// `revocation_endpoint` (RFC 7009).
  public var revocationEndpoint: String?
  /// `end_session_endpoint` (RP-Initiated Logout §2.1).
  public var endSessionEndpoint: String?
  /// `introspection_endpoint` (RFC 7662).
  public var introspectionEndpoint: String?
  /// `pushed_authorization_request_endpoint` (RFC 9126 §5).
  public var pushedAuthorizationRequestEndpoint: String?
  /// `device_authorization_endpoint` (RFC 8628 §4).
  public var deviceAuthorizationEndpoint: String?
  /// Every answer of the authorization endpoint carries `iss` (RFC 9207 §3), so that its absence is refused (R17).
  public var announcesIssuerInRedirect: Bool
  /// The provider takes authorization requests only through ``pushedAuthorizationRequestEndpoint`` (RFC 9126 §5).
  public var requiresPushedRequests: Bool
  /// Algorithms for DPoP proofs (RFC 9449 §5.1); empty when the provider has no DPoP.
  public var dpopAlgorithms: [String]
  /// `prompt` values that it announces; nil when it says nothing.
  public var promptValues: [String]?
  /// The ways in which its token endpoint takes a client secret; others that it announces are left out.
  public var secretMethods: [ClientSecretMethod] = []
  /// The same of its revocation endpoint; empty when it announces none.
  public var revocationSecretMethods: [ClientSecretMethod] = []
  /// The same of its introspection endpoint.
  public var introspectionSecretMethods: [ClientSecretMethod] = []
  /// The scopes that it lists, which may be some of those that it has; nil when it lists none.
  public var scopes: [String]?
  /// `id_token_signing_alg_values_supported`; nil, as with the two below, where it says nothing.
  public var idTokenAlgorithms: [String]?
  /// `token_endpoint_auth_methods_supported`.
  public var authenticationMethods: [String]?
  /// `grant_types_supported`.
  public var grantTypes: [String]?
  /// `response_types_supported`; nil where it says nothing.
  public var responseTypes: [String]?
  /// `response_modes_supported`; nil where it says nothing.
  public var responseModes: [String]?
  /// `require_signed_request_object` (RFC 9101 §10.5).
  public var requiresSignedRequests = false
  /// The announced members that cannot be used, and why. They count as not announced.
  public var unusable: [EnrollError] = []
}

extension ProviderMetadata {
  /// The facts of a provider whose configured endpoints (``Configuration/endpoints``) are all that a sign-in needs; nil where
  /// discovery has to tell some.
  public init?(configured configuration: Configuration) {
    guard let endpoints = configuration.endpoints, let authorization = endpoints.authorization,
      let token = endpoints.token,
      endpoints.jwks != nil || !Scopes.contains("openid", in: configuration.scopes)
    else { return nil }
    self.init(
      issuer: configuration.issuer,
      authorizationEndpoint: authorization,
      tokenEndpoint: token,
      jwksURI: endpoints.jwks,
      userinfoEndpoint: endpoints.userinfo,
      revocationEndpoint: endpoints.revocation,
      endSessionEndpoint: endpoints.endSession,
      introspectionEndpoint: endpoints.introspection,
      pushedAuthorizationRequestEndpoint: endpoints.pushedAuthorizationRequest,
      deviceAuthorizationEndpoint: endpoints.deviceAuthorization,
      announcesIssuerInRedirect: endpoints.announcesIssuerInRedirect ?? false,
      requiresPushedRequests: false,
      dpopAlgorithms: [],
      promptValues: nil)
  }
}

extension ProviderMetadata {
  /// Where the discovery document may be, in the order of asking: the configured address; else that of OpenID Connect
  /// Discovery §4.1, with the issuer's path and without a doubled slash, and that of RFC 8414 §3.1.
  public static func urls(of configuration: Configuration) -> [String] {
    if let configured = configuration.discoveryURI { return [configured] }
    return [
      configuration.issuer.url(ofPath: wellKnownPath),
      configuration.issuer.url(ofWellKnownPath: authorizationServerPath),
    ]
  }

  /// Asks for the discovery document.
  /// - Parameter knownTag: the ETag of what is at hand; status 304 then says that it still holds.
  /// - Parameter isUncached: no cache is to answer.
  public static func request(
    _ url: String, knownTag: String? = nil, isUncached: Bool = false
  ) -> HTTPRequest {
    var headers = [HTTPHeader("Accept", "application/json")]
    if isUncached { headers.append(HTTPHeader("Cache-Control", "no-cache")) }
    if let condition = EntityTag.condition(knownTag) { headers.append(condition) }
    return HTTPRequest(.get, url, headers: headers)
  }

  /// Reads the discovery document.
  /// - Throws: `.issuerMismatch` (R18); `.responseInvalid` when it is not JSON, an endpoint is missing or not
  ///   acceptable (R19), `field` names it; an optional one that is not counts as not announced; `.unsupported` without PKCE S256 (R13); `.server` for 5xx and 429.
  public init(processing response: HTTPResponse, configuration: Configuration) throws(EnrollError) {
    var document = try DiscoveryDocument(response, configuration: configuration)
    let issuer = Issuer(try document.text("issuer"))
    guard issuer == configuration.issuer else {
      throw EnrollError(
        .issuerMismatch,
        "expected \(PrintableText.bounded(configuration.issuer.text, maximumBytes: 200)), but the provider names itself "
          + PrintableText.bounded(issuer.text, maximumBytes: 200)
          + ProviderPreset.advice(for: configuration),
        field: "issuer")
    }
    if let methods = try document.texts("code_challenge_methods_supported"),
      !Scopes.contains(PKCE.challengeMethod, in: methods)
    {
      throw EnrollError(
        .unsupported, "the provider announces its PKCE methods, and S256 is not among them",
        field: "code_challenge_methods_supported")
    }
    let own = configuration.endpoints ?? Endpoints()
    let needsKeys = Scopes.contains("openid", in: configuration.scopes)
    let announcesIssuer = try document.flag("authorization_response_iss_parameter_supported")
    self.init(
      issuer: issuer,
      authorizationEndpoint: try document.endpoint("authorization_endpoint", unless: own.authorization),
      tokenEndpoint: try document.endpoint("token_endpoint", unless: own.token),
      jwksURI: needsKeys
        ? try document.endpoint("jwks_uri", unless: own.jwks)
        : own.jwks ?? document.optionalEndpoint("jwks_uri"),
      userinfoEndpoint: own.userinfo ?? document.optionalEndpoint("userinfo_endpoint"),
      revocationEndpoint: own.revocation ?? document.optionalEndpoint("revocation_endpoint"),
      endSessionEndpoint: own.endSession ?? document.optionalEndpoint("end_session_endpoint"),
      introspectionEndpoint: own.introspection ?? document.optionalEndpoint("introspection_endpoint"),
      pushedAuthorizationRequestEndpoint: own.pushedAuthorizationRequest
        ?? document.optionalEndpoint("pushed_authorization_request_endpoint"),
      deviceAuthorizationEndpoint: own.deviceAuthorization
        ?? document.optionalEndpoint("device_authorization_endpoint"),
      announcesIssuerInRedirect: own.announcesIssuerInRedirect ?? announcesIssuer,
      requiresPushedRequests: try document.flag("require_pushed_authorization_requests"),
      dpopAlgorithms: document.optionalTexts("dpop_signing_alg_values_supported") ?? [],
      promptValues: document.optionalTexts("prompt_values_supported"),
      secretMethods: document.secretMethods("token_endpoint_auth_methods_supported"),
      revocationSecretMethods: document.secretMethods("revocation_endpoint_auth_methods_supported"),
      introspectionSecretMethods: document.secretMethods("introspection_endpoint_auth_methods_supported"),
      scopes: document.optionalTexts("scopes_supported"),
      idTokenAlgorithms: document.optionalTexts("id_token_signing_alg_values_supported"),
      authenticationMethods: try? document.texts("token_endpoint_auth_methods_supported"),
      grantTypes: document.optionalTexts("grant_types_supported"),
      responseTypes: document.optionalTexts("response_types_supported"),
      responseModes: document.optionalTexts("response_modes_supported"),
      requiresSignedRequests: (try? document.flag("require_signed_request_object")) ?? false)
    unusable = document.unusable
  }
}
