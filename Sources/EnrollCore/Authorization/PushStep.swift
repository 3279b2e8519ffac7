// From an authorize request to the URL that the browser opens: the request itself, or the name of the pushed one
// (RFC 9126).

extension Engine {
  /// The URL for the browser. Revocations that wait are sent first: the session that the user is about to get may depend on what
  /// they end (R35). Pushes before the transaction is stored: a push that fails leaves nothing behind and may be
  /// tried again, and a name that nobody ever opens is forgotten by the provider within a minute or two. Where neither side
  /// insists on pushing, a push that fails leads to the plain request.
  /// - Throws: `.unsupported`; what the provider refused (`.oauth`), `.network` and its kin, `.responseInvalid`.
  func browserURL(
    of request: AuthorizationRequest, metadata: ProviderMetadata, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> String {
    sendRevocations(cancellation: cancellation)
    guard
      let endpoint = try PushedAuthorizationRequest.endpoint(configuration: configuration, metadata: metadata)
    else { return request.url }
    let isOptional = configuration.pushedRequests == .auto && !metadata.requiresPushedRequests
    // A key is named by `dpop_jkt` and proven at the token endpoint: RFC 9449 §10.1 leaves the choice, and Glewlwyd
    // refuses a proof without a nonce here, and tells none.
    do throws(EnrollError) {
      let http = try atNamedEndpoint { () throws(EnrollError) in
        try transport.send(
          PushedAuthorizationRequest.make(
            request, endpoint: endpoint, from: ClientAuthentication(configuration, at: metadata)),
          cancellation: cancellation)
      }
      let pushed = try PushedAuthorizationResponse(processing: http)
      return PushedAuthorizationRequest.url(
        naming: pushed.requestURI, configuration: configuration, metadata: metadata)
    } catch {
      guard !error.isAboutScopes else { throw explained(error, scopes: request.transaction.scopes) }
      // Some providers announce the endpoint and keep it from public clients. Keycloak knows a client by its metadata document
      // only once an authorize request has named it, and refuses the push with 401 before that.
      guard isOptional, error.code != .cancelled else {
        throw withRegistration(error)
      }
      warn(error.saying("\(error.message). The authorization request goes through the browser instead"))
      return request.url
    }
  }
}
