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
  /// Why there is no token to hand out; nil for ``valid(_:)`` and ``stale(_:reason:)``. The one place where an outcome becomes
  /// an error, for every face.
  public var failure: EnrollError? {
    switch self {
    case .valid, .stale: nil
    case .expired(_, let retryAfterSeconds, let reason):
      EnrollError(
        .expired, "the token expired, and renewing it failed: \(reason.message)",
        httpStatus: reason.httpStatus,
        oauthError: reason.oauthError, retryAfterSeconds: retryAfterSeconds ?? reason.retryAfterSeconds)
    case .rejected(let reason):
      EnrollError(
        .rejected, "the provider refused to renew: \(reason.message)", httpStatus: reason.httpStatus,
        oauthError: reason.oauthError, retryAfterSeconds: reason.retryAfterSeconds)
    case .reauthenticate(let reason): EnrollError(.reauthenticate, reason)
    case .storeLocked: EnrollError(.storeLocked, "the store is locked: its key is unavailable")
    case .busy: EnrollError(.busy, "a renewal is under way, and the deadline of this call has passed")
    }
  }

  /// The token that works now, for callers that treat everything else as a failure.
  /// - Throws: ``failure``.
  public func token() throws(EnrollError) -> AccessToken {
    switch self {
    case .valid(let token), .stale(let token, _): return token
    case .expired, .rejected, .reauthenticate, .storeLocked, .busy:
      throw failure ?? EnrollError(.internal, "an outcome without a token has no reason")
    }
  }
}
