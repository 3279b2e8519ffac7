// What follows if a resource server rejects a token that should be valid (RFC 6750 §3.1, 401), because it was revoked,
// or because the provider states no lifetimes. The token is renewed once. If the server also rejects the new token
// within a minute, a further token would not help, and the session stays. A later rejection may mean that the new token
// was revoked, too, so it causes another renewal. A token that cannot be renewed stays rejected, in every process,
// until a sign-in.

public import EnrollCrypto
public import EnrollRules

/// The next step after a resource server's rejection.
public enum RejectionDecision: Equatable, Sendable {
  case answer(AccessOutcome)
  /// The account has another token by now: continue with ``AccessStep/decideAccess(minimumLifetimeSeconds:for:)``.
  case access
  /// The rejected token must be replaced: call ``RenewalStep/renew(epochs:forced:for:)`` with `forced`.
  case renew(epoch: UInt64)
}

/// Decides what follows when a resource server rejects a token.
public final class RejectionStep: EngineStep {
  let context: EngineContext
  private let access: AccessStep
  private let reports: RenewalReport

  /// The tokens that replaced rejected tokens, one for each audience.
  private let rejections: Guarded<[Rejection]>

  private struct Rejection {
    var audience: TokenAudience?
    /// The epoch of the token that replaced the rejected token.
    var epoch: UInt64
    /// The time of the rejection.
    var since: Instant
  }

  init(_ context: EngineContext, access: AccessStep, reports: RenewalReport, lock: any Lock) {
    rejections = Guarded([], by: lock)
    self.context = context
    self.access = access
    self.reports = reports
  }

  /// For how many seconds a rejection counts. An API that rejects every token causes only one renewal in this time.
  private static var rejectionSeconds: Int64 { 60 }

  /// Decides what follows the rejection of a token.
  /// - Parameters:
  ///   - accessToken: the rejected token.
  ///   - audience: the token's audience; nil for the session's own token.
  /// - Throws: as ``AccessStep/decideAccess(minimumLifetimeSeconds:for:)``.
  public func decideRejection(
    of accessToken: Secret, for audience: TokenAudience? = nil
  ) throws(EnrollError) -> RejectionDecision {
    switch try context.session() {
    case .none(let outcome): return .answer(outcome)
    case .live(let record, let tokens):
      guard let epoch = record.epoch(for: audience),
        tokens.access(for: audience)?.value == accessToken
      else { return .access }
      guard tokens.refreshToken != nil else {
        return .answer(try keepRefused(epoch: epoch))
      }
      let now = clock.instant()
      let isRepeated = rejections.withLock { rejections in
        if rejections.contains(where: {
          $0.audience == audience && $0.epoch == epoch
            && now < $0.since.advanced(bySeconds: Self.rejectionSeconds)
        }) {
          return true
        }
        rejections.removeAll { $0.audience == audience }
        // The epoch belongs to the token that will replace the rejected token.
        rejections.append(Rejection(audience: audience, epoch: record.tokenEpoch &+ 1, since: now))
        return false
      }
      guard !isRepeated else {
        // The provider still renews the session, so an API that rejects every token does not force the user to sign in
        // again (R34, R44).
        let error = EnrollError(
          .rejected,
          "the access token was refused, and so was the one after it, which the provider has just issued")
        return .answer(.rejected(reason: audience.map { error.concerning($0) } ?? error))
      }
      return .renew(epoch: epoch)
    }
  }

  /// Marks this access token in the store, so that no process returns it any more: the state is `renewalFailed` (E)
  /// until a sign-in.
  private func keepRefused(epoch: UInt64) throws(EnrollError) -> AccessOutcome {
    let record = try store.update(account) { record throws(EnrollError) in
      if record.epoch(for: nil) == epoch { record.isAccessRefused = true }
    }
    // Other tokens have replaced the rejected token by now.
    guard let reason = record.accessRefused else {
      return try access.outcome(after: .renewed, minimumLifetimeSeconds: 0)
    }
    try reports.report(.reauthenticate(reason), isNew: true)
    return .reauthenticate(reason: reason)
  }
}
