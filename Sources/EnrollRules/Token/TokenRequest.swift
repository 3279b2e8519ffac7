// Requests to the token endpoint (RFC 6749 §4.1.3, §6; RFC 7636 §4.5), without the client's authentication, which
// ``ClientAuthentication`` adds. There is no password grant (R16).

public import EnrollCrypto

public enum TokenRequest {
  /// Exchanges the code for tokens. The request must be sent at most once, so it uses a new connection (R15).
  public static func exchange(
    code: Secret, redirectURI: String, codeVerifier: Secret, configuration: Configuration,
    metadata: ProviderMetadata
  ) -> HTTPRequest {
    var form = FormEncoding(.body)
    form.add("grant_type", "authorization_code")
    form.add("code", code)
    form.add("redirect_uri", redirectURI)
    form.add("code_verifier", codeVerifier)
    return spend(form, configuration, metadata)
  }

  /// Exchanges the refresh token for new tokens. This request also uses a new connection: on a used connection, a
  /// response that a proxy repeats would be mistaken for the response to this request.
  /// - Parameter audience: the audience of the access token (RFC 8707 §2.2, RFC 6749 §6); nil for the audience of the
  ///   sign-in.
  public static func refresh(
    refreshToken: Secret, for audience: TokenAudience? = nil, configuration: Configuration,
    metadata: ProviderMetadata
  ) -> HTTPRequest {
    var form = FormEncoding(.body)
    form.add("grant_type", "refresh_token")
    form.add("refresh_token", refreshToken)
    if let scopes = audience?.scopes, !scopes.isEmpty { form.add("scope", Scopes.joined(scopes)) }
    return spend(form, resource: audience?.resource, configuration, metadata)
  }

  /// The `grant_type` of the device grant (RFC 8628 §3.4).
  static let deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

  /// Asks whether the user has finished on the other device (RFC 8628 §3.4). The response with the tokens is sent
  /// only once, so the request uses a new connection.
  package static func poll(
    deviceCode: Secret, codeVerifier: Secret?, configuration: Configuration, metadata: ProviderMetadata
  ) -> HTTPRequest {
    var form = FormEncoding(.body)
    form.add("grant_type", deviceGrant)
    form.add("device_code", deviceCode)
    if let codeVerifier { form.add("code_verifier", codeVerifier) }
    configuration.addResource(to: &form)
    var request = HTTPRequest(form: form, to: metadata.tokenEndpoint, freshConnection: true)
    request.takesCutAnswer = true
    return request
  }

  /// A request whose form has a value that works only once.
  /// - Parameter resource: the resource to request; nil for the configured resource.
  static func spend(
    _ form: FormEncoding, resource: String? = nil, _ configuration: Configuration,
    _ metadata: ProviderMetadata
  ) -> HTTPRequest {
    var form = form
    configuration.addResource(resource, to: &form)
    return HTTPRequest(form: form, to: metadata.tokenEndpoint, freshConnection: true).followedUp
  }
}
