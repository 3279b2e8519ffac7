// What a renewal brought, on its way to the disk: stored first, judged afterwards (R30). While the disk refuses it, it
// stays in memory, and the next renewal begins by storing it: the refresh token on the disk is spent by then.

import EnrollCrypto

/// Tokens that replace others.
struct RenewedTokens: Equatable, Sendable {
  var tokens: TokenSet
  /// Of the tokens that were renewed.
  var epoch: UInt64
  /// Server's clock minus the device's, seconds; nil where the answer did not tell.
  var clockOffset: Int64?
  /// Whether an id_token came with them, which is still to be judged.
  var bringsIDToken: Bool
}

extension Engine {
  /// How often one renewal tries to store what it got, and how long it pauses between two tries: a disk that is in
  /// trouble for a moment costs nobody a session, and no other process sends the spent token meanwhile.
  static let savesPerRenewal = 6
  static let pauseBetweenSaves: Int64 = 200_000_000

  /// After a logout meanwhile, revoked and not stored (R35).
  /// - Parameter isLate: others have had the turn since the answer came.
  func keep(_ renewed: RenewedTokens, isLate: Bool = false) throws(EnrollError) -> RenewalResult {
    memory.withLock { $0.unsaved = renewed }
    // Until they are saved the refresh token on the disk is spent: no other process may send it.
    store.keepTurn(account, true)
    let epoch = try saveStubbornly(renewed)
    forgetUnsaved()
    guard let epoch else {
      // Who renewed since has a session that a revocation of these may end.
      let isSignedOut = try store.read(account)?.confirmed == nil
      if !isLate || isSignedOut {
        revokeLater(renewed.tokens)
        sendOutbox(cancellation: nil)
      }
      return try overtaken()
    }
    return renewed.bringsIDToken ? try judge(renewed.tokens, epoch: epoch) : .renewed
  }

  /// What an earlier renewal of this process could not store.
  /// - Returns: nil when there is no such thing, or it came too late.
  func keepUnsaved(replacing epoch: UInt64) throws(EnrollError) -> RenewalResult? {
    guard let renewed = memory.withLock({ $0.unsaved }) else { return nil }
    if renewed.epoch == epoch { return try keep(renewed, isLate: true) }
    forgetUnsaved()
    return nil
  }

  /// They are saved, or nobody's any more: the next turn is anybody's.
  func forgetUnsaved() {
    memory.withLock { $0.unsaved = nil }
    store.keepTurn(account, false)
  }

  /// The last chance for what an earlier renewal could not store: before the process ends.
  public func keepUnsaved() {
    if let renewed = memory.withLock({ $0.unsaved }) { _ = try? keep(renewed, isLate: true) }
  }

  /// - Returns: the epoch under which they stand; nil when other tokens took their place, or a logout.
  private func saveStubbornly(_ renewed: RenewedTokens) throws(EnrollError) -> UInt64? {
    var tries = 1
    while true {
      do throws(EnrollError) {
        return try save(renewed)
      } catch {
        guard tries < Self.savesPerRenewal else { throw error }
        tries += 1
        clock.sleep(until: clock.instant().advanced(byNanoseconds: Self.pauseBetweenSaves))
      }
    }
  }

  private func save(_ renewed: RenewedTokens) throws(EnrollError) -> UInt64? {
    var epoch: UInt64?
    try store.update(account) { record throws(EnrollError) in
      // A save that failed in its last step may have taken place, and is made again to be sure of it.
      guard record.tokenEpoch == renewed.epoch || record.confirmed == renewed.tokens else { return }
      record.confirmed = renewed.tokens
      record.tokenEpoch &+= 1
      record.renewalIntent = nil
      record.refusal = nil
      record.serverClockOffsetSeconds = renewed.clockOffset ?? record.serverClockOffsetSeconds
      epoch = record.tokenEpoch
    }
    return epoch
  }

  /// The id_token of a renewal must continue the session (R27). A mismatch makes the tokens unusable; keys that cannot
  /// be had do not.
  private func judge(_ tokens: TokenSet, epoch: UInt64) throws(EnrollError) -> RenewalResult {
    guard let idToken = tokens.idToken else { return .renewed }
    let record = try store.read(account)
    do throws(EnrollError) {
      let proven = try provider.verify(
        idToken,
        expecting: IDTokenExpectations(
          issuer: configuration.issuer, clientID: configuration.clientID, accessToken: tokens.accessToken,
          now: clock.wallTime() + (record?.serverClockOffsetSeconds ?? 0),
          algorithms: configuration.idTokenAlgorithms, previous: tokens.identity),
        cancellation: nil)
      try store.update(account) { record throws(EnrollError) in
        guard record.tokenEpoch == epoch else { return }
        record.confirmed?.isVerified = true
        record.confirmed?.identity = tokens.identity ?? proven.facts
        record.profile = proven.claims
      }
      return .renewed
    } catch {
      guard error.code == .idTokenInvalid else { return .renewed }
      let reason = "the renewed id_token does not continue the session: \(error.message)"
      try store.update(account) { record throws(EnrollError) in
        guard record.tokenEpoch == epoch else { return }
        record.sessionEnded = reason
        record.tokenEpoch &+= 1
      }
      return .reauthenticate(reason)
    }
  }
}
