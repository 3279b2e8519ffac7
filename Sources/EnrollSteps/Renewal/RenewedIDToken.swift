// Compares the id_token of a renewal with the session that it continues (R27; OpenID Connect Core §12.2). The tokens
// are already stored; the result of the comparison decides which of them are used.

import EnrollCrypto
import EnrollJSON
import EnrollRules

extension RenewedTokensStep {
  /// Examines the unproven id_token of the session's tokens, and applies the result. That id_token is from this
  /// renewal, or from an earlier renewal that could not verify it.
  func judgeIDToken(of renewed: RenewedTokens, epoch: UInt64) throws(EnrollError) -> RenewalResult {
    guard let idToken = renewed.idTokenToJudge, let record = try store.read(account) else {
      return .renewed
    }
    let session = SessionIdentity(renewed.tokens, profile: record.profile, configuration)
    let known = record.serverClock.offsetSeconds ?? 0
    // If this device's clock was changed, the known difference between the clocks applies until the next response
    // confirms another difference.
    let answered = renewed.bringsIDToken ? renewed.clockOffset : nil
    let finding = examine(idToken, of: session, clockOffsets: [known] + (answered.map { [$0] } ?? []))
    if finding.isRefuted, !renewed.bringsIDToken {
      try forget(idToken, epoch: epoch)
      return .renewed
    }
    switch RenewalJudgement.verdict(shows: finding.shows, isProven: finding.isProven) {
    case .adopted, .keptApart:
      // An id_token that comes with a token for an audience is checked, but replaces nothing.
      if renewed.audience == nil, let proven = finding.token {
        try adopt(proven, of: renewed, as: idToken, epoch: epoch)
      }
      return .renewed
    case .withheld:
      // The newest response decides. If it came without an id_token, its tokens are not withheld because of the
      // id_token of an earlier response.
      guard renewed.bringsIDToken else { return .renewed }
      return .unavailable(
        EnrollError(
          .idTokenInvalid,
          "the renewed id_token has another \(finding.claim) than the session, and its signature is not proven: "
            + "its access token is not used"))
    case .ends:
      // The tokens of this response belong to another user. The record gets the session's own tokens back, so that a
      // sign-out revokes the session's own tokens.
      return try endSession(
        "the renewed id_token has another \(finding.claim) than the session", epoch: epoch,
        restoring: renewed.bringsIDToken ? renewed.replaced : nil)
    }
  }

  /// The result of checking an id_token.
  struct IDTokenFinding {
    var shows: RenewedIDTokenShows
    /// Whether the signature was verified with a key of the issuer.
    var isProven = false
    /// Whether no key of the issuer can have made the signature, so that the token proves nothing. If the keys cannot
    /// be fetched, both ``isProven`` and ``isRefuted`` are false.
    var isRefuted = false
    /// The name of the claim that shows that the id_token belongs to another session; empty if no claim shows that.
    var claim = ""
    /// The verified token, if every rule holds.
    var token: IDToken?
  }

  /// - Parameter clockOffsets: the possible offsets of the server's clock from this machine's, in seconds. The token
  ///   must be valid with one of these offsets.
  func examine(
    _ idToken: Secret, of session: SessionIdentity, clockOffsets: [Int64]
  ) -> IDTokenFinding {
    let claim = session.contradiction(in: idToken)
    guard let unverified = try? IDToken.Unverified(signatureOf: idToken) else {
      return IDTokenFinding(
        shows: claim == nil ? .unreadable : .anotherSession, isRefuted: true, claim: claim ?? "")
    }
    let now = clock.wallTime()
    var expected = IDTokenExpectations(
      issuer: configuration.issuer, tenants: configuration.tenants, clientID: configuration.clientID,
      accessToken: session.tokens.accessToken, now: now,
      algorithms: context.idTokenAlgorithms, previous: session.tokens.identity)
    let signed: IDToken.Signed
    do throws(EnrollError) {
      signed = try provider.prove(
        unverified, algorithms: expected.algorithms, isOldGood: true, cancellation: nil)
    } catch {
      return IDTokenFinding(
        shows: claim != nil ? .anotherSession : unverified.isReadable ? .sameSession : .unreadable,
        isRefuted: error.code == .idTokenInvalid,
        claim: claim ?? "")
    }
    if let claim { return IDTokenFinding(shows: .anotherSession, isProven: true, claim: claim) }
    if !session.hasOtherNonce(than: idToken) {
      for offset in clockOffsets {
        expected.now = now + offset
        if let token = try? signed.checked(against: expected) {
          return IDTokenFinding(shows: .sameSession, isProven: true, token: token)
        }
      }
    }
    return IDTokenFinding(shows: .defect, isProven: true)
  }

  private func forget(_ refuted: Secret, epoch: UInt64) throws(EnrollError) {
    try store.update(account) { record throws(EnrollError) in
      guard record.tokenEpoch == epoch, record.confirmed?.unprovenIDToken == refuted else { return }
      record.confirmed?.unprovenIDToken = nil
    }
  }

  private func adopt(
    _ proven: IDToken, of renewed: RenewedTokens, as idToken: Secret, epoch: UInt64
  ) throws(EnrollError) {
    try store.update(account) { record throws(EnrollError) in
      guard record.tokenEpoch == epoch else { return }
      var facts = proven.facts
      // Some providers send `auth_time` only once.
      facts.authTime = facts.authTime ?? record.confirmed?.identity?.authTime
      record.confirmed?.idToken = idToken
      record.confirmed?.unprovenIDToken = nil
      record.confirmed?.identity = facts
      record.profile = SentSecrets(
        of: renewed.tokens, and: renewed.replaced, clientSecret: configuration.clientSecret
      ).hidden(inClaims: proven.claims)
        .keeping(record.profile, scopes: renewed.tokens.scopes)
    }
  }
}
