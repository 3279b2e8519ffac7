// The id_token that a renewal brought, held against the session that it is to continue (R27; OpenID Connect Core §12.2). The
// tokens are on disk by then; what is found here decides which of them are used.

import EnrollCrypto
import EnrollJSON

extension Engine {
  /// Carries out the verdict on the id_token that the session's tokens hold unproven: one that came with this renewal, or
  /// one that an earlier renewal could not prove.
  func judgeIDToken(of renewed: RenewedTokens, epoch: UInt64) throws(EnrollError) -> RenewalResult {
    guard let idToken = renewed.idTokenToJudge, let record = try store.read(account) else {
      return .renewed
    }
    let session = SessionIdentity(renewed.tokens, profile: record.profile, configuration)
    let finding = examine(idToken, of: session, clockOffset: record.serverClock.offsetSeconds ?? 0)
    if finding.isRefuted, !renewed.bringsIDToken {
      try forget(idToken, epoch: epoch)
      return .renewed
    }
    switch RenewalJudgement.verdict(shows: finding.shows, isProven: finding.isProven) {
    case .adopted, .keptApart:
      // What comes with a token for another audience proves the session, and takes the place of nothing.
      if renewed.audience == nil, let proven = finding.token {
        try adopt(proven, of: renewed, as: idToken, epoch: epoch)
      }
      return .renewed
    case .withheld:
      // The newest answer decides: the id_token of an earlier one does not withhold what came without it.
      guard renewed.bringsIDToken else { return .renewed }
      return .unavailable(
        EnrollError(
          .idTokenInvalid,
          "the renewed id_token has another \(finding.claim) than the session, and its signature is not proven: "
            + "its access token is not used"))
    case .ends:
      // The tokens of this answer are another user's: what is revoked at a sign-out is the session's own.
      return try endSession(
        "the renewed id_token has another \(finding.claim) than the session", epoch: epoch,
        restoring: renewed.bringsIDToken ? renewed.replaced : nil)
    }
  }

  /// The result of checking an id_token.
  struct IDTokenFinding {
    var shows: RenewedIDTokenShows
    /// Whether a key of the issuer's made the signature.
    var isProven = false
    /// Whether no key of the issuer's can have made it: it proves nothing about anybody. Where the keys are out of reach
    /// neither this nor the other is known.
    var isRefuted = false
    /// The claim that shows another session.
    var claim = ""
    /// The whole token, where every rule holds.
    var token: IDToken?
  }

  func examine(_ idToken: Secret, of session: SessionIdentity, clockOffset: Int64) -> IDTokenFinding {
    let claim = session.contradiction(in: idToken)
    guard let unverified = try? IDToken.Unverified(signatureOf: idToken) else {
      return IDTokenFinding(
        shows: claim == nil ? .unreadable : .anotherSession, isRefuted: true, claim: claim ?? "")
    }
    let expected = IDTokenExpectations(
      issuer: configuration.issuer, tenants: configuration.tenants, clientID: configuration.clientID,
      accessToken: session.tokens.accessToken, now: clock.wallTime() + clockOffset,
      algorithms: configuration.idTokenAlgorithms, previous: session.tokens.identity)
    let signed: IDToken.Signed
    do throws(EnrollError) {
      signed = try provider.prove(unverified, algorithms: expected.algorithms, cancellation: nil)
    } catch {
      return IDTokenFinding(
        shows: claim != nil ? .anotherSession : unverified.isReadable ? .sameSession : .unreadable,
        isRefuted: error.code == .idTokenInvalid,
        claim: claim ?? "")
    }
    if let claim { return IDTokenFinding(shows: .anotherSession, isProven: true, claim: claim) }
    guard !session.hasOtherNonce(than: idToken), let token = try? signed.checked(against: expected) else {
      return IDTokenFinding(shows: .defect, isProven: true)
    }
    return IDTokenFinding(shows: .sameSession, isProven: true, token: token)
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
      // Some providers say it once only.
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
