// A resource server refused a token that should be valid (RFC 6750 §3.1, 401): revoked, or of a provider that states no
// lives. It is renewed once; a second refusal within a minute says that another token would not help, and nothing about the
// session. A later one may be a revocation. A token that cannot be renewed stays refused, in every process, until a sign-in.

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
        // The epoch of the token that takes its place.
        memory.rejections.append((audience, record.tokenEpoch &+ 1, now))
        return false
      }
      guard !isRepeated else {
        // The provider renews the session: an API that refuses its users is no reason for a sign-in (R34, R44).
        let error = EnrollError(
          .rejected,
          "the access token was refused, and so was the one after it, which the provider has just issued")
        return .answer(.rejected(reason: audience.map { error.concerning($0) } ?? error))
      }
      return .renew(epoch: epoch)
    }
  }

  /// Nothing hands this access token out any more, in any process: E, until a sign-in.
  private func keepRefused(epoch: UInt64) throws(EnrollError) -> AccessOutcome {
    let record = try store.update(account) { record throws(EnrollError) in
      if record.epoch(for: nil) == epoch { record.isAccessRefused = true }
    }
    // Other tokens have taken their place by now.
    guard let reason = record.accessRefused else {
      return try outcome(after: .renewed, minimumLifetimeSeconds: 0)
    }
    try report(.reauthenticate(reason), isNew: true)
    return .reauthenticate(reason: reason)
  }
}

extension AccountRecord {
  /// Why the session's own access token is not handed out although it may live: a resource server refuses it, and it cannot be
  /// renewed; nil while none says so.
  var accessRefused: String? {
    isAccessRefused && confirmed != nil && confirmed?.refreshToken == nil
      ? "the access token was refused, and the provider gave no refresh token" : nil
  }
}
