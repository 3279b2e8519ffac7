// Renewed tokens on their way to the disk: stored first, judged afterwards (R30). While the disk refuses them, they
// stay in memory, and the next renewal begins by storing them: the refresh token on the disk is spent by then.

import EnrollCrypto

/// Tokens that replace others.
struct RenewedTokens: Equatable, Sendable {
  /// The new ones; or the old ones with the new refresh token, where the rest of the answer is of no use.
  let tokens: TokenSet
  /// The tokens that were renewed.
  let replaced: TokenSet
  /// For whom the access token is; nil: the session's own.
  let audience: TokenAudience?
  /// The record's epoch when the renewal began.
  let epoch: UInt64
  /// The store's ``TokenStore/identity()`` when the renewal began.
  let store: String
  /// The subject of their user; nil where it is not known.
  let user: String?
  /// Server's clock minus the device's, seconds; nil where the answer did not tell.
  var clockOffset: Int64?
  /// The scopes that the provider took from the session because it was asked for a token for an audience.
  var scopesLost: [String] = []
  /// Whether the refresh token turned out to be bound to the resource of an audience.
  var isBound = false
  /// Whether the access token is a new one.
  var hasNewAccessToken = true
  /// Whether the unproven id_token came with this answer; else an earlier answer brought it.
  let bringsIDToken: Bool
  /// The id_token that decides about the tokens (R27).
  let idTokenToJudge: Secret?

  /// All that an answer brought; its access token is left out where its id_token, proven or not, is another session's
  /// (R27). An earlier answer says nothing about this one.
  init(_ response: TokenResponse, of renewal: Renewal, sent: Moment, clockOffset: Int64?) {
    let (session, audience) = (renewal.session, renewal.audience)
    replaced = session.tokens
    self.audience = audience
    epoch = renewal.epoch
    store = renewal.store
    user = session.subject
    self.clockOffset = clockOffset
    bringsIDToken = response.idToken != nil
    let contradicting = response.idToken.flatMap { session.contradiction(in: $0) == nil ? nil : $0 }
    if contradicting != nil {
      var kept = session.tokens
      kept.refreshToken = response.refreshToken ?? kept.refreshToken
      kept.refreshExpiry = response.refreshExpiry(at: sent)
      if audience == nil { kept.unprovenIDToken = contradicting }
      tokens = kept
      hasNewAccessToken = false
    } else if let audience {
      tokens = response.tokenSet(
        beside: session.tokens, for: audience, epoch: renewal.epoch &+ 1,
        withoutExpirySeconds: session.withoutExpirySeconds, at: sent)
    } else {
      tokens = response.tokenSet(
        renewing: session.tokens, withoutExpirySeconds: session.withoutExpirySeconds, at: sent)
      scopesLost = session.tokens.scopesLost(to: response.scopes, at: renewal.epoch)
      isBound = session.tokens.isBound(by: response.accessToken, at: renewal.epoch)
    }
    idTokenToJudge = audience == nil ? tokens.unprovenIDToken : contradicting
  }

  /// Nothing but a new refresh token.
  init(refreshToken: Secret, of renewal: Renewal) {
    var kept = renewal.session.tokens
    kept.refreshToken = refreshToken
    kept.refreshExpiry = nil
    tokens = kept
    replaced = renewal.session.tokens
    audience = renewal.audience
    epoch = renewal.epoch
    store = renewal.store
    user = renewal.session.subject
    bringsIDToken = false
    idTokenToJudge = audience == nil ? kept.unprovenIDToken : nil
    hasNewAccessToken = false
  }
}

extension Engine {
  /// How often one renewal tries to store what it got, and how long it pauses between two tries: a disk that is in
  /// trouble for a moment costs nobody a session, and no other process sends the spent token meanwhile.
  static let savesPerRenewal = 6
  static let pauseBetweenSaves: Int64 = 200_000_000

  /// After a logout meanwhile, revoked and not stored (R35). Where another store has taken the place of the one in which the
  /// renewal began, nobody has signed out: the tokens wait in memory for it.
  func keep(_ renewed: RenewedTokens) throws(EnrollError) -> RenewalResult {
    memory.withLock { $0.unsaved = renewed }
    // Until they are saved the refresh token on the disk is spent: no other process may send it.
    store.keepTurn(account, true)
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
    forgetUnsaved()
    guard let epoch else {
      revokeUnkept([UnkeptTokens(renewed.tokens, user: renewed.user)])
      sendOutbox(cancellation: nil)
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

  /// The tokens that an earlier renewal of this process could not store, and for whom they are.
  /// - Returns: nil when there is no such thing, or it came too late.
  func keepUnsaved(
    replacing epoch: UInt64
  ) throws(EnrollError) -> (result: RenewalResult, audience: TokenAudience?)? {
    guard let renewed = memory.withLock({ $0.unsaved }) else { return nil }
    if renewed.epoch == epoch { return (try keep(renewed), renewed.audience) }
    forgetUnsaved()
    return nil
  }

  /// They are saved, or nobody's any more: the next turn is anybody's.
  public func forgetUnsaved() {
    memory.withLock { $0.unsaved = nil }
    store.keepTurn(account, false)
  }

  /// Whether an earlier renewal brought what is not stored yet.
  public var hasUnsaved: Bool { memory.withLock { $0.unsaved != nil } }

  /// Another try for what an earlier renewal could not store.
  /// - Throws: why the store does not take it; what came of it once it is stored.
  public func storeUnsaved() throws(EnrollError) {
    if let renewed = memory.withLock({ $0.unsaved }) { _ = try keep(renewed) }
  }

  /// Saves what a renewal brought, several times if need be: the refresh token on the disk is spent.
  func stubbornly<Result>(_ save: () throws(EnrollError) -> Result) throws(EnrollError) -> Result {
    var tries = 1
    while true {
      do throws(EnrollError) {
        return try save()
      } catch {
        // The timeout for a busy lock has passed already.
        guard tries < Self.savesPerRenewal, error.code != .busy else { throw error }
        tries += 1
        clock.sleep(until: clock.instant().advanced(byNanoseconds: Self.pauseBetweenSaves))
      }
    }
  }

  /// That the session is not in the store any more says something about the user only in the store in which it was.
  /// - Throws: `.storeIO` where that is another one by now.
  func requireSame(store identity: String) throws(EnrollError) {
    guard try store.identity() != identity else { return }
    throw EnrollError(
      .storeIO,
      "another store has taken the place of the one in which the session is; restore that one, or sign in again",
      field: "store")
  }

  /// - Returns: the epoch under which they stand; nil when other tokens took their place, or a logout.
  private func save(_ renewed: RenewedTokens) throws(EnrollError) -> UInt64? {
    var epoch: UInt64?
    try store.update(account) { record throws(EnrollError) in
      // A save that failed in its last step may have taken place, and is made again to be sure of it.
      guard record.tokenEpoch == renewed.epoch || record.confirmed == renewed.tokens else { return }
      record.confirmed = renewed.tokens
      if renewed.audience == nil { record.advanceEpoch() } else { record.advanceEpochBesideAccess() }
      record.renewalIntent = nil
      record.refusal = nil
      if renewed.hasNewAccessToken { record.backoff = nil }
      record.learnClockOffset(renewed.clockOffset)
      keepNonces(in: &record)
      epoch = record.tokenEpoch
    }
    return epoch
  }
}
