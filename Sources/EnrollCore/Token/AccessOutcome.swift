// The outcome of a call for an access token: a closed set (flows.md §8).

public import EnrollCrypto

/// An access token for the next request.
public struct AccessToken: Equatable, Sendable {
  /// For the Authorization header or a form body, nowhere else (R31).
  public var value: Secret
  /// As the server spelt it.
  public var tokenType: String
  /// When it ends, by the device's clock.
  public var expiresAt: UnixTime
  /// The granted scopes of a token for an audience (``TokenAudience``), which may be fewer than were asked for; nil for the
  /// session's own token.
  public var scopes: [String]?

  public init(value: Secret, tokenType: String, expiresAt: UnixTime, scopes: [String]? = nil) {
    self.value = value
    self.tokenType = tokenType
    self.expiresAt = expiresAt
    self.scopes = scopes
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
  /// The provider refused to renew, or to issue a token for that audience, without ending the session. The record is kept.
  case rejected(reason: EnrollError)
  /// The session is over, or there never was one: sign in.
  case reauthenticate(reason: String)
  /// The store is locked: its key is unavailable.
  case storeLocked
  /// Another renewal is in progress and did not end before the caller's deadline.
  case busy
}

extension AccessOutcome {
  /// The outcome without its payload: the word for it at every face, and the status of a call that wanted a token.
  public enum Kind: String, Sendable, CaseIterable {
    /// ``AccessOutcome/valid(_:)``.
    case valid
    /// ``AccessOutcome/stale(_:reason:)``.
    case stale
    /// ``AccessOutcome/expired(offlineSince:retryAfterSeconds:reason:)``.
    case expired
    /// ``AccessOutcome/rejected(reason:)``.
    case rejected
    /// ``AccessOutcome/reauthenticate(reason:)``.
    case reauthenticate
    /// ``AccessOutcome/storeLocked``.
    case storeLocked
    /// ``AccessOutcome/busy``.
    case busy

    /// nil for the outcomes that hand out a token. The one table of outcomes and statuses, for every face.
    public var status: EnrollError.Code? {
      switch self {
      case .valid, .stale: nil
      case .expired: .expired
      case .rejected: .rejected
      case .reauthenticate: .reauthenticate
      case .storeLocked: .storeLocked
      case .busy: .busy
      }
    }
  }

  /// The outcome without its payload.
  public var kind: Kind {
    switch self {
    case .valid: .valid
    case .stale: .stale
    case .expired: .expired
    case .rejected: .rejected
    case .reauthenticate: .reauthenticate
    case .storeLocked: .storeLocked
    case .busy: .busy
    }
  }

  /// Why the token was not renewed; nil for the outcomes that no renewal led to.
  public var renewalFailure: EnrollError? {
    switch self {
    case .stale(_, let reason), .expired(_, _, let reason), .rejected(let reason): reason
    case .valid, .reauthenticate, .storeLocked, .busy: nil
    }
  }

  /// The token that works now, or why there is none: the one place where an outcome becomes either, for every face.
  public var result: Result<AccessToken, EnrollError> {
    switch self {
    case .valid(let token), .stale(let token, _): .success(token)
    case .expired(_, let retryAfterSeconds, let reason):
      .failure(
        error(
          "the token expired, and renewing it failed: \(reason.message)", reason,
          retryAfterSeconds: retryAfterSeconds))
    case .rejected(let reason):
      .failure(error("the provider refused to renew: \(reason.message)", reason, field: reason.field))
    case .reauthenticate(let reason): .failure(error(ended: reason))
    case .storeLocked: .failure(error("the store is locked: its key is unavailable"))
    case .busy: .failure(error("a renewal is in progress and did not end before this call's timeout"))
    }
  }

  /// - Parameter reason: a sentence, or the provider's error code: no code that is registered has a space (RFC 6749 §11.4).
  private func error(ended reason: String) -> EnrollError {
    guard !reason.contains(" ") else { return error(reason) }
    return EnrollError(
      .reauthenticate, "the provider ended the session (\(reason)); sign in again", oauthError: reason)
  }

  private func error(
    _ message: String, _ reason: EnrollError? = nil, field: String? = nil, retryAfterSeconds: Int64? = nil
  ) -> EnrollError {
    EnrollError(
      kind.status ?? .internal, message, field: field, httpStatus: reason?.httpStatus,
      oauthError: reason?.oauthError,
      retryAfterSeconds: retryAfterSeconds ?? reason?.retryAfterSeconds)
  }

  /// Why there is no token to hand out; nil for ``valid(_:)`` and ``stale(_:reason:)``.
  public var failure: EnrollError? {
    if case .failure(let error) = result { error } else { nil }
  }

  /// The token that works now, for callers that treat everything else as a failure.
  /// - Throws: ``failure``.
  public func token() throws(EnrollError) -> AccessToken { try result.get() }
}
