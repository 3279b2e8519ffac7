// What a revocation came to (RFC 7009 §2.2). An unknown token is a success there: it is as dead as it should be.

/// The answer to a revocation.
public enum RevocationAnswer: Equatable, Sendable {
  case revoked
  /// The server will say the same the next time.
  case refused(EnrollError)
  /// In trouble: worth another try later (R33).
  case later(EnrollError)

  public init(processing response: HTTPResponse) {
    let status = response.status
    let text = "a revocation was sent, status \(status) came"
    switch status {
    case 200..<300: self = .revoked
    case 408, 429, 500...:
      self = .later(
        EnrollError(
          .server, text, httpStatus: status, retryAfterSeconds: RetryAfter.seconds(of: response)))
    case 400..<500:
      self = .refused(
        EnrollError(
          .oauth, text, httpStatus: status, oauthError: TokenEndpointError.oauthError(in: response.body)))
    default:
      // A redirect comes from something in between, not from the server that was meant.
      self = .later(EnrollError(.responseInvalid, text, httpStatus: status))
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
