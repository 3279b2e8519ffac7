// Requests to the token endpoint (RFC 6749 §4.1.3, §6; RFC 7636 §4.5) of a public client: its id goes into the body.

public import EnrollCrypto

public enum TokenRequest {
  /// The code for tokens. To be sent at most once, so on a connection that was never used (R15).
  public static func exchange(
    code: Secret, transaction: Transaction, configuration: Configuration, metadata: ProviderMetadata
  ) -> HTTPRequest {
    var form = FormEncoding(.body)
    form.add("grant_type", "authorization_code")
    form.add("code", code)
    form.add("redirect_uri", transaction.redirectURI)
    form.add("client_id", configuration.clientID)
    form.add("code_verifier", transaction.codeVerifier)
    return request(metadata.tokenEndpoint, form, freshConnection: true)
  }

  /// The refresh token for new tokens.
  public static func refresh(
    refreshToken: Secret, configuration: Configuration, metadata: ProviderMetadata
  ) -> HTTPRequest {
    var form = FormEncoding(.body)
    form.add("grant_type", "refresh_token")
    form.add("refresh_token", refreshToken)
    form.add("client_id", configuration.clientID)
    return request(metadata.tokenEndpoint, form, freshConnection: false)
  }

  private static func request(_ url: String, _ form: FormEncoding, freshConnection: Bool) -> HTTPRequest {
    HTTPRequest(
      .post, url,
      headers: [
        HTTPHeader("Content-Type", FormEncoding.contentType), HTTPHeader("Accept", "application/json"),
      ],
      body: form.bytes, freshConnection: freshConnection)
  }
}
