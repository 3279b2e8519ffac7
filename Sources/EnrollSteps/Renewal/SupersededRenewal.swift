// The results of a renewal that found, before or after its request, that its tokens were replaced.

import EnrollRules

extension RenewedTokensStep {
  /// The result if another process changed the tokens in the meantime, by a renewal or a logout.
  func superseded(for audience: TokenAudience?) throws(EnrollError) -> RenewalResult {
    guard let record = try store.read(account), record.confirmed != nil else {
      return .reauthenticate("no user is signed in")
    }
    if let end = record.sessionEnd { return end }
    // A later renewal for another audience does not change the result, because the caller waited only for the renewal
    // for its own audience.
    guard let access = record.confirmed?.access(for: audience), !access.expiry.isOver(at: clock.moment())
    else {
      return .unavailable(EnrollError(.server, "another process renewed, and got no token that works"))
    }
    return .renewed
  }

  /// The result if another session has replaced the session that was renewed. The new session has its own access
  /// token, but no token for an audience yet.
  func replaced(for audience: TokenAudience?) throws(EnrollError) -> RenewalResult {
    let record = try store.read(account)
    guard let audience, let tokens = record?.confirmed, record?.sessionEnded == nil,
      tokens.access(for: audience) == nil
    else { return try superseded(for: audience) }
    return .unavailable(EnrollError(.busy, "another sign-in took this session's place"))
  }

  /// Whether ``replaced(for:)`` gave this result. The error `busy` alone does not show this, because a host's
  /// transport may also fail with `busy`, which changes no tokens.
  func isOfReplacedSession(
    _ result: RenewalResult, from epoch: UInt64, for audience: TokenAudience?
  ) throws(EnrollError) -> Bool {
    guard audience != nil, case .unavailable(let error) = result, error.code == .busy else { return false }
    return try store.read(account)?.tokenEpoch != epoch
  }
}
