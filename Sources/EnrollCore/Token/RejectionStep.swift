// A resource server refused a token that should be valid (RFC 6750 §3.1, 401): revoked, or of a provider that states no
// lives. It is renewed once; a second refusal within a minute says that another token would not help. A later one may be a
// revocation.

public import EnrollCrypto

extension Engine {
  /// What follows from a resource server's refusal.
  public enum RejectionDecision: Equatable, Sendable {
    case answer(AccessOutcome)
    /// There is another token by now: the usual way.
    case access
    /// The refused token is replaced: run ``renew(epochs:forced:)``, forced.
    case renew(epoch: UInt64)
  }

  /// How long a refusal counts: an API that refuses every token causes one renewal in that time.
  private static var rejectionSeconds: Int64 { 60 }

  /// - Parameters:
  ///   - accessToken: the refused one.
  ///   - audience: for whom it was; nil for the session's own.
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
        return .answer(
          .reauthenticate(reason: "the access token was refused, and the provider gave no refresh token"))
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
        // The epoch of the token that takes its place.
        memory.rejections.append((audience, record.tokenEpoch &+ 1, now))
        return false
      }
      guard !isRepeated else {
        let reason = "the access token was refused, and so was the one after it"
        guard let audience else { return .answer(.reauthenticate(reason: reason)) }
        // One API that refuses its users is no reason for a sign-in: the session goes on (R44).
        return .answer(.rejected(reason: EnrollError(.rejected, reason).concerning(audience)))
      }
      return .renew(epoch: epoch)
    }
  }
}
