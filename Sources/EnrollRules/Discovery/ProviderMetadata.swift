// A provider's metadata (OpenID Connect Discovery §3, RFC 8414 §2), after its checks: the issuer is the configured
// issuer, byte for byte (R18), and every endpoint is https or allowed loopback (R19).

/// A provider's endpoints and features.
public struct ProviderMetadata: Equatable, Sendable {
  /// The path that is appended to the issuer (OpenID Connect Discovery §4.1).
  public static let wellKnownPath = Issuer.discoveryPath
  /// The path that is inserted between the issuer's host and path (RFC 8414 §3.1).
  public static let authorizationServerPath = "/.well-known/oauth-authorization-server"

  /// `issuer`: the configured one.
  public var issuer: Issuer
  /// Whether the provider supports OpenID Connect; false for a document of RFC 8414 without any sign of OpenID Connect.
  public var hasOpenIDConnect = true
  /// `authorization_endpoint`.
  public var authorizationEndpoint: String
  /// `token_endpoint`.
  public var tokenEndpoint: String
  /// `jwks_uri`; nil for a provider without id_tokens.
  public var jwksURI: String?
  /// `userinfo_endpoint`; nil if it is not announced. The same is true of the endpoints below.
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
  /// Whether every authorization response has `iss` (RFC 9207 §3); a response without it is refused (R17).
  public var announcesIssuerInRedirect: Bool
  /// Whether the provider accepts authorization requests only through ``pushedAuthorizationRequestEndpoint`` (RFC 9126
  /// §5).
  public var requiresPushedRequests: Bool
  /// The algorithms of DPoP proofs (RFC 9449 §5.1); empty for a provider without DPoP.
  public var dpopAlgorithms: [String]
  /// The `prompt` values that the provider announces; nil if the provider announces no such values.
  public var promptValues: [String]?
  /// The methods to send a client secret to the token endpoint, as the metadata announces them; authentication methods
  /// of other kinds are left out.
  public var secretMethods: [ClientSecretMethod] = []
  /// The authentication methods that the metadata announces for the revocation endpoint; empty if it announces no
  /// methods.
  public var revocationSecretMethods: [ClientSecretMethod] = []
  /// The methods to send a client secret to the introspection endpoint, as the metadata announces them
  /// (`introspection_endpoint_auth_methods_supported`).
  public var introspectionSecretMethods: [ClientSecretMethod] = []
  /// `token_endpoint_auth_signing_alg_values_supported`; nil if it is absent.
  public var assertionAlgorithms: [String]?
  /// The scopes that the provider lists, which need not be all of its scopes; nil if the provider lists no scopes.
  public var scopes: [String]?
  /// `id_token_signing_alg_values_supported`; nil if it is absent. The same is true of the two members below.
  public var idTokenAlgorithms: [String]?
  /// `token_endpoint_auth_methods_supported`.
  public var authenticationMethods: [String]?
  /// `grant_types_supported`.
  public var grantTypes: [String]?
  /// `response_types_supported`; nil if it is absent.
  public var responseTypes: [String]?
  /// `response_modes_supported`; nil if it is absent.
  public var responseModes: [String]?
  /// `require_signed_request_object` (RFC 9101 §10.5).
  public var requiresSignedRequests = false
  /// The announced members that cannot be used, with the reasons. They count as not announced.
  public var unusable: [EnrollError] = []
}

extension ProviderMetadata {
  /// The metadata from ``Configuration/endpoints``, if these include all endpoints that a sign-in needs; nil if
  /// discovery is needed.
  public init?(configured configuration: Configuration) {
    guard let endpoints = configuration.endpoints, let needed = configuration.endpointsOfSignIn else {
      return nil
    }
    self.init(
      issuer: configuration.issuer,
      authorizationEndpoint: needed.authorization,
      tokenEndpoint: needed.token,
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
  /// The URLs where the discovery document may be, in the order of the requests: the configured URL if there is one.
  /// Otherwise they are the URL of OpenID Connect Discovery §4.1, with the issuer's path and without a doubled slash,
  /// and the URL of RFC 8414 §3.1.
  public static func urls(of configuration: Configuration) -> [String] {
    if let configured = configuration.discoveryURI { return [configured] }
    return [
      configuration.issuer.url(ofPath: wellKnownPath),
      configuration.issuer.url(ofWellKnownPath: authorizationServerPath),
    ]
  }

  /// Requests the discovery document.
  /// - Parameter knownTag: the ETag of the known document; status 304 then says that it is still valid.
  /// - Parameter isUncached: whether caches must not respond.
  public static func request(
    _ url: String, knownTag: String? = nil, isUncached: Bool = false
  ) -> HTTPRequest {
    var headers = [HTTPHeader("Accept", "application/json")]
    if isUncached { headers.append(HTTPHeader("Cache-Control", "no-cache")) }
    if let condition = EntityTag.condition(knownTag) { headers.append(condition) }
    return HTTPRequest(.get, url, headers: headers)
  }

  /// Reads the discovery document.
  /// - Parameter url: the document's URL.
  /// - Throws: `.issuerMismatch` (R18); `.responseInvalid` with its `field` if the document is not a JSON object, or a
  ///   required endpoint is missing or not acceptable (R19); `.unsupported` without PKCE S256 (R13); `.server` for 5xx,
  ///   429 and 408. An optional endpoint that is not acceptable counts as not announced.
  public init(
    processing response: HTTPResponse, from url: String = wellKnownPath, configuration: Configuration
  ) throws(EnrollError) {
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
    let hasOpenIDConnect =
      !ASCII.contains(url, "/.well-known/oauth-authorization-server") || document.speaksOfOpenIDConnect
    let needsKeys =
      Scopes.contains("openid", in: configuration.scopes)
      && (hasOpenIDConnect || !configuration.hasDefaultScopes)
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
      // `basic` is the default of RFC 8414 §2.
      secretMethods: document.secretMethods("token_endpoint_auth_methods_supported", or: [.basic]),
      revocationSecretMethods: document.secretMethods("revocation_endpoint_auth_methods_supported"),
      introspectionSecretMethods: document.secretMethods("introspection_endpoint_auth_methods_supported"),
      assertionAlgorithms: document.optionalTexts("token_endpoint_auth_signing_alg_values_supported"),
      scopes: document.optionalTexts("scopes_supported"),
      idTokenAlgorithms: document.optionalTexts("id_token_signing_alg_values_supported"),
      authenticationMethods: try? document.texts("token_endpoint_auth_methods_supported"),
      grantTypes: document.optionalTexts("grant_types_supported"),
      responseTypes: document.optionalTexts("response_types_supported"),
      responseModes: document.optionalTexts("response_modes_supported"),
      requiresSignedRequests: (try? document.flag("require_signed_request_object")) ?? false)
    self.hasOpenIDConnect = hasOpenIDConnect
    unusable = document.unusable
  }
}
