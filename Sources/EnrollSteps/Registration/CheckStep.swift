// The registration check: before the states `valid` (B), `renewed` (C) and `confirmed` (H) the host's back end can be
// asked whether it knows the user (flows.md §7, Check registration). Before `confirmed` the configuration can also
// require a verified e-mail address. After a 401 the tokens are renewed once and the back end is asked again; after a
// second 401 the state is `renewalFailed` (E), and the tokens are kept. If the back end cannot be reached, a session
// does not change. For tokens that wait for confirmation, an outage, a 401 or an unknown account prevents the
// confirmation only if the configuration requires the check; otherwise it is only reported.

import EnrollCrypto
import EnrollJSON
public import EnrollRules

/// Runs the registration check.
public final class CheckStep: StateChangingStep {
  let context: EngineContext
  let machine: StateMachine
  private let checkProgress: CheckProgress
  private let renewals: RenewalProgress
  private let requests: ClientRequests
  private let userinfo: UserinfoStep
  private let backEnd: BackEndStep
  private let outbox: OutboxStep
  private let revocations: RevocationStep
  private let renewal: RenewalStep
  private let renewedTokens: RenewedTokensStep

  init(
    _ context: EngineContext, machine: StateMachine, checkProgress: CheckProgress, renewals: RenewalProgress,
    requests: ClientRequests, userinfo: UserinfoStep, backEnd: BackEndStep, outbox: OutboxStep,
    revocations: RevocationStep, renewal: RenewalStep, renewedTokens: RenewedTokensStep
  ) {
    self.context = context
    self.machine = machine
    self.checkProgress = checkProgress
    self.renewals = renewals
    self.requests = requests
    self.userinfo = userinfo
    self.backEnd = backEnd
    self.outbox = outbox
    self.revocations = revocations
    self.renewal = renewal
    self.renewedTokens = renewedTokens
  }

  /// The number of seconds after which a back end that could not be reached is asked again.
  static let checkPauseSeconds: Int64 = 60

  private enum Outcome {
    case passed
    case unknown
    case refused(EnrollError)
    case mismatched(EnrollError)
    case unavailable(EnrollError)
  }

  // MARK: The check of the session (before `valid` and `renewed`)

  /// The state if a check must run or has failed; nil if no check is required, or it has passed or is postponed.
  func storedState(epoch: UInt64) -> StoredState? {
    guard context.requiresCheck else { return nil }
    let now = clock.instant()
    let check = checkProgress.state
    let state = state
    switch check {
    case .passed(epoch): return nil
    case .postponed(epoch, let until) where now < until: return nil
    case .refused(epoch) where state.kind == .renewalFailed || state.kind == .registrationFailed:
      return .known(state)
    case .none, .passed, .postponed, .refused, .provisionalRefused: return .needsCheck
    }
  }

  /// Runs the check for the confirmed session, and moves to `valid` (B), `renewed` (C), `renewalFailed` (E) or
  /// `registrationFailed` (F).
  /// - Throws: the errors of the store; `.cancelled`.
  public func checkSession(cancellation: (any Cancellation)?) throws(EnrollError) -> RegistrationState {
    guard let record = try store.read(account), let tokens = record.confirmed else { return state }
    var (epoch, usable) = (record.accessEpoch ?? record.tokenEpoch, tokens)
    var outcome = ask(with: tokens, about: record.profile, cancellation)
    if case .refused = outcome {
      _ = try renewal.renew(epochs: [epoch], forced: true)
      if let renewed = try store.read(account), let tokens = renewed.confirmed,
        let renewedEpoch = renewed.epoch(for: nil), renewedEpoch != epoch, renewed.sessionEnded == nil
      {
        (epoch, usable) = (renewedEpoch, tokens)
        outcome = ask(with: tokens, about: renewed.profile, cancellation)
      }
    }
    if cancellation?.isCancelled ?? false { throw EnrollError(.cancelled, "the call was cancelled") }
    return conclude(outcome, epoch: epoch, isTokenUsable: usable.isUsable(at: clock.moment()))
  }

  private func conclude(_ outcome: Outcome, epoch: UInt64, isTokenUsable: Bool) -> RegistrationState {
    let isRenewed = renewals.hasRenewed(epoch)
    let stands: RegistrationEvent = isRenewed ? .tokenRenewed : .tokenValid
    switch outcome {
    case .passed: return settleCheck(.passed(epoch: epoch), stands)
    case .unavailable(let error):
      backEnd.report(error)
      let until = clock.instant().advanced(bySeconds: Self.checkPauseSeconds)
      return settleCheck(.postponed(epoch: epoch, until: until), stands)
    case .mismatched(let error):
      backEnd.report(error)
      return settleCheck(.refused(epoch: epoch), .checkMismatched(error))
    case .unknown:
      let error = Self.unknownAccount
      backEnd.report(error)
      return settleCheck(.refused(epoch: epoch), .checkRefused(.registerAgain(error, isTokenUsable)))
    case .refused(let error):
      backEnd.report(error)
      return settleCheck(.refused(epoch: epoch), .checkRefused(.registerAgain(error, isTokenUsable)))
    }
  }

  /// Applies the check's result. No effect if a logout or a transaction has made `event` illegal in the meantime.
  private func settleCheck(_ check: CheckState, _ event: RegistrationEvent) -> RegistrationState {
    checkProgress.note(check)
    return (try? apply(event)) ?? state
  }

  // MARK: The check of unconfirmed tokens (before `confirmed`)

  /// Checks the conditions for the user's confirmation. The caller reports every failure; the transitions to
  /// `registrationFailed` (F) and `renewalFailed` (E) happen here.
  /// - Returns: the tokens and the profile that passed.
  /// - Throws: `.emailNotVerified`, and, if the configuration requires the check, `.unknownAccount` or the error of an
  ///   outage: the state stays `awaitingConfirmation` (G). `.profileMismatch`: the tokens are dropped, and the state is
  ///   `registrationFailed`. If the check is required, `.oauth` after a 401: the state is `renewalFailed`.
  func passGates(
    _ record: AccountRecord, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> (TokenSet, JSONObject?) {
    guard var tokens = record.provisional else {
      throw EnrollError(.illegalState, "no tokens wait for confirmation; another process settled them")
    }
    var profile = record.provisionalProfile
    if configuration.requireVerifiedEmail {
      profile = try requireVerifiedEmail(profile, tokens, cancellation)
    }
    guard configuration.registrationCheckURI != nil else { return (tokens, profile) }
    var outcome = ask(with: tokens, about: profile, cancellation)
    if case .refused = outcome, let renewed = try renewProvisional(tokens) {
      tokens = renewed
      outcome = ask(with: tokens, about: profile, cancellation)
    }
    switch outcome {
    case .passed: return (tokens, profile)
    case .mismatched(let error):
      try dropProvisional()
      try apply(.checkMismatched(error))
      throw error
    case .unknown:
      let error = Self.unknownAccount
      guard configuration.requireCheck else {
        backEnd.report(error)
        return (tokens, profile)
      }
      throw error
    case .unavailable(let error):
      if cancellation?.isCancelled ?? false { throw EnrollError(.cancelled, "the call was cancelled") }
      guard configuration.requireCheck else {
        backEnd.report(error)
        return (tokens, profile)
      }
      throw error
    case .refused(let error):
      guard configuration.requireCheck else {
        backEnd.report(error)
        return (tokens, profile)
      }
      checkProgress.note(.provisionalRefused)
      try apply(.checkRefused(.registerAgain(error, tokens.isUsable(at: clock.moment()))))
      throw error
    }
  }

  /// Requires that the address is verified by the id_token's claims, or else by those of userinfo: the user may have
  /// verified the address after the id_token was issued.
  private func requireVerifiedEmail(
    _ profile: JSONObject?, _ tokens: TokenSet, _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> JSONObject? {
    if profile?.hasVerifiedEmail ?? false { return profile }
    let told = try userinfo.fetchUserinfo(
      with: tokens, subject: tokens.identity?.subject ?? profile?["sub"]?.string, cancellation: cancellation)
    if let told, told.hasVerifiedEmail, let email = told["email"]?.string {
      let shown = profile?["email"]?.string
      if shown.map({ ASCII.equalsIgnoringCase($0, email) }) ?? true {
        var completed = profile ?? JSONObject()
        completed["email"] = .string(email)
        completed["email_verified"] = .bool(true)
        return completed
      }
    }
    throw EnrollError(
      .emailNotVerified, "a verified e-mail address is required, the provider has none for this user",
      field: "email_verified")
  }

  private func dropProvisional() throws(EnrollError) {
    let others = context.usersBesideDroppedProvisional()
    try store.update(account) { record throws(EnrollError) in
      let dropped = UnkeptTokens(record.provisional, record.provisionalProfile)
      record.dropProvisional()
      revocations.revokeUnkept([dropped], beside: others.adding(record, at: clock.moment()))
    }
    outbox.sendOutbox(cancellation: nil)
  }

  /// Renews the tokens that wait for confirmation, because their access token may have expired while the user was away.
  /// Each check renews at most once. No other process renews meanwhile, and the tokens are stored before use (R30).
  /// - Returns: nil if there are no new tokens.
  private func renewProvisional(_ tokens: TokenSet) throws(EnrollError) -> TokenSet? {
    guard let refreshToken = tokens.refreshToken, let epoch = try store.read(account)?.tokenEpoch,
      let metadata = try? provider.metadata(cancellation: nil)
    else { return nil }
    var renewed: TokenSet?
    _ = try store.withRenewalLock(
      account, epoch: epoch, deadline: clock.instant().advanced(bySeconds: RenewalStep.lockTimeoutSeconds),
      cancellation: closing
    ) { () throws(EnrollError) in
      guard let present = try store.read(account)?.provisional else { return }
      guard present.refreshToken == refreshToken else {
        renewed = present
        return
      }
      // Detects a full disk before the refresh token is sent.
      try store.reserveSpace(account)
      renewed = try sendRefresh(refreshToken, of: tokens, metadata)
    }
    return renewed
  }

  private func sendRefresh(
    _ refreshToken: Secret, of tokens: TokenSet, _ metadata: ProviderMetadata
  ) throws(EnrollError) -> TokenSet? {
    let identity = try store.identity()
    let hash = try context.hash(refreshToken)
    let record = try store.update(account) { record throws(EnrollError) in
      record.sentRefreshTokens.add(hash)
    }
    guard record.provisional?.refreshToken == refreshToken else { return nil }
    var replay = ReplayCheck(serverTime: context.knownServerTime())
    let sent = clock.moment()
    let request = TokenRequest.refresh(
      refreshToken: refreshToken, configuration: configuration, metadata: metadata)
    guard
      let http = try? requests.sendAsClient(
        request, of: metadata, provenBy: tokens.dpopKey, cancellation: nil)
    else { return nil }
    let answer = RefreshAnswer(processing: http, binding: requests.binding(tokens.dpopKey))
    let session = SessionIdentity(tokens, profile: record.provisionalProfile, configuration)
    guard renewal.replayed(answer, http, session, record.sentRefreshTokens, &replay) == nil else {
      return nil
    }
    var fresh = tokens
    var hasNewAccessToken = true
    switch answer {
    case .tokens(let response):
      fresh = response.tokenSet(
        renewing: tokens, withoutExpirySeconds: configuration.withoutExpirySeconds, at: sent)
    // Only this response's refresh token is used: the next renewal sends it (R30).
    case .rotatedOnly(let rotated, _): (fresh.refreshToken, hasNewAccessToken) = (rotated, false)
    case .refused: return nil
    }
    let isKept = try renewedTokens.stubbornly { () throws(EnrollError) in
      let isKept = try replaceProvisional(refreshToken, by: fresh)
      if !isKept { try renewedTokens.requireSame(store: identity) }
      return isKept
    }
    // The user logged out or tried again meanwhile, so the new tokens are revoked (R35).
    guard isKept else {
      revocations.revokeUnkept([UnkeptTokens(fresh, user: fresh.identity?.subject)])
      return nil
    }
    return hasNewAccessToken ? try judgeProvisional(fresh) : nil
  }

  /// - Returns: whether `fresh` was stored: false if the record no longer has the tokens with this refresh token.
  private func replaceProvisional(_ refreshToken: Secret, by fresh: TokenSet) throws(EnrollError) -> Bool {
    var isKept = false
    try store.update(account) { record throws(EnrollError) in
      // An earlier save that failed in its last step may still have been written. The save is repeated to make sure.
      guard record.provisional?.refreshToken == refreshToken || record.provisional == fresh else { return }
      record.provisional = fresh
      isKept = true
    }
    return isKept
  }

  /// Checks the id_token from a renewal of unconfirmed tokens. An id_token of another user ends the sign-in, even if it
  /// is unverified: otherwise the user would confirm tokens of a person whose profile was never shown.
  private func judgeProvisional(_ fresh: TokenSet) throws(EnrollError) -> TokenSet {
    guard let idToken = fresh.unprovenIDToken, let record = try store.read(account) else { return fresh }
    let session = SessionIdentity(fresh, profile: record.provisionalProfile, configuration)
    let finding = renewedTokens.examine(
      idToken, of: session, clockOffsets: [record.serverClock.offsetSeconds ?? 0])
    switch RenewalJudgement.verdict(shows: finding.shows, isProven: finding.isProven) {
    case .adopted, .keptApart: return fresh
    case .withheld, .ends:
      let error = EnrollError(
        .idTokenInvalid, "the renewed id_token has another \(finding.claim) than the one before")
      try dropProvisional()
      try apply(.checkMismatched(error))
      throw error
    }
  }

  // MARK: The question

  private static var unknownAccount: EnrollError {
    EnrollError(.unknownAccount, "the registration check knows no account of this user")
  }

  private func ask(
    with tokens: TokenSet, about profile: JSONObject?, _ cancellation: (any Cancellation)?
  ) -> Outcome {
    guard let endpoint = configuration.registrationCheckURI else { return .passed }
    let answer: RegistrationCheck.Answer
    do throws(EnrollError) {
      let request = RegistrationCheck.request(
        endpoint: endpoint, clientID: configuration.clientID, tokens: tokens,
        installationID: try store.installationID(), platform: platform)
      answer = RegistrationCheck.answer(
        try requests.send(
          request, provenBy: tokens.proofKey, accessToken: tokens.accessToken, cancellation: cancellation))
    } catch {
      return .unavailable(error)
    }
    switch answer {
    case .unknownAccount: return .unknown
    case .refused(let error): return .refused(error)
    case .unavailable(let error): return .unavailable(error)
    case .known(let subject, let email):
      do throws(EnrollError) {
        try RegistrationCheck.requireSame(
          subject: subject, email: email, asSubject: tokens.identity?.subject, profile: profile)
        return .passed
      } catch {
        return .mismatched(error)
      }
    }
  }
}

extension JSONObject {
  /// Whether the address is verified (OpenID Connect Core §5.1); some providers write the boolean as a string.
  fileprivate var hasVerifiedEmail: Bool {
    guard let email = self["email"]?.string, !email.utf8.isEmpty else { return false }
    return self["email_verified"]?.bool ?? self["email_verified"]?.string.map { ASCII.equals($0, "true") }
      ?? false
  }
}
