// Before B, C and H the host's back end can be asked whether it knows the user (flows.md §7, Check registration), and
// before H an e-mail address can have to be verified. A 401 brings one renewal and one more question, then E with the
// tokens kept. An outage changes nothing: a session that stands goes on standing, and tokens that wait for confirmation
// go on waiting.

import EnrollCrypto
import EnrollJSON

/// The state of the check of the confirmed tokens, as this process knows it.
enum CheckStanding: Equatable, Sendable {
  case none
  case passed(epoch: UInt64)
  /// Could not be asked; asked again from then on.
  case postponed(epoch: UInt64, until: Instant)
  /// E or F, until somebody tries again.
  case refused(epoch: UInt64)
  /// The same of tokens that wait for confirmation.
  case provisionalRefused
}

extension Engine {
  /// An unreachable back end is asked again after so long.
  static let checkPauseSeconds: Int64 = 60

  /// Whether B and C depend on the check.
  var requiresCheck: Bool { configuration.requireCheck && configuration.registrationCheckURI != nil }

  private enum Verdict {
    case passed
    case unknown
    case refused(EnrollError)
    case mismatched(EnrollError)
    case unavailable(EnrollError)
  }

  // MARK: B and C

  /// Whether a check must run, or has failed, before the store's fresh tokens count; nil if they count now.
  func checkStanding(epoch: UInt64) -> Standing? {
    guard requiresCheck else { return nil }
    let now = clock.instant()
    let (check, state) = memory.withLock { ($0.check, $0.state) }
    switch check {
    case .passed(epoch): return nil
    case .postponed(epoch, let until) where now < until: return nil
    case .refused(epoch) where state.kind == .renewalFailed || state.kind == .registrationFailed:
      return .known(state)
    case .none, .passed, .postponed, .refused, .provisionalRefused: return .needsCheck
    }
  }

  /// Asks about the confirmed session, and moves to B, C, E or F.
  /// - Throws: store errors.
  public func checkSession(cancellation: (any Cancellation)?) throws(EnrollError) -> RegistrationState {
    guard let record = try store.read(account), let tokens = record.confirmed else { return state }
    var (epoch, usable) = (record.accessEpoch ?? record.tokenEpoch, tokens)
    var verdict = ask(with: tokens, about: record.profile, cancellation)
    if case .refused = verdict {
      _ = try renew(epochs: [epoch], forced: true)
      if let renewed = try store.read(account), let tokens = renewed.confirmed,
        let renewedEpoch = renewed.epoch(for: nil), renewedEpoch != epoch, renewed.sessionEnded == nil
      {
        (epoch, usable) = (renewedEpoch, tokens)
        verdict = ask(with: tokens, about: renewed.profile, cancellation)
      }
    }
    if cancellation?.isCancelled ?? false { throw EnrollError(.cancelled, "the call was cancelled") }
    return conclude(verdict, epoch: epoch, isTokenUsable: usable.isUsable(at: clock.moment()))
  }

  /// After a renewal: C is reached once the check was asked.
  public func checkIfNeeded(cancellation: (any Cancellation)? = nil) {
    guard requiresCheck, case .needsCheck? = try? standing() else { return }
    _ = try? checkSession(cancellation: cancellation)
  }

  private func conclude(_ verdict: Verdict, epoch: UInt64, isTokenUsable: Bool) -> RegistrationState {
    let isRenewed = memory.withLock { $0.renewedEpoch == epoch }
    let stands: RegistrationEvent = isRenewed ? .tokenRenewed : .tokenValid
    switch verdict {
    case .passed: return settleCheck(.passed(epoch: epoch), stands)
    case .unavailable(let error):
      report(error)
      let until = clock.instant().advanced(bySeconds: Self.checkPauseSeconds)
      return settleCheck(.postponed(epoch: epoch, until: until), stands)
    case .mismatched(let error):
      report(error)
      return settleCheck(.refused(epoch: epoch), .checkMismatched(error))
    case .unknown:
      let error = Self.unknownAccount
      report(error)
      return settleCheck(.refused(epoch: epoch), .checkRefused(.registerAgain(error, isTokenUsable)))
    case .refused(let error):
      report(error)
      return settleCheck(.refused(epoch: epoch), .checkRefused(.registerAgain(error, isTokenUsable)))
    }
  }

  /// A state that moved on meanwhile, by a logout or a transaction, stays where it is.
  private func settleCheck(_ check: CheckStanding, _ event: RegistrationEvent) -> RegistrationState {
    memory.withLock { $0.check = check }
    return (try? apply(event)) ?? state
  }

  // MARK: H

  /// Checks the conditions for the user's confirmation. The caller reports every failure; F and E are reached here.
  /// - Returns: the tokens and the profile that passed.
  /// - Throws: `.emailNotVerified`, `.unknownAccount`, an outage: the state stays G. `.profileMismatch`: the tokens are
  ///   dropped, the state is F. `.oauth`: the access token is not taken, the state is E.
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
    var verdict = ask(with: tokens, about: profile, cancellation)
    if case .refused = verdict, let renewed = try renewProvisional(tokens) {
      tokens = renewed
      verdict = ask(with: tokens, about: profile, cancellation)
    }
    switch verdict {
    case .passed: return (tokens, profile)
    case .mismatched(let error):
      try dropProvisional()
      try apply(.checkMismatched(error))
      throw error
    case .unknown:
      let error = Self.unknownAccount
      guard configuration.requireCheck else {
        report(error)
        return (tokens, profile)
      }
      throw error
    case .unavailable(let error):
      if cancellation?.isCancelled ?? false { throw EnrollError(.cancelled, "the call was cancelled") }
      guard configuration.requireCheck else {
        report(error)
        return (tokens, profile)
      }
      throw error
    case .refused(let error):
      guard configuration.requireCheck else {
        report(error)
        return (tokens, profile)
      }
      memory.withLock { $0.check = .provisionalRefused }
      try apply(.checkRefused(.registerAgain(error, tokens.isUsable(at: clock.moment()))))
      throw error
    }
  }

  /// The id_token's word, else userinfo's: an address that was verified since the id_token was made counts.
  private func requireVerifiedEmail(
    _ profile: JSONObject?, _ tokens: TokenSet, _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> JSONObject? {
    if profile?.hasVerifiedEmail ?? false { return profile }
    let told = try fetchUserinfo(
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
    let others = usersOfOtherAccounts()
    try store.update(account) { record throws(EnrollError) in
      let dropped = UnkeptTokens(record.provisional, record.provisionalProfile)
      record.dropProvisional()
      revokeUnkept([dropped], beside: others.adding(record, at: clock.moment()))
    }
    sendOutbox(cancellation: nil)
  }

  /// One renewal of tokens that wait for confirmation: their access token may have ended while the user was away.
  /// Alone among all processes, and stored before it is used (R30).
  /// - Returns: nil when it did not come to new tokens.
  private func renewProvisional(_ tokens: TokenSet) throws(EnrollError) -> TokenSet? {
    guard let refreshToken = tokens.refreshToken, let epoch = try store.read(account)?.tokenEpoch,
      let metadata = try? provider.metadata(cancellation: nil)
    else { return nil }
    var renewed: TokenSet?
    _ = try store.renewalTurn(
      account, epoch: epoch, deadline: clock.instant().advanced(bySeconds: Self.turnTimeoutSeconds),
      cancellation: closing
    ) { () throws(EnrollError) in
      guard let present = try store.read(account)?.provisional else { return }
      guard present.refreshToken == refreshToken else {
        renewed = present
        return
      }
      // A full disk shows now, before the refresh token is spent.
      try store.reserveSpace(account)
      renewed = try sendRefresh(refreshToken, of: tokens, metadata)
    }
    return renewed
  }

  private func sendRefresh(
    _ refreshToken: Secret, of tokens: TokenSet, _ metadata: ProviderMetadata
  ) throws(EnrollError) -> TokenSet? {
    let identity = try store.identity()
    let hash = try hash(refreshToken)
    let record = try store.update(account) { record throws(EnrollError) in
      record.sentRefreshTokens.add(hash)
    }
    guard record.provisional?.refreshToken == refreshToken else { return nil }
    var replay = ReplayCheck(serverTime: knownServerTime())
    let sent = clock.moment()
    let request = TokenRequest.refresh(
      refreshToken: refreshToken, configuration: configuration, metadata: metadata)
    guard let http = try? send(request, provenBy: tokens.dpopKey, cancellation: nil) else { return nil }
    let answer = RefreshAnswer(processing: http, binding: binding(tokens.dpopKey))
    let session = SessionIdentity(tokens, profile: record.provisionalProfile, configuration)
    guard replayed(answer, http, session, record.sentRefreshTokens, &replay) == nil else { return nil }
    var fresh = tokens
    var hasNewAccessToken = true
    switch answer {
    case .tokens(let response):
      fresh = response.tokenSet(
        renewing: tokens, withoutExpirySeconds: configuration.withoutExpirySeconds, at: sent)
    // Of no use but for its refresh token, which the next renewal spends (R30).
    case .rotatedOnly(let rotated, _): (fresh.refreshToken, hasNewAccessToken) = (rotated, false)
    case .refused: return nil
    }
    let isKept = try stubbornly { () throws(EnrollError) in
      let isKept = try replaceProvisional(refreshToken, by: fresh)
      if !isKept { try requireSame(store: identity) }
      return isKept
    }
    // Logged out or tried again meanwhile (R35).
    guard isKept else {
      revokeUnkept([UnkeptTokens(fresh, user: fresh.identity?.subject)])
      return nil
    }
    return hasNewAccessToken ? try judgeProvisional(fresh) : nil
  }

  /// - Returns: false when other tokens took the place of those with that refresh token.
  private func replaceProvisional(_ refreshToken: Secret, by fresh: TokenSet) throws(EnrollError) -> Bool {
    var isKept = false
    try store.update(account) { record throws(EnrollError) in
      // A save that failed in its last step may have taken place, and is made again to be sure of it.
      guard record.provisional?.refreshToken == refreshToken || record.provisional == fresh else { return }
      record.provisional = fresh
      isKept = true
    }
    return isKept
  }

  /// The id_token that a renewal of unconfirmed tokens brought. Another user's, proven or not, ends the attempt: the next yes
  /// of the user would take tokens unseen.
  private func judgeProvisional(_ fresh: TokenSet) throws(EnrollError) -> TokenSet {
    guard let idToken = fresh.unprovenIDToken, let record = try store.read(account) else { return fresh }
    let session = SessionIdentity(fresh, profile: record.provisionalProfile, configuration)
    let finding = examine(idToken, of: session, clockOffset: record.serverClock.offsetSeconds ?? 0)
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
  ) -> Verdict {
    guard let endpoint = configuration.registrationCheckURI else { return .passed }
    let answer: RegistrationCheck.Answer
    do throws(EnrollError) {
      let request = RegistrationCheck.request(
        endpoint: endpoint, clientID: configuration.clientID, tokens: tokens,
        installationID: try store.installationID(), platform: platform)
      answer = RegistrationCheck.answer(
        try send(
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
  /// OpenID Connect Core §5.1; some providers write the boolean as text.
  fileprivate var hasVerifiedEmail: Bool {
    guard let email = self["email"]?.string, !email.utf8.isEmpty else { return false }
    return self["email_verified"]?.bool ?? self["email_verified"]?.string.map { ASCII.equals($0, "true") }
      ?? false
  }
}

extension RegistrationState.RenewalFailure {
  static func registerAgain(_ error: EnrollError, _ isTokenUsable: Bool) -> Self {
    Self(error: error, remedy: .registerAgain, isTokenUsable: isTokenUsable)
  }
}
