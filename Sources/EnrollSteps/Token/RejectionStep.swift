// A resource server rejected a token that should be valid (RFC 6750 §3.1, 401): the token was revoked, or the provider
// states no lifetimes. The token is renewed once. If the server rejects the new one within a minute, another token
// would not help, and the session stays. A later rejection may be another revocation. A token that cannot be renewed
// stays rejected, in every process, until a sign-in.

public import EnrollCrypto
public import EnrollRules

extension Engine {
  /// The next step after a resource server's rejection.
  public enum RejectionDecision: Equatable, Sendable {
    case answer(AccessOutcome)
    /// The account has another token by now: continue with ``decideAccess(minimumLifetimeSeconds:for:)``.
    case access
    /// The rejected token must be replaced: call ``renew(epochs:forced:)``, forced.
    case renew(epoch: UInt64)
  }

  /// How long a rejection counts: an API that rejects every token causes one renewal in this time.
  private static var rejectionSeconds: Int64 { 60 }

  /// - Parameters:
  ///   - accessToken: the rejected token.
  ///   - audience: the token's audience; nil for the session's own token.
  /// - Throws: as ``decideAccess(minimumLifetimeSeconds:for:)``.
  public func decideRejection(
    of accessToken: Secret, for audience: TokenAudience? = nil
  ) throws(EnrollError) -> RejectionDecision {
    switch try session() {
    case .none(let outcome): return .answer(outcome)
    case .live(let record, let tokens):
      guard let epoch = record.epoch(for: audience),
        tokens.access(for: audience)?.token.value == accessToken
      else { return .access }
      guard tokens.refreshToken != nil else {
        return .answer(try keepRefused(epoch: epoch))
      }
      let now = clock.instant()
      let isRepeated = memory.withLock { memory in
        if memory.rejections.contains(where: {
          $0.audience == audience && $0.epoch == epoch
            && now < $0.since.advanced(bySeconds: Self.rejectionSeconds)
        }) {
          return true
        }
        memory.rejections.removeAll { $0.audience == audience }
        // The epoch of the token that will replace it.
        memory.rejections.append((audience, record.tokenEpoch &+ 1, now))
        return false
      }
      guard !isRepeated else {
        // The provider does renew the session: an API that rejects its users is no reason for a sign-in (R34, R44).
        let error = EnrollError(
          .rejected,
          "the access token was refused, and so was the one after it, which the provider has just issued")
        return .answer(.rejected(reason: audience.map { error.concerning($0) } ?? error))
      }
      return .renew(epoch: epoch)
    }
  }

  /// Marks this access token in the store, so that no process returns it any more: state E, until a sign-in.
  private func keepRefused(epoch: UInt64) throws(EnrollError) -> AccessOutcome {
    let record = try store.update(account) { record throws(EnrollError) in
      if record.epoch(for: nil) == epoch { record.isAccessRefused = true }
    }
    // Other tokens have replaced it by now.
    guard let reason = record.accessRefused else {
      return try outcome(after: .renewed, minimumLifetimeSeconds: 0)
    }
    try report(.reauthenticate(reason), isNew: true)
    return .reauthenticate(reason: reason)
  }
}
