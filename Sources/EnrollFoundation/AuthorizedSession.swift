// Sends URLSession requests with a client's token: a valid token on each request, one renewal after a 401 (RFC 6750
// §3.1), and a proof if the token is bound (RFC 9449 §7.1). Refuses http, except to a loopback address.

public import EnrollKit
public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// Requests with a valid access token: `let (data, answer) = try await AuthorizedSession(client).data(for: request)`.
///
/// A request that the server rejects with 401 is sent once more: with the nonce that the server requires, or with a
/// token that was renewed in the meantime. If the rejected request is the result of redirects, only this last request
/// is sent again. Requests that get 401 at the same time share one renewal. A request with a body stream is not sent
/// again. After a redirect to another origin, the server there gets no token, and its 401 causes no renewal. One call
/// makes at most 20 proofs, however often the server redirects.
public struct AuthorizedSession: Sendable {
  private let client: EnrollClient
  private let session: URLSession
  private let redirects: RedirectGuard
  private let resource: String?
  private let scope: [String]?

  /// - Parameters:
  ///   - client: a client that is signed in.
  ///   - configuration: the URLSession's settings, such as timeouts, caches and proxies. The URLSession belongs to this
  ///     ``AuthorizedSession``.
  ///   - resource: the API that the token is for (RFC 8707); nil for the session's own token.
  ///   - scope: the scopes that the token should have, out of those that the user granted.
  public init(
    _ client: EnrollClient, configuration: URLSessionConfiguration = .default, resource: String? = nil,
    scope: [String]? = nil
  ) {
    self.client = client
    self.resource = resource
    self.scope = scope
    redirects = RedirectGuard()
    session = URLSession(configuration: configuration, delegate: redirects, delegateQueue: nil)
  }

  /// Sends a request with the token.
  /// - Returns: the body and the response. The response may have any status, also a 401 that the server sent again
  ///   after the renewal.
  /// - Throws: `EnrollError` if there is no token (the errors of
  ///   ``EnrollKit/EnrollClient/accessToken(minimumLifetime:resource:scope:)``); `.invalidArgument` for a URL that is
  ///   neither https nor a loopback address, or that has a user name or password, and for http to a loopback address if
  ///   a proxy of the environment (`http_proxy`) would see the request; errors of URLSession.
  public func data(for request: URLRequest) async throws -> (Data, HTTPURLResponse) {
    let token = try await client.access(resource: resource, scope: scope).token()
    var exchange = try AuthorizedExchange(request.url, token: token)
    var request = try await signed(request, &exchange, nonce: nil)
    while true {
      let answer = try await redirects.send(request, in: session)
      guard request.httpBodyStream == nil,
        let step = exchange.step(after: answer)
      else { return (answer.body, answer.response) }
      do throws(EnrollError) {
        var nonce: String?
        switch step {
        case .nonce(let required): nonce = required
        case .renewal:
          let refused = exchange.token.value
          exchange.token = try await client.rejected(refused, resource: resource, scope: scope).token()
        case .proof: break
        }
        // Sends only the refused request again, not the requests before a redirect: one of them may be a POST that
        // was carried out.
        request = try await signed(answer.request, &exchange, nonce: nonce)
      } catch {
        return (answer.body, answer.response)
      }
    }
  }

  /// Sends a GET request with the token.
  /// - Throws: as ``data(for:)``.
  public func data(from url: URL) async throws -> (Data, HTTPURLResponse) {
    try await data(for: URLRequest(url: url))
  }

  /// Ends the URLSession once its requests have ended.
  public func finishAndInvalidate() { session.finishTasksAndInvalidate() }

  private func signed(
    _ request: URLRequest, _ exchange: inout AuthorizedExchange, nonce: String?
  ) async throws(EnrollError) -> URLRequest {
    try await client.authorized(request, with: exchange.token, nonce: nonce, &exchange)
  }
}

extension EnrollClient {
  /// The request with a valid token, for your own URLSession: `Authorization`, and `DPoP` if the token is bound. Sends
  /// nothing; after a 401 call ``EnrollKit/EnrollClient/rejected(_:resource:scope:timeout:)``. ``AuthorizedSession``
  /// sends the request and handles a 401 itself, and keeps the token at its origin.
  /// - Throws: as ``AuthorizedSession/data(for:)``, without the errors of URLSession.
  public func authorized(
    _ request: URLRequest, resource: String? = nil, scope: [String]? = nil
  ) async throws(EnrollError) -> URLRequest {
    let token = try await access(resource: resource, scope: scope).token()
    var exchange = try AuthorizedExchange(request.url, token: token)
    return try await authorized(request, with: token, nonce: nil, &exchange)
  }

  fileprivate func authorized(
    _ request: URLRequest, with token: AccessToken, nonce: String?, _ exchange: inout AuthorizedExchange
  ) async throws(EnrollError) -> URLRequest {
    var request = request
    let scheme = token.tokenType.lowercased() == "bearer" ? "Bearer" : token.tokenType
    request.setValue("\(scheme) \(token.value.reveal())", forHTTPHeaderField: "Authorization")
    // The proof names the URL without dot segments, because URLSession removes them from the URL that it
    // sends.
    if exchange.needsProof, let url = request.url?.absoluteURL.standardized, let target = url.proofTarget {
      request.url = url
      exchange.countProof()
      let proof = try await dpopProof(
        method: request.httpMethod ?? "GET", url: target, nonce: nonce, accessToken: token.value)
      request.setValue(proof, forHTTPHeaderField: "DPoP")
    }
    return request
  }
}
