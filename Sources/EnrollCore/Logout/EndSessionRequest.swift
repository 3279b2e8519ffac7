// The URL at which the browser ends the provider's own session (OpenID Connect RP-Initiated Logout §2, or a
// provider's own dialect).

public import EnrollCrypto

/// A logout for the browser.
public struct EndSessionRequest: Sendable {
  public static let randomByteCount = 32

  /// Holds the id_token: to be opened, never logged (R40).
  public let url: String
  /// To know the callback by; nil when no callback is configured, so none will come.
  public let state: Secret?
  public let redirectURI: String?

  /// - Parameters:
  ///   - metadata: nil when it is unavailable now; a dialect needs none.
  ///   - random: ``randomByteCount`` bytes for the state.
  /// - Returns: nil when the provider announces no such endpoint.
  public static func make(
    configuration: Configuration, metadata: ProviderMetadata?, idTokenHint: Secret?, random: [UInt8]
  ) -> EndSessionRequest? {
    let redirectURI = configuration.postLogoutRedirectURI
    let state = redirectURI == nil ? nil : Secret(Base64URL.encodedBytes(random))
    switch configuration.logoutDialect {
    case .auth0: return auth0(configuration, state)
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

  /// Auth0, `GET /v2/logout`: it returns to `returnTo` as it stands and adds nothing, so the state is in it. Its list
  /// of allowed addresses is compared without the query.
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
}
