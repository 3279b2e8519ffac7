// The URL at which the browser ends the provider's own session (OpenID Connect RP-Initiated Logout §2).

public import EnrollCrypto

/// A logout for the browser.
public struct EndSessionRequest: Sendable {
  public static let randomByteCount = 32

  /// Holds the id_token: to be opened, never logged (R40).
  public let url: String
  /// To know the callback by; nil when no callback is configured, so none will come.
  public let state: Secret?
  public let redirectURI: String?

  /// - Parameter random: ``randomByteCount`` bytes for the state.
  /// - Returns: nil when the provider announces no such endpoint.
  public static func make(
    configuration: Configuration, metadata: ProviderMetadata, idTokenHint: Secret?, random: [UInt8]
  ) -> EndSessionRequest? {
    guard let endpoint = metadata.endSessionEndpoint else { return nil }
    let redirectURI = configuration.postLogoutRedirectURI
    let state = redirectURI == nil ? nil : Secret(Base64URL.encodedBytes(random))
    var query = FormEncoding(.query)
    if let idTokenHint { query.add("id_token_hint", idTokenHint) }
    query.add("client_id", configuration.clientID)
    if let redirectURI, let state {
      query.add("post_logout_redirect_uri", redirectURI)
      query.add("state", state)
    }
    return EndSessionRequest(
      url: EndpointURL.adding(query, to: endpoint), state: state, redirectURI: redirectURI)
  }
}
