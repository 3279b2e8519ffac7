// The token for the next request, and the requests about tokens to the provider and to other servers.

import EnrollRules
public import EnrollCrypto
import EnrollHost
public import EnrollJSON

extension EnrollClient {
  /// A valid token for the next request, or the reason why there is no such token. Costs nothing while the token is
  /// fresh.
  /// - Parameters:
  ///   - minimumLifetime: how long the token must remain valid, in whole seconds. A time of more than nine tenths of
  ///     the token's whole lifetime counts as nine tenths.
  ///   - resource: the resource server that the token is for (RFC 8707): an absolute https URL without a fragment.
  ///   - scope: the scopes that the token should have, out of those that the user granted (RFC 6749 §6). Without
  ///     `resource` and `scope` the result is the session's own token.
  ///   - timeout: how long the call may take; afterwards the result is a token that still works, or `busy`.
  /// - Throws: `.invalidArgument` for a `resource` or a `scope` that cannot be sent.
  public func access(
    minimumLifetime: Duration = .zero, resource: String? = nil, scope: [String]? = nil,
    timeout: Duration = defaultTimeout
  ) async throws(EnrollError) -> AccessOutcome {
    let seconds = minimumLifetime.components.seconds
    let audience = try client.configuration.audience(resource: resource, scopes: scope)
    if let token = client.freshAccessToken(minimumLifetimeSeconds: seconds, for: audience) {
      return .valid(token)
    }
    return try await completed(timeout) { client, deadline, cancellation, done in
      client.access(
        minimumLifetimeSeconds: seconds, for: audience, until: deadline, cancellation: cancellation,
        completion: done)
    }
  }

  /// The access token for the next request, valid now. ``AccessToken/authorization`` is the value of the
  /// header; no other part of the ``AccessToken`` shows the token. For `resource` and `scope` see
  /// ``access(minimumLifetime:resource:scope:timeout:)``.
  /// - Throws: `.reauthenticate` if the user has to sign in, `.expired` if the provider cannot be reached,
  ///   `.rejected`, `.storeLocked`, `.busy`.
  public func accessToken(
    minimumLifetime: Duration = .zero, resource: String? = nil, scope: [String]? = nil
  ) async throws(EnrollError) -> AccessToken {
    try await access(minimumLifetime: minimumLifetime, resource: resource, scope: scope).token()
  }

  /// Renews the token now, whatever its age. Sends nothing while a pause lasts that the provider requested, or that
  /// follows a refusal by the provider. For `resource` and `scope` see
  /// ``access(minimumLifetime:resource:scope:timeout:)``.
  /// - Returns: `valid`, or `stale` if the renewal failed and the token still works.
  /// - Throws: as ``accessToken(minimumLifetime:resource:scope:)``.
  @discardableResult
  public func refresh(
    resource: String? = nil, scope: [String]? = nil, timeout: Duration = defaultTimeout
  ) async throws(EnrollError) -> AccessOutcome {
    let audience = try client.configuration.audience(resource: resource, scopes: scope)
    let outcome = try await completed(timeout) { client, deadline, cancellation, done in
      client.refresh(for: audience, until: deadline, cancellation: cancellation, completion: done)
    }
    if let failure = outcome.failure { throw failure }
    return outcome
  }

  /// Reports that a resource server rejected this access token with 401; the token is renewed once. Pass the `resource`
  /// and `scope` that the token was requested with.
  /// - Returns: another token; `rejected` if that token was rejected, too, within a minute; `reauthenticate` if the
  ///   session cannot renew the token.
  public func rejected(
    _ accessToken: Secret, resource: String? = nil, scope: [String]? = nil,
    timeout: Duration = defaultTimeout
  ) async throws(EnrollError) -> AccessOutcome {
    let audience = try client.configuration.audience(resource: resource, scopes: scope)
    return try await completed(timeout) { client, deadline, cancellation, done in
      client.rejected(
        accessToken, for: audience, until: deadline, cancellation: cancellation, completion: done)
    }
  }

  /// Descriptions of the stored access tokens, without the tokens themselves: first the session's own token, then the
  /// tokens for other audiences.
  public func tokens() async throws(EnrollError) -> [KeptToken] {
    try await offload { client, _, _ throws(EnrollError) in try client.keptTokens() }
  }

  /// The provider's answer about one of the session's tokens: `active`, and other members (RFC 7662 §2.2).
  /// - Throws: `.unsupported` if the provider has no introspection endpoint, `.notFound` if the session has no such
  ///   token, `.oauth` if the provider refuses to answer this client.
  public func introspect(
    _ subject: Introspection.Subject = .accessToken
  ) async throws(EnrollError) -> JSONObject {
    try await offload { client, deadline, cancellation throws(EnrollError) in
      try client.introspect(subject, until: deadline, cancellation: cancellation)
    }
  }

  /// Reports what will work at the provider and what will not, according to its discovery document and keys. No user
  /// signs in, so the client id and the redirect URI are not checked.
  /// - Returns: the findings. A provider that cannot be reached is a finding, not an error.
  public func checkProvider() async throws(EnrollError) -> ProviderCheck {
    try await offload { client, deadline, cancellation throws(EnrollError) in
      try client.checkProvider(until: deadline, cancellation: cancellation)
    }
  }

  /// The DPoP proof for one of your requests that carries an access token of type `DPoP` (``AccessToken/tokenType``).
  /// Send both in headers: `Authorization: DPoP TOKEN` and `DPoP: PROOF` (RFC 9449 §7.1). Sends no request.
  /// - Parameters:
  ///   - method: the request's method, as sent.
  ///   - url: the request's https URL, with its path as sent; query and fragment are ignored (RFC 9449 §4.2).
  ///   - nonce: the nonce that the server demanded in `DPoP-Nonce`; nil for that server's last nonce.
  ///   - accessToken: the token that the request carries; nil for the current token.
  /// - Throws: `.invalidArgument`; `.illegalState` for a Bearer token, which needs no proof; `.reauthenticate`.
  public func dpopProof(
    method: String, url: String, nonce: String? = nil, accessToken: Secret? = nil
  ) async throws(EnrollError) -> String {
    try await offload { client, _, _ throws(EnrollError) in
      try client.dpopProof(method: method, url: url, nonce: nonce, accessToken: accessToken)
    }
  }

  /// Erases the session's tokens on this device, then revokes them at the provider.
  /// - Returns: whether the provider knows of the logout; the result has no URL.
  @discardableResult
  public func revoke() async throws(EnrollError) -> SignOut {
    try await offload { client, deadline, cancellation throws(EnrollError) in
      try client.revoke(until: deadline, cancellation: cancellation)
    }
  }
}
