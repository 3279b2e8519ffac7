// A resource server refused a token that should be valid (RFC 6750 §3.1, 401): revoked, or of a provider that states no
// lives. It is renewed once; a second refusal says that another token would not help.

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

  /// - Parameter accessToken: the refused one.
  /// - Throws: as ``decideAccess(minimumLifetimeSeconds:)``.
  public func decideRejection(of accessToken: Secret) throws(EnrollError) -> RejectionDecision {
    switch try session() {
    case .none(let outcome): return .answer(outcome)
    case .live(let record, let tokens):
      guard tokens.accessToken == accessToken else { return .access }
      guard tokens.refreshToken != nil else {
        return .answer(
          .reauthenticate(reason: "the access token was refused, and the provider gave no refresh token"))
      }
      let epoch = record.accessEpoch ?? record.tokenEpoch
      let isRepeated = memory.withLock { memory in
        if memory.rejectionEpoch == epoch { return true }
        memory.rejectionEpoch = epoch &+ 1
        return false
      }
      guard !isRepeated else {
        return .answer(.reauthenticate(reason: "the access token was refused, and so was the one after it"))
      }
      return .renew(epoch: epoch)
    }
  }
}
