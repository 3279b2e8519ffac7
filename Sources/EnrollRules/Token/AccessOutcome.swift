// The outcomes of a call for an access token. There are no other outcomes than these (flows.md §8).

public import EnrollCrypto

/// An access token for the next request.
public struct AccessToken: Equatable, Sendable {
  /// The token itself. Send it in the Authorization header or a form body, nowhere else (R31).
  public var value: Secret
  /// The token's type as the server spelt it.
  public var tokenType: String
  /// When the token expires, by the device's clock.
  public var expiresAt: UnixTime
  /// The granted scopes, which may be fewer than the requested scopes; nil if this is a stand-in token.
  public var scopes: [String]?
  /// How a token for an audience differs from the request, as text; nil if no difference is known.
  public var deviation: String?

  public init(value: Secret, tokenType: String, expiresAt: UnixTime, scopes: [String]? = nil) {
    self.value = value
    self.tokenType = tokenType
    self.expiresAt = expiresAt
    self.scopes = scopes
  }

  /// The value of the header `Authorization`: the type and the token itself.
  public var authorization: String {
    (ASCII.equalsIgnoringCase(tokenType, "Bearer") ? "Bearer" : tokenType) + " " + value.reveal()
  }
}

/// The outcome of asking for a valid access token.
public enum AccessOutcome: Equatable, Sendable {
  /// The token works. If possible, it is valid for at least the time that the caller requested.
  case valid(AccessToken)
  /// The token was due for renewal and could not be renewed now; it still works.
  case stale(AccessToken, reason: EnrollError)
  /// The token expired and could not be renewed yet. A later attempt may succeed.
  case expired(offlineSince: UnixTime?, retryAfterSeconds: Int64?, reason: EnrollError)
  /// The provider refused to renew, or to issue a token for the requested audience, but did not end the session. The
  /// account's record is kept.
  case rejected(reason: EnrollError)
  /// The session is over, or there never was a session: the user has to sign in. The provider may have given a reason.
  case reauthenticate(reason: String, oauthErrorDescription: String? = nil)
  /// The store is locked: its key is unavailable.
  case storeLocked
  /// Another renewal is in progress and did not end before the caller's deadline.
  case busy
}

extension AccessOutcome {
  /// The outcome without its payload. Every interface of EnrollKit uses these words for the outcomes, and reports
  /// ``status`` for a call that needed a token.
  public enum Kind: String, Sendable, CaseIterable {
    /// ``AccessOutcome/valid(_:)``.
    case valid
    /// ``AccessOutcome/stale(_:reason:)``.
    case stale
    /// ``AccessOutcome/expired(offlineSince:retryAfterSeconds:reason:)``.
    case expired
    /// ``AccessOutcome/rejected(reason:)``.
    case rejected
    /// ``AccessOutcome/reauthenticate(reason:oauthErrorDescription:)``.
    case reauthenticate
    /// ``AccessOutcome/storeLocked``.
    case storeLocked
    /// ``AccessOutcome/busy``.
    case busy

    /// The status of a call that needed a token; nil if the outcome has a token. This is the only table of outcomes and
    /// statuses.
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

  /// The error that prevented the renewal of the token; nil if the outcome has no such error.
  public var renewalFailure: EnrollError? {
    switch self {
    case .stale(_, let reason), .expired(_, _, let reason), .rejected(let reason): reason
    case .valid, .reauthenticate, .storeLocked, .busy: nil
    }
  }

  /// The token that works now, or the error that says why there is no token. Every interface converts outcomes with
  /// this property.
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
    case .reauthenticate(let reason, let words): .failure(.sessionEnded(reason, words))
    case .storeLocked: .failure(error("the store is locked: its key is unavailable"))
    case .busy: .failure(error("a renewal is in progress and did not end before this call's timeout"))
    }
  }

  private func error(
    _ message: String, _ reason: EnrollError? = nil, field: String? = nil, retryAfterSeconds: Int64? = nil
  ) -> EnrollError {
    EnrollError(
      kind.status ?? .internal, message, field: field, httpStatus: reason?.httpStatus,
      oauthError: reason?.oauthError, oauthErrorDescription: reason?.oauthErrorDescription,
      retryAfterSeconds: retryAfterSeconds ?? reason?.retryAfterSeconds)
  }

  /// The error that says why there is no token; nil for ``valid(_:)`` and ``stale(_:reason:)``.
  public var failure: EnrollError? {
    if case .failure(let error) = result { error } else { nil }
  }

  /// The token that works now, for callers that treat every other outcome as a failure.
  /// - Throws: ``failure``.
  public func token() throws(EnrollError) -> AccessToken { try result.get() }
}

extension EnrollError {
  /// The error for a session that has ended.
  /// - Parameters:
  ///   - reason: a sentence, or the provider's error code. The two are told apart by a space: a sentence has spaces,
  ///     and no registered code has one (RFC 6749 §11.4).
  ///   - description: the provider's `error_description`.
  package static func sessionEnded(_ reason: String, _ description: String?) -> EnrollError {
    let words = description.map { ": \($0)" } ?? ""
    guard !reason.contains(" ") else {
      return EnrollError(.reauthenticate, reason + words, oauthErrorDescription: description)
    }
    return EnrollError(
      .reauthenticate, "the provider ended the session (\(reason)\(words)); sign in again",
      oauthError: reason, oauthErrorDescription: description)
  }
}
