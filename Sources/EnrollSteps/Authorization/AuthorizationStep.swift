// Makes the URL that the browser opens from an authorize request. The URL has either the request itself, or the
// `request_uri` of the pushed request (RFC 9126).

import EnrollRules

/// Makes the URL at which a sign-in begins or continues in the browser.
final class AuthorizationStep: StateChangingStep {
  let context: EngineContext
  let machine: StateMachine
  let requests: ClientRequests
  private let outbox: OutboxStep
  let revocations: RevocationStep

  init(
    _ context: EngineContext, machine: StateMachine, requests: ClientRequests, outbox: OutboxStep,
    revocations: RevocationStep
  ) {
    self.context = context
    self.machine = machine
    self.requests = requests
    self.outbox = outbox
    self.revocations = revocations
  }

  /// The URL for the browser. Queued revocations are sent first, because a later revocation could also end the session
  /// that the user is about to get (R35). The request is pushed before the transaction is stored: if the push fails, no
  /// transaction is left behind, and the host may try again. A provider deletes an unused `request_uri` within a minute
  /// or two. If the push fails at the provider, and neither the configuration nor the provider requires a push, the
  /// plain request is used instead. The plain request is not used if the failure has its cause on this machine, such as
  /// an unusable key, because the exchange of the code would then also fail.
  /// - Parameter opensLater: pushes the request only if that is required.
  /// - Throws: `.unsupported`; `.oauth` if the provider refuses; `.network` and related errors; `.responseInvalid`.
  func browserURL(
    of request: AuthorizationRequest, metadata: ProviderMetadata, opensLater: Bool = false,
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> BrowserURL {
    outbox.sendRevocations(cancellation: cancellation)
    guard
      let endpoint = try PushedAuthorizationRequest.endpoint(configuration: configuration, metadata: metadata)
    else { return BrowserURL(request.url) }
    let isOptional = PushedAuthorizationRequest.isOptional(configuration, metadata)
    guard !isOptional || !opensLater else { return BrowserURL(request.url) }
    let sent = clock.wallTime()
    do throws(RefusedPush) {
      let pushed = try push(request, to: endpoint, metadata, cancellation: cancellation)
      return BrowserURL(
        PushedAuthorizationRequest.url(
          naming: pushed.requestURI, configuration: configuration, metadata: metadata),
        expiresAt: pushed.lifetimeSeconds.map { sent + $0 })
    } catch {
      guard !error.refusal.isAboutScopes else {
        throw explained(error.refusal, scopes: request.transaction.scopes)
      }
      guard isOptional, !error.isFinal, error.refusal.code != .cancelled else {
        throw context.withRegistration(error.refusal)
      }
      warn(error.refusal.goingThroughBrowser())
      return BrowserURL(request.url)
    }
  }

  /// Pushes a request. The request only names the DPoP key, by `dpop_jkt`; the proof follows at the token endpoint. RFC
  /// 9449 §10.1 also allows a proof in the pushed request, but Glewlwyd refuses a proof without a nonce at this
  /// endpoint and sends no nonce.
  func push(
    _ request: AuthorizationRequest, to endpoint: String, _ metadata: ProviderMetadata,
    cancellation: (any Cancellation)?
  ) throws(RefusedPush) -> PushedAuthorizationResponse {
    var http: HTTPResponse?
    var form = PushedAuthorizationRequest.make(request, endpoint: endpoint)
    if PushedAuthorizationRequest.isOptional(configuration, metadata) {
      form.timeoutSeconds = PushedAuthorizationRequest.optionalTimeoutSeconds
    }
    do throws(EnrollError) {
      http = try requests.atNamedEndpoint { () throws(EnrollError) in
        try requests.sendAsClient(form, of: metadata, cancellation: cancellation)
      }
      guard let http else { throw EnrollError(.internal, "a push without an answer") }
      return try PushedAuthorizationResponse(processing: http)
    } catch {
      var refusal = error
      let isAboutRedirect = http?.refusesRedirect ?? false
      if isAboutRedirect {
        refusal = error.saying(
          "\(error.message): the provider does not know the redirect URI \(request.sent.redirect.uri) of this client. Register it at the provider"
        )
      }
      throw RefusedPush(
        refusal: refusal,
        isFinal: isAboutRedirect
          || (http.map { isRefusal(ofClient: $0, metadata) } ?? (error.code == .configuration)))
    }
  }

  /// Whether the provider refuses the client itself. The plain request would then also fail: the browser would show
  /// only an error page. But some providers refuse the client only because public clients may not push requests (Spring
  /// and Glewlwyd, without an error code). So for a public client the refusal counts only if the provider announces
  /// that it accepts public clients, or if it sends `invalid_request` with 401, which only Keycloak does. Keycloak
  /// knows a client with a metadata document only after its first authorize request, and refuses the push with 401
  /// before that.
  private func isRefusal(ofClient response: HTTPResponse, _ metadata: ProviderMetadata) -> Bool {
    guard response.refusesClient, !configuration.clientID.isMetadataDocument else { return false }
    guard context.isPublicClient else { return true }
    guard let code = TokenEndpointError.oauthError(in: response) else { return false }
    return ASCII.equals(code, "invalid_request")
      || Scopes.contains("none", in: metadata.authenticationMethods ?? [])
  }
}
