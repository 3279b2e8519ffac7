// Telling a server to forget a token (RFC 7009 §2.1), as a public client: its id goes into the body. And the result (§2.2):
// for an unknown token it is a success, because the token no longer works.

import EnrollCrypto

public enum RevocationRequest {
  /// - Parameter withBearer: sends the bearer too, for servers that want a public client to prove itself with
  ///   its access token (Glewlwyd). Others refuse a second kind of credentials, so this is for a second try, see
  ///   ``RevocationAnswer/wantsBearer``.
  public static func make(
    _ revocation: OutboxEntry.Revocation, endpoint: String, from client: ClientAuthentication,
    withBearer: Bool = false
  ) -> HTTPRequest {
    var form = FormEncoding(.body)
    form.add("token", revocation.token)
    form.add("token_type_hint", revocation.hint)
    var headers: [HTTPHeader] = []
    if withBearer, let bearer = revocation.bearer {
      let scheme = revocation.dpopKey == nil ? "Bearer" : "DPoP"
      headers.append(HTTPHeader("Authorization", "\(scheme) \(bearer.reveal())"))
    }
    return client.request(form, to: endpoint, headers: headers)
  }
}

/// The answer to a revocation.
public enum RevocationAnswer: Equatable, Sendable {
  case revoked
  /// The server will say the same the next time.
  case refused(EnrollError)
  /// In trouble: worth another try later (R33).
  case later(EnrollError)

  /// Only the server's own word counts: a page that a proxy or a portal puts in its place says nothing about the token,
  /// nor does a status that no revocation endpoint gives.
  public init(processing response: HTTPResponse) {
    let status = response.status
    let text = "the revocation request got status \(status)"
    let code = TokenEndpointError.oauthError(in: response)
    let content = RefusalContent(code: code, isEmpty: response.isStatedEmpty)
    switch status {
    case 200..<300 where !response.isPage: self = .revoked
    // Glewlwyd answers some refusals with an empty body.
    case 400...401 where content.isOfTheServer, 403 where content.isOfTheServer:
      self = .refused(EnrollError(.oauth, text, httpStatus: status, oauthError: code))
    case 408, 429, 500...:
      self = .later(
        EnrollError(
          .server, text, httpStatus: status, retryAfterSeconds: RetryAfter.seconds(of: response)))
    default:
      self = .later(
        EnrollError(
          .responseInvalid, text + ", apparently not from the revocation endpoint", httpStatus: status,
          retryAfterSeconds: RetryAfter.seconds(of: response)))
    }
  }

  /// Nothing more can be done about this token.
  public var isFinal: Bool {
    switch self {
    case .revoked, .refused: true
    case .later: false
    }
  }

  /// The server did not take the client's id for enough: the access token as bearer may help.
  public var wantsBearer: Bool {
    guard case .refused(let error) = self else { return false }
    return error.wantsAccessToken
  }
}

extension RefusalContent {
  /// Whether a revocation endpoint says this, and would say the same the next time.
  fileprivate var isOfTheServer: Bool { self != .withoutCode && self != .trouble }
}
