// Stores renewed tokens first, and checks them after that (R30). While the disk refuses the tokens, they stay in
// memory. The next renewal then stores them before it sends a request, because the refresh token on the disk is spent.

public import EnrollRules

/// Stores and checks renewed tokens.
public final class RenewedTokensStep: EngineStep {
  let context: EngineContext
  private let unsaved: UnsavedRenewal
  let requests: ClientRequests
  let backEnd: BackEndStep
  private let outbox: OutboxStep
  private let revocations: RevocationStep

  init(
    _ context: EngineContext, unsaved: UnsavedRenewal, requests: ClientRequests, backEnd: BackEndStep,
    outbox: OutboxStep, revocations: RevocationStep
  ) {
    self.context = context
    self.unsaved = unsaved
    self.requests = requests
    self.backEnd = backEnd
    self.outbox = outbox
    self.revocations = revocations
  }

  /// The number of attempts to store the tokens of one renewal, and the pause between two of them, in nanoseconds. A
  /// short problem of the disk therefore does not end the session, and no other process sends the spent token in the
  /// meantime.
  static let savesPerRenewal = 6
  static let pauseBetweenSaves: Int64 = 200_000_000

  /// Stores the tokens. If the user logged out in the meantime, the tokens are revoked and not stored (R35). If
  /// another store without the session has replaced the store in which the renewal began, the user did not log out:
  /// the tokens wait in memory for the first store. If a copy of the first store has replaced the first store, the
  /// copy has the session, too. The copy gets the tokens, because other processes use it now, and would send the spent
  /// refresh token.
  func keep(_ renewed: RenewedTokens) throws(EnrollError) -> RenewalResult {
    unsaved.keep(renewed)
    let epoch: UInt64?
    do throws(EnrollError) {
      epoch = try stubbornly { () throws(EnrollError) in
        let epoch = try save(renewed)
        if epoch == nil { try requireSame(store: renewed.store) }
        return epoch
      }
    } catch {
      throw error.saying("the provider renewed the tokens, but the store refused them: " + error.message)
    }
    unsaved.forget()
    guard let epoch else {
      revocations.revokeUnkept([UnkeptTokens(renewed.tokens, user: renewed.user)])
      outbox.sendOutbox(cancellation: nil)
      return try replaced(for: renewed.audience)
    }
    if renewed.isBound || !renewed.scopesLost.isEmpty {
      try remember(narrowing: renewed.scopesLost, epoch: epoch)
    }
    let result = try judgeIDToken(of: renewed, epoch: epoch)
    guard result == .renewed, !renewed.hasNewAccessToken else { return result }
    return .unavailable(
      EnrollError(
        .responseInvalid,
        "the provider's answer had a new refresh token, and no access token that can be used"))
  }

  /// Stores the tokens that an earlier renewal of this process could not store.
  /// - Returns: the result and the audience; nil if there are no such tokens, or other tokens replaced them.
  func keepUnsaved(
    replacing epoch: UInt64
  ) throws(EnrollError) -> (result: RenewalResult, audience: TokenAudience?)? {
    guard let renewed = unsaved.renewed else { return nil }
    if renewed.epoch == epoch { return (try keep(renewed), renewed.audience) }
    unsaved.forget()
    return nil
  }

  /// Forgets tokens that are saved or no longer needed, so that other processes may renew again.
  public func forgetUnsaved() {
    unsaved.forget()
  }

  /// Whether tokens of an earlier renewal are not stored yet.
  public var hasUnsaved: Bool { unsaved.renewed != nil }

  /// Tries again to store the tokens of an earlier renewal.
  /// - Throws: the error of the store, or the error of the renewal after storing.
  public func storeUnsaved() throws(EnrollError) {
    if let renewed = unsaved.renewed { _ = try keep(renewed) }
  }

  /// Tries several times to save renewed tokens, because the refresh token on the disk is spent.
  func stubbornly<Result>(_ save: () throws(EnrollError) -> Result) throws(EnrollError) -> Result {
    var tries = 1
    while true {
      do throws(EnrollError) {
        return try save()
      } catch {
        // If the error is `busy`, the save has already waited for the lock until the lock's own timeout.
        guard tries < Self.savesPerRenewal, error.code != .busy else { throw error }
        tries += 1
        clock.sleep(until: clock.instant().advanced(byNanoseconds: Self.pauseBetweenSaves))
      }
    }
  }

  /// Checks that the store is still the store of the session. Only in that store does a missing session mean that the
  /// user logged out.
  /// - Throws: `.storeIO` if another store has replaced it.
  func requireSame(store identity: String) throws(EnrollError) {
    guard try store.identity() != identity else { return }
    throw EnrollError(
      .storeIO,
      "another store has taken the place of the one in which the session is; restore that one, or sign in again",
      field: "store")
  }

  /// - Returns: the new epoch of the tokens; nil if other tokens have replaced them, or if the user logged out.
  private func save(_ renewed: RenewedTokens) throws(EnrollError) -> UInt64? {
    var epoch: UInt64?
    try store.update(account) { record throws(EnrollError) in
      // An earlier save that failed in its last step may nevertheless have written these tokens. The save is repeated
      // to make sure.
      guard record.tokenEpoch == renewed.epoch || record.confirmed == renewed.tokens else { return }
      record.confirmed = renewed.tokens
      if renewed.audience == nil { record.advanceEpoch() } else { record.advanceEpochBesideAccess() }
      record.renewalIntent = nil
      record.refusal = nil
      if renewed.hasNewAccessToken { record.backoff = nil }
      record.learnClockOffset(renewed.clockOffset)
      requests.keepLearned(in: &record)
      epoch = record.tokenEpoch
    }
    return epoch
  }
}
