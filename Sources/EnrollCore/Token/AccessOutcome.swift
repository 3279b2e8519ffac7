// What a caller who wants a token gets: a closed set (flows.md §8).

public import EnrollCrypto

/// An access token for the next request.
public struct AccessToken: Equatable, Sendable {
  /// For the Authorization header or a form body, nowhere else (R31).
  public var value: Secret
  /// As the server spelt it.
  public var tokenType: String
  /// When it ends, by the device's clock.
  public var expiresAt: UnixTime

  public init(value: Secret, tokenType: String, expiresAt: UnixTime) {
    self.value = value
    self.tokenType = tokenType
    self.expiresAt = expiresAt
  }
}

/// The outcome of asking for a valid access token.
public enum AccessOutcome: Equatable, Sendable {
  /// It lives, and longer than the caller asked for where that is possible.
  case valid(AccessToken)
  /// Due, and it could not be renewed just now; it still works.
  case stale(AccessToken, reason: EnrollError)
  /// Expired, and it could not be renewed yet. Waiting helps.
  case expired(offlineSince: UnixTime?, retryAfterSeconds: Int64?, reason: EnrollError)
  /// The provider refused to renew without ending the session. The record is kept.
  case rejected(reason: EnrollError)
  /// The session is over, or there never was one: sign in.
  case reauthenticate(reason: String)
  /// The store's key is not to be had now.
  case storeLocked
  /// Another one is renewing, and the caller's deadline came first.
  case busy
}

extension AccessOutcome {
  /// The token that works now, for callers that treat everything else as a failure.
  /// - Throws: `.expired`, `.rejected`, `.reauthenticate`, `.storeLocked`, `.busy`.
  public func token() throws(EnrollError) -> AccessToken {
    switch self {
    case .valid(let token), .stale(let token, _): return token
    case .expired(_, let retryAfter, let reason):
      throw EnrollError(
        .expired, "the token expired and could not be renewed yet: \(reason.message)",
        httpStatus: reason.httpStatus, oauthError: reason.oauthError, retryAfterSeconds: retryAfter)
    case .rejected(let reason):
      throw EnrollError(
        .rejected, reason.message, httpStatus: reason.httpStatus, oauthError: reason.oauthError)
    case .reauthenticate(let reason): throw EnrollError(.reauthenticate, reason)
    case .storeLocked: throw EnrollError(.storeLocked, "the store's key is not to be had now")
    case .busy: throw EnrollError(.busy, "another process is renewing, and the deadline came first")
    }
  }
}
