// What happens if the provider refuses a token for an audience, and the errors that callers then get.

extension AccountRecord {
  /// The backoff of an audience after failures other than refusals; nil for the session's own token, because
  /// its backoff belongs to the account.
  package func backoff(for audience: TokenAudience?) -> RenewalBackoff? {
    audience.flatMap { confirmed?.audiences[$0]?.backoff }
  }

  /// Whether this record shows a failure that `before` does not show, and that concerns the access token for this
  /// audience.
  package func tellsFailure(after before: AccountRecord, for audience: TokenAudience?) -> Bool {
    backoff != before.backoff || refusal != before.refusal
      || refusal(for: audience) != before.refusal(for: audience)
      || backoff(for: audience) != before.backoff(for: audience)
  }
}

extension EnrollError {
  private static let resourcesHint =
    "; if the provider issues tokens only for what the sign-in asked for, name the resource in resources and sign in again"

  /// The error for a sign-in that the provider refuses because of the configured resources. The error names the
  /// configuration keys that the developer should check.
  package var namingResourceKeys: EnrollError {
    EnrollError(
      code,
      "\(message); check resource and resources; a provider that takes them as audience (Hydra, Authelia) needs resourceParameter",
      field: "resource", httpStatus: httpStatus, oauthError: oauthError, retryAfterSeconds: retryAfterSeconds)
  }

  /// This error, completed with the audience to which the refusal applies.
  package func concerning(_ audience: TokenAudience) -> EnrollError {
    let text = isAboutTarget && !ASCII.contains(message, "resources") ? message + Self.resourcesHint : message
    return leading(to: code, "no token for \(audience.shown): \(text)", field: audience.field(of: self))
  }
}

extension EnrollError {
  /// Whether the error refuses the requested resource (RFC 8707 §2).
  package var isAboutTarget: Bool { oauthError.map { ASCII.equals($0, "invalid_target") } ?? false }

  /// Adds advice to an error: if the provider keeps refusing and the access token has expired, the user has to sign in
  /// again to get a token. This does not depend on the error code: some providers report the end of a session as an
  /// invalid request or an unknown client. The session is kept nevertheless, because the provider may accept it again.
  package func advised(by refusal: RenewalRefusal, _ record: AccountRecord, at moment: Moment)
    -> EnrollError
  {
    guard refusal.isRepeated, let tokens = record.confirmed, !tokens.isUsable(at: moment) else { return self }
    return saying(message + "; it has refused so for a minute or more. Sign in again").helped(
      by: .registerAgain)
  }
}
