// The gateway's credentials at its directory: a bearer token, Okta's API token, or an access token that the gateway requests as
// a client (RFC 6749 §4.4). Such an access token is cached until it expires or the directory refuses it.

import EnrollRules
public import EnrollSteps
public import EnrollCrypto

/// The gateway's credentials at a directory.
public final class DirectoryCredentials: Sendable {
  public enum Kind: Sendable {
    /// RFC 6750 §2.1.
    case bearer(Secret)
    /// Okta's API token.
    case ssws(Secret)
    /// The client credentials grant.
    case client(Client)
  }

  /// A confidential client of the directory's authorization server.
  public struct Client: Sendable {
    public var tokenURI: String
    public var id: String
    public var secret: Secret
    public var scope: String?

    public init(tokenURI: String, id: String, secret: Secret, scope: String? = nil) {
      self.tokenURI = tokenURI
      self.id = id
      self.secret = secret
      self.scope = scope
    }
  }

  private struct Kept {
    var token: Secret
    var until: Instant
  }

  private let kind: Kind
  private let kept: Guarded<Kept?>

  /// How many seconds before a token's expiry the gateway stops using the token.
  private static let graceSeconds: Int64 = 30

  public init(_ kind: Kind, lock: any Lock) {
    self.kind = kind
    kept = Guarded(nil, by: lock)
  }

  /// The header that authenticates the gateway at its directory.
  /// - Throws: the failure of the token request.
  func header(by transport: any Transport, at clock: any Clock) throws(EnrollError) -> HTTPHeader {
    switch kind {
    case .bearer(let token): return HTTPHeader("Authorization", "Bearer " + token.reveal())
    case .ssws(let token): return HTTPHeader("Authorization", "SSWS " + token.reveal())
    case .client(let client):
      let now = clock.instant()
      if let kept = kept.withLock({ $0 }), now < kept.until {
        return HTTPHeader("Authorization", "Bearer " + kept.token.reveal())
      }
      let answer = try TokenResponse(
        processing: try transport.send(Self.request(client), cancellation: nil))
      let seconds = (answer.lifetimeSeconds ?? TokenResponse.defaultLifetimeSeconds) - Self.graceSeconds
      let fresh = Kept(token: answer.accessToken, until: now.advanced(bySeconds: max(seconds, 1)))
      kept.withLock { $0 = fresh }
      return HTTPHeader("Authorization", "Bearer " + fresh.token.reveal())
    }
  }

  /// Drops the cached token.
  /// - Returns: whether another token can be requested.
  func forget() -> Bool {
    guard case .client = kind else { return false }
    kept.withLock { $0 = nil }
    return true
  }

  /// The client's id and secret are sent in the header, which every server supports (RFC 6749 §2.3.1).
  private static func request(_ client: Client) -> HTTPRequest {
    var form = FormEncoding(.body)
    form.add("grant_type", "client_credentials")
    if let scope = client.scope { form.add("scope", scope) }
    let pair = PercentEncoding.encode(client.id) + ":" + PercentEncoding.encode(client.secret.reveal())
    return HTTPRequest(
      .post, client.tokenURI,
      headers: [
        HTTPHeader("Authorization", "Basic " + Base64.encode(Array(pair.utf8))),
        HTTPHeader("Content-Type", FormEncoding.contentType), HTTPHeader("Accept", "application/json"),
        HTTPHeader("User-Agent", "EnrollGateway"),
      ], body: form.bytes, freshConnection: true)
  }
}
