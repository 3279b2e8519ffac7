// Requests to the token endpoint (RFC 6749 §4.1.3, §6; RFC 7636 §4.5) of a client that names itself, or proves itself.

public import EnrollCrypto

public enum TokenRequest {
  /// The code for tokens. To be sent at most once, so on a connection that was never used (R15).
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

  /// The refresh token for new tokens. On a connection of its own, too: on one that was used before, an answer that a
  /// proxy repeated would be taken for this request's.
  /// - Parameter audience: for whom the access token is to be (RFC 8707 §2.2, RFC 6749 §6); nil: as at the sign-in.
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

  /// Asks whether the user has finished elsewhere (RFC 8628 §3.4). The answer that has the tokens comes once, so on a
  /// connection that was never used.
  static func poll(
    deviceCode: Secret, configuration: Configuration, metadata: ProviderMetadata
  ) -> HTTPRequest {
    var form = FormEncoding(.body)
    form.add("grant_type", "urn:ietf:params:oauth:grant-type:device_code")
    form.add("device_code", deviceCode)
    if let resource = configuration.resource { form.add(ResourceIdentifier.parameter, resource.text) }
    var request = ClientAuthentication(configuration, at: metadata).request(
      form, to: metadata.tokenEndpoint, freshConnection: true)
    request.takesCutAnswer = true
    return request
  }

  /// A form with something that works once.
  /// - Parameter resource: instead of the configured one.
  static func spend(
    _ form: FormEncoding, resource: String? = nil, _ configuration: Configuration,
    _ metadata: ProviderMetadata
  ) -> HTTPRequest {
    var form = form
    if let resource = resource ?? configuration.resource?.text {
      form.add(ResourceIdentifier.parameter, resource)
    }
    return ClientAuthentication(configuration, at: metadata)
      .request(form, to: metadata.tokenEndpoint, freshConnection: true).followedUp
  }
}
