// Sends requests as the client, with the authentication method that the provider accepts. The provider's metadata does
// not always name that method.

import EnrollCrypto
package import EnrollRules

/// Sends requests of the client, with the client's authentication and with DPoP proofs.
public final class ClientRequests: EngineStep {
  let context: EngineContext
  let nonces: NonceCache

  init(_ context: EngineContext, nonces: NonceCache) {
    self.context = context
    self.nonces = nonces
  }

  /// Reads the client's key, if the client has a key. This happens before the user signs in, because the provider's
  /// token endpoint refuses a client without its key, and the sign-in would fail at its end.
  /// - Throws: `.configuration` with field `clientKeyFile`.
  func requireUsableKey() throws(EnrollError) { _ = try context.clientKey?() }

  /// Sends a form with the client's id and its authentication. If the provider refuses the client's secret, the
  /// request is sent once more with the other way to send the secret (R15): in the header or in the body. The result
  /// is the second response; but if that response also refuses the client, the result is the first response. The
  /// method that the token endpoint accepts is stored with the account. The revocation and introspection endpoints may
  /// also refuse another client's token in this way (zitadel). At these endpoints the other method is therefore tried
  /// for each request, and no method is stored. If the provider refuses the assertion of the client's key,
  /// ``signedInTime(_:while:_:)`` applies.
  /// - Parameters:
  ///   - metadata: nil if no metadata of the provider is known.
  ///   - key: the key for a DPoP proof, if any (``send(_:provenBy:accessToken:cancellation:)``).
  package func sendAsClient(
    _ request: HTTPRequest, to endpoint: ClientEndpoint = .token, of metadata: ProviderMetadata?,
    provenBy key: DPoPKey? = nil, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HTTPResponse {
    var repeats = Repeats()
    return try sendAsClient(
      request, to: endpoint, of: metadata, provenBy: key, repeats: &repeats, cancellation: cancellation)
  }

  /// Like the method above, but for a caller that sends the form several times.
  /// - Parameter repeats: the reasons for which the request may be sent once more; a reason that was used is removed.
  func sendAsClient(
    _ request: HTTPRequest, to endpoint: ClientEndpoint = .token, of metadata: ProviderMetadata?,
    provenBy key: DPoPKey?, repeats: inout Repeats, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HTTPResponse {
    func ask(
      _ proof: ClientAuthentication.Proof, _ repeats: inout Repeats
    ) throws(EnrollError) -> HTTPResponse {
      let client = ClientAuthentication(configuration.clientID, proof)
      return try send(
        client.adding(to: request), provenBy: key, repeats: &repeats, cancellation: cancellation)
    }

    guard let secret = configuration.clientSecret else {
      guard let clientKey = try context.clientKey?() else { return try ask(.none, &repeats) }
      return try signedInTime(&repeats, while: { $0.refusesClient }) { (time, repeats) throws(EnrollError) in
        let response = try ask(.assertion(assertion(of: clientKey, metadata, at: time)), &repeats)
        // If the request had a DPoP proof, the server's time was already learned from this response.
        if key == nil { provider.learnTime(of: response) }
        return response
      }
    }
    let methods = ClientSecretMethod.order(
      configured: configuration.tokenEndpointAuthMethod, worked: workingSecretMethod,
      announced: metadata?.secretMethods ?? [], announcedHere: endpoint.announced(by: metadata))
    let first = try ask(.secret(secret, methods[0]), &repeats)
    guard methods.count > 1, repeats.withOtherMethod, first.refusesClient else {
      learn(methods[0], from: first, of: endpoint)
      return first
    }
    repeats.withOtherMethod = false
    let second = try ask(.secret(secret, methods[1]), &repeats)
    guard !second.refusesClient else { return first }
    learn(methods[1], from: second, of: endpoint)
    return second
  }

  /// Remembers the authentication method if the response comes from the server itself and does not refuse the client,
  /// which shows that the server accepts the method.
  private func learn(_ method: ClientSecretMethod, from response: HTTPResponse, of endpoint: ClientEndpoint) {
    guard endpoint == .token, response.status < 500, !response.refusesClient, !response.isPage else { return }
    provider.remember(secretMethod: method)
  }

  private func assertion(
    of key: ClientKey, _ metadata: ProviderMetadata?, at time: UnixTime
  ) throws(EnrollError) -> Secret {
    try key.assertion(
      by: configuration.clientID, to: configuration.issuer, at: metadata, time: time,
      random: random.bytes(ClientKey.randomByteCount))
  }

  private var workingSecretMethod: ClientSecretMethod? {
    guard configuration.tokenEndpointAuthMethod == nil else { return nil }
    return provider.secretMethod ?? (try? store.read(account))?.secretMethod
  }
}
