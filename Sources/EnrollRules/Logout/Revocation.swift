// The request that revokes a token (RFC 7009 §2.1), and its response (§2.2). An unknown token counts as revoked,
// because it no longer works. The token is sent as a field of the request's form (R31).

import EnrollCrypto

public enum RevocationRequest {
  /// - Parameter withBearer: whether to send the bearer token as well. Some servers require a public client to
  ///   authenticate with its access token (Glewlwyd), others refuse two kinds of credentials. Pass true in a second
  ///   try, if ``RevocationAnswer/wantsBearer`` of the first answer is true.
  public static func make(
    _ revocation: OutboxEntry.Revocation, endpoint: String, withBearer: Bool = false
  ) -> HTTPRequest {
    var form = FormEncoding(.body)
    form.add("token", revocation.token)
    form.add("token_type_hint", revocation.hint)
    var headers: [HTTPHeader] = []
    if withBearer, let bearer = revocation.bearer {
      let scheme = revocation.dpopKey == nil ? "Bearer" : "DPoP"
      headers.append(HTTPHeader("Authorization", "\(scheme) \(bearer.reveal())"))
    }
    return HTTPRequest(form: form, to: endpoint, headers: headers)
  }
}

/// The answer to a revocation.
public enum RevocationAnswer: Equatable, Sendable {
  case revoked
  /// The server refuses, and would refuse the same request again.
  case refused(EnrollError)
  /// The server failed; try again later (R33).
  case later(EnrollError)

  /// Reads a response. Only a response of the provider's server itself decides about the revocation. The page of a
  /// proxy or a portal says nothing about the token, and neither does a status that no revocation endpoint returns.
  public init(processing response: HTTPResponse) {
    let status = response.status
    let words = ServerWords(in: response)
    let (code, text) = (words.code, "the revocation request got status \(status)\(words.text)\(words.advice)")
    let content = RefusalContent(code: code, isEmpty: response.isStatedEmpty)
    switch status {
    case 200..<300 where !response.isPage: self = .revoked
    // Glewlwyd answers some refusals with an empty body.
    case 400...401 where content.isOfTheServer, 403 where content.isOfTheServer:
      self = .refused(
        EnrollError(
          .oauth, text, httpStatus: status, oauthError: code, oauthErrorDescription: words.description))
    case 408, 429, 500...:
      self = .later(
        EnrollError(
          .server, text + RetryAfter.words(of: response), httpStatus: status,
          oauthErrorDescription: words.description,
          retryAfterSeconds: RetryAfter.seconds(of: response)))
    default:
      self = .later(
        EnrollError(
          .responseInvalid, text + ", apparently not from the revocation endpoint", httpStatus: status,
          retryAfterSeconds: RetryAfter.seconds(of: response)))
    }
  }

  /// Whether another request for this token cannot help.
  public var isFinal: Bool {
    switch self {
    case .revoked, .refused: true
    case .later: false
    }
  }

  /// Whether the server wants more than the client id. In this case the access token as a bearer token may help.
  public var wantsBearer: Bool {
    guard case .refused(let error) = self else { return false }
    return error.wantsAccessToken
  }
}

extension RefusalContent {
  /// Whether a revocation endpoint returns such an error, and would return it again.
  fileprivate var isOfTheServer: Bool { self != .withoutCode && self != .trouble }
}
