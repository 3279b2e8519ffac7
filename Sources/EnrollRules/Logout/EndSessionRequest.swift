// The URL at which the browser ends the provider's own session (OpenID Connect RP-Initiated Logout §2, or a provider's
// own protocol), and the URL with which the browser returns to the app afterwards (§3). A return is accepted only if
// its `state` and its URL belong to a logout that began here.

public import EnrollCrypto

/// A logout in the browser.
public struct EndSessionRequest: Sendable {
  public static let randomByteCount = 32

  /// The URL to open. Never log it, because it contains the id_token (R40).
  public let url: String
  /// The state by which the callback is recognized; nil if no callback is configured, or if the callback cannot contain
  /// a state.
  public let state: Secret?
  public let redirectURI: String?

  /// Makes the URL that ends the provider's session.
  /// - Parameters:
  ///   - metadata: the provider's metadata; nil if it is unavailable now. Auth0's own protocol works without metadata.
  ///   - random: ``randomByteCount`` bytes for the state.
  /// - Returns: nil if the provider has no known endpoint that ends its session.
  public static func make(
    configuration: Configuration, metadata: ProviderMetadata?, idTokenHint: Secret?, random: [UInt8]
  ) -> EndSessionRequest? {
    let redirectURI = configuration.postLogoutRedirectURI
    let state = redirectURI == nil ? nil : Secret(Base64URL.encodedBytes(random))
    switch configuration.logoutDialect {
    case .auth0: return auth0(configuration, state)
    case .cognito: return cognito(configuration, metadata)
    case nil: break
    }
    guard let endpoint = metadata?.endSessionEndpoint else { return nil }
    var query = FormEncoding(.query)
    if let idTokenHint { query.add("id_token_hint", idTokenHint) }
    query.add("client_id", configuration.clientID.text)
    if let redirectURI, let state {
      query.add("post_logout_redirect_uri", redirectURI)
      query.add("state", state)
    }
    return EndSessionRequest(
      url: EndpointURL.adding(query, to: endpoint), state: state, redirectURI: redirectURI)
  }

  /// Whether the provider has an endpoint that ends its session, as far as EnrollKit knows.
  package static func isOffered(configuration: Configuration, metadata: ProviderMetadata?) -> Bool {
    make(configuration: configuration, metadata: metadata, idTokenHint: nil, random: []) != nil
  }

  /// The logout of Auth0, `GET /v2/logout`. Auth0 redirects to `returnTo` unchanged and adds nothing, so the state is a
  /// part of `returnTo`. Auth0 compares its list of allowed URLs without the query.
  private static func auth0(_ configuration: Configuration, _ state: Secret?) -> EndSessionRequest {
    var query = FormEncoding(.query)
    query.add("client_id", configuration.clientID.text)
    if let redirectURI = configuration.postLogoutRedirectURI, let state {
      var own = FormEncoding(.query)
      own.add("state", state)
      query.add("returnTo", EndpointURL.adding(own, to: redirectURI))
    }
    return EndSessionRequest(
      url: EndpointURL.adding(query, to: configuration.issuer.url(ofPath: "/v2/logout")), state: state,
      redirectURI: configuration.postLogoutRedirectURI)
  }

  /// The logout of Amazon Cognito, `GET /logout`. Cognito redirects to `logout_uri` and adds nothing. Cognito compares
  /// `logout_uri` byte by byte with its list of allowed URLs. The endpoint is at the domain of the user pool, like the
  /// authorization endpoint, and is not always announced.
  private static func cognito(_ configuration: Configuration, _ metadata: ProviderMetadata?)
    -> EndSessionRequest?
  {
    guard let endpoint = metadata?.endSessionEndpoint ?? metadata.flatMap({ cognitoEndpoint(beside: $0) })
    else {
      return nil
    }
    var query = FormEncoding(.query)
    query.add("client_id", configuration.clientID.text)
    if let redirectURI = configuration.postLogoutRedirectURI { query.add("logout_uri", redirectURI) }
    return EndSessionRequest(
      url: EndpointURL.adding(query, to: endpoint), state: nil,
      redirectURI: configuration.postLogoutRedirectURI)
  }

  private static func cognitoEndpoint(beside metadata: ProviderMetadata) -> String? {
    let (endpoint, path) = (metadata.authorizationEndpoint.utf8, "/oauth2/authorize".utf8)
    guard endpoint.count > path.count, endpoint.suffix(path.count).elementsEqual(path) else { return nil }
    return String(decoding: endpoint.dropLast(path.count), as: UTF8.self) + "/logout"
  }
}

/// A logout callback as it arrived.
public struct LogoutCallback: Equatable, Sendable {
  private let redirect: Redirect

  /// Parses the URL of a callback.
  /// - Parameter configured: the configured redirect URI, whose scheme is accepted even without a dot (R2).
  /// - Throws: `.redirectMalformed` for a URL that R9 refuses, and for a repeated `state` (R8).
  public init(parsing text: String, configured: String? = nil) throws(EnrollError) {
    redirect = try Redirect(parsing: text, configured: configured)
  }

  /// The index of the logout that this callback completes; nil if it completes no logout. All states are compared, each
  /// in constant time. A callback without a state completes a logout only if this logout sent no state, and no other
  /// logout is pending.
  public func index(in logouts: [PendingLogout]) -> Int? {
    var found: Int?
    if let state = redirect.state {
      for (index, logout) in logouts.enumerated() where logout.state == state { found = index }
    } else if logouts.count == 1, logouts[0].state == nil {
      found = 0
    }
    guard let found,
      let sent = try? StrictURL(logouts[found].redirectURI, configured: logouts[found].redirectURI),
      redirect.url.hasSameBase(as: sent, ignoringPort: sent.kind == .loopbackHTTP)
    else { return nil }
    return found
  }
}
