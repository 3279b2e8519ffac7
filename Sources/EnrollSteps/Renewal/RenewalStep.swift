// Renewal, one at a time across threads and processes (flows.md §8; reliability.md, One renewal, step by step). The
// order of the steps matters: lock, read again, reserve space, save the intent, send, read again, store, check, use. A
// rotated refresh token is stored before anything else of its response is used, so that no fault in the rest loses it
// (R30).

import EnrollCrypto
public import EnrollRules

/// Renews the tokens of the session.
public final class RenewalStep: EngineStep {
  let context: EngineContext
  let renewals: RenewalProgress
  let unsaved: UnsavedRenewal
  let requests: ClientRequests
  private let access: AccessStep
  let userinfo: UserinfoStep
  let revocations: RevocationStep
  let renewedTokens: RenewedTokensStep
  private let reports: RenewalReport

  init(
    _ context: EngineContext, renewals: RenewalProgress, unsaved: UnsavedRenewal, requests: ClientRequests,
    access: AccessStep, userinfo: UserinfoStep, revocations: RevocationStep, renewedTokens: RenewedTokensStep,
    reports: RenewalReport
  ) {
    self.context = context
    self.renewals = renewals
    self.unsaved = unsaved
    self.requests = requests
    self.access = access
    self.userinfo = userinfo
    self.revocations = revocations
    self.renewedTokens = renewedTokens
    self.reports = reports
  }

  /// The maximum number of requests in one renewal if the server has a problem.
  static let triesPerRenewal = 2
  /// The number of seconds after which a second refusal of the same kind ends the session (reliability.md, What the
  /// answer to a refresh token means).
  static let refusalPauseSeconds: Int64 = 60
  /// The longest wait for another process's renewal, in seconds.
  static let lockTimeoutSeconds: Int64 = 90

  /// Renews the confirmed tokens and updates the state. The renewal runs to its end even if its callers stop waiting,
  /// because a response to a refresh token must not be lost.
  /// - Parameters:
  ///   - epochs: the epochs of the access tokens that the callers want replaced; if the epoch in the store is not among
  ///     them, there is nothing to do.
  ///   - forced: whether to renew although the token is not due, and although the provider could not be reached a
  ///     moment ago.
  ///   - audience: the audience of the access token; nil for the session's own access token.
  /// - Throws: the errors of the store; `.cancelled` if the client is closed before a request was sent, or before a
  ///   second attempt.
  public func renew(
    epochs: [UInt64], forced: Bool, for audience: TokenAudience? = nil
  ) throws(EnrollError) -> RenewalResult {
    let (result, isNew): (RenewalResult, Bool)
    do throws(EnrollError) {
      if !forced, try hasOutlivedRenewal(for: audience) { return .renewed }
      let answer = try renewed(epochs, forced: forced, for: audience)
      (result, isNew) = (try decided(answer.0, isNew: answer.isNew, for: audience), answer.isNew)
    } catch {
      // The error `.cancelled` of a closed client says nothing about the provider, so it is not reported.
      if error.code != .cancelled { notify(.tokenRenewalFailed(error)) }
      throw error
    }
    try reports.report(result, isNew: isNew, for: audience)
    return result
  }

  /// - Returns: the result, and whether the provider was asked. If the provider was not asked, the result is from an
  ///   earlier renewal, or from another process's renewal.
  private func renewed(
    _ epochs: [UInt64], forced: Bool, for audience: TokenAudience?
  ) throws(EnrollError) -> (RenewalResult, isNew: Bool) {
    try context.requireNotClosing()
    let deadline = clock.instant().advanced(bySeconds: Self.lockTimeoutSeconds)
    var first: AccountRecord?
    while true {
      guard let record = try store.read(account), let tokens = record.confirmed else {
        return (.reauthenticate("no user is signed in"), false)
      }
      if let end = record.sessionEnd { return (end, false) }
      guard record.isUnrenewed(for: audience, since: epochs) else {
        return (try renewedTokens.superseded(for: audience), false)
      }
      guard tokens.refreshToken != nil else {
        return (.reauthenticate("the provider gave no refresh token"), false)
      }
      let before = first ?? record
      first = before
      let isForced = forced && !record.tellsFailure(after: before, for: audience)
      if let barred = barred(record, forced: isForced, for: audience) { return (barred, false) }

      var result = (RenewalResult.renewed, isNew: false)
      let lock = try store.withRenewalLock(
        account, epoch: record.tokenEpoch, deadline: deadline, cancellation: closing
      ) { () throws(EnrollError) in
        result = try renewUnderLock(after: before, epoch: record.tokenEpoch, forced: forced, for: audience)
      }
      switch lock {
      case .acquired:
        // If the result concerns a session that another sign-in has replaced, the new session gets its own renewal.
        guard try renewedTokens.isOfReplacedSession(result.0, from: record.tokenEpoch, for: audience),
          clock.instant() < deadline
        else { return result }
        first = nil
      // The other renewal may have been for another audience. In that case this renewal still has to run.
      case .superseded: continue
      case .deadlinePassed:
        return (
          .unavailable(EnrollError(.busy, "another process is renewing and has not finished")), false
        )
      }
    }
  }

  /// The pause after an earlier failure in this or another process; nil if no pause applies.
  /// - Parameter forced: whether a caller wants tokens now. This shortens the pause after an outage, but not
  ///   a pause that the provider requested.
  func barred(
    _ record: AccountRecord, forced: Bool = false, for audience: TokenAudience? = nil
  ) -> RenewalResult? {
    let moment = clock.moment()
    if let refusal = record.refusal, refusal.pause.band(at: moment) == .fresh {
      return .rejected(
        context.withRegistration(refusal.error(at: moment)).advised(by: refusal, record, at: moment))
    }
    if let error = audience.flatMap({ record.narrowingError(for: $0) }) { return .rejected(error) }
    if let audience, let refusal = record.refusal(for: audience), refusal.pause.band(at: moment) == .fresh {
      return .rejected(context.withRegistration(refusal.error(at: moment)).concerning(audience))
    }
    if let backoff = record.backoff(for: audience),
      let wait = backoff.secondsToWait(at: moment, forced: forced)
    {
      return .unavailable(backoff.error.retrying(after: wait))
    }
    guard let backoff = renewals.backoff(with: record),
      let wait = backoff.secondsToWait(at: moment, forced: forced)
    else {
      return nil
    }
    return .unavailable(backoff.error.retrying(after: wait))
  }

  /// Runs the renewal while this thread holds the renewal lock, so that no other thread or process renews meanwhile.
  /// - Parameter before: the record as it was before the wait for the lock.
  private func renewUnderLock(
    after before: AccountRecord, epoch: UInt64, forced: Bool, for audience: TokenAudience?
  ) throws(EnrollError) -> (RenewalResult, isNew: Bool) {
    guard let record = try store.read(account), record.tokenEpoch == epoch, let tokens = record.confirmed,
      let refreshToken = tokens.refreshToken
    else { return (try renewedTokens.replaced(for: audience), false) }
    // A failure during the wait is also the result for the callers that waited, so that 20 waiting processes send one
    // request.
    let isNews = record.tellsFailure(after: before, for: audience)
    let result: RenewalResult
    if let kept = try renewedTokens.keepUnsaved(replacing: epoch) {
      if kept.result == .renewed, kept.audience != audience, let stored = try store.read(account) {
        // The tokens that were just stored were for another audience. This renewal now sends their refresh token.
        return try renewUnderLock(after: before, epoch: stored.tokenEpoch, forced: forced, for: audience)
      }
      result = kept.result
    } else if let barred = barred(record, forced: forced && !isNews, for: audience) {
      return (barred, false)
    } else {
      let renewal = Renewal(
        session: SessionIdentity(tokens, profile: record.profile, configuration), audience: audience,
        epoch: epoch, store: try store.identity(), keepsAccessTokens: record.keepsAccessTokens ?? false)
      let doubt = renewals.backoff(with: record)?.metadataDoubt ?? (record.refusal == nil ? .none : .onceOld)
      result = try ask(renewal, spending: refreshToken, doubt)
    }
    if case .unavailable(let error) = result { backOff(after: error, for: audience, holding: refreshToken) }
    return (result, true)
  }

  private func ask(
    _ renewal: Renewal, spending refreshToken: Secret, _ doubt: DocumentDoubt
  ) throws(EnrollError) -> RenewalResult {
    let metadata: ProviderMetadata
    do throws(EnrollError) {
      metadata = try provider.metadata(doubt: doubt, isOldGood: true, cancellation: closing)
    } catch {
      try context.requireNotClosing()
      return .unavailable(error)
    }
    try context.requireNotClosing()
    // A full disk is detected now, before the refresh token is sent. If the record already has an intent, the process
    // that wrote it has died. The outcome of that renewal is unknown, and the same refresh token is sent again at
    // once, while the provider may still accept it.
    try store.reserveSpace(account)
    guard try writeIntent(spending: refreshToken, epoch: renewal.epoch) else {
      return try renewedTokens.replaced(for: renewal.audience)
    }
    return try send(refreshToken, of: renewal, metadata: metadata)
  }

  /// - Returns: false if a logout came first.
  private func writeIntent(spending refreshToken: Secret, epoch: UInt64) throws(EnrollError) -> Bool {
    let moment = clock.moment()
    let intent = RenewalIntent(
      attempt: Base64URL.encode(try random.bytes(16)), tokenEpoch: epoch,
      refreshTokenHash: try context.hash(refreshToken), bootID: moment.bootID, began: moment.wall)
    let record = try store.update(account) { record throws(EnrollError) in
      guard record.tokenEpoch == epoch else { return }
      record.renewalIntent = intent
      record.sentRefreshTokens.add(intent.refreshTokenHash)
    }
    return record.renewalIntent == intent
  }

  /// Whether the session still has this refresh token. After a sign-in or a sign-out since the last request, the token
  /// must not be sent again: some providers end every session of a user whose spent token is sent again.
  func isCurrent(_ refreshToken: Secret, of renewal: Renewal) throws(EnrollError) -> Bool {
    guard let record = try store.read(account), record.sessionEnded == nil else { return false }
    return record.tokenEpoch == renewal.epoch && record.confirmed?.refreshToken == refreshToken
  }

  func send(
    _ refreshToken: Secret, of renewal: Renewal, metadata: ProviderMetadata
  ) throws(EnrollError) -> RenewalResult {
    let tokens = renewal.session.tokens
    let request = TokenRequest.refresh(
      refreshToken: refreshToken, for: renewal.audience, configuration: configuration, metadata: metadata)
    var trouble = EnrollError(.network, "no request was sent to the provider")
    var replay = ReplayCheck(serverTime: context.knownServerTime())
    // The store is read before the request, so that a response with tokens is kept even if the store fails during the
    // request.
    let spent = (try? store.read(account))?.sentRefreshTokens ?? SentRefreshTokens()
    var repeats = Repeats()
    for attempt in 1...Self.triesPerRenewal {
      if attempt > 1 {
        // If the other method of client authentication was tried, that was the second request already.
        guard repeats.withOtherMethod else { break }
        (repeats.withNonce, repeats.withOtherMethod) = (true, false)
        try requests.pause(after: trouble, attempt: attempt - 1)
        guard try isCurrent(refreshToken, of: renewal) else {
          return try renewedTokens.replaced(for: renewal.audience)
        }
      }
      let sent = clock.moment()
      let http: HTTPResponse
      do throws(EnrollError) {
        http = try requests.sendAsClient(
          request, of: metadata, provenBy: tokens.dpopKey, repeats: &repeats, cancellation: nil)
      } catch {
        trouble = error
        try context.requireNotClosing()
        if error.code == .tls || error.code == .configuration { break }
        continue
      }
      let answer = RefreshAnswer(processing: http, binding: requests.binding(tokens.dpopKey))
      if let problem = replayed(answer, http, renewal.session, spent, &replay) {
        trouble = problem
        continue
      }
      switch answer {
      case .tokens(let response):
        return try renewedTokens.keep(
          RenewedTokens(
            response, of: renewal, sent: sent, clockOffset: context.clockOffset(of: http, at: sent)))
      case .rotatedOnly(let rotated, let error):
        // The response is only used for its refresh token, which the next attempt sends (R30).
        let ended = try renewedTokens.keep(RenewedTokens(refreshToken: rotated, of: renewal))
        if case .reauthenticate = ended { return ended }
        backOff(after: error, for: renewal.audience, holding: rotated)
        return .unavailable(error)
      case .refused(let error, let verdict):
        guard verdict == .unclear else {
          return try refused(by: error, verdict, renewal, at: metadata.tokenEndpoint, sent: sent)
        }
        trouble = error
        // A server that asks for fewer requests, or for more time than a caller waits, is asked again later.
        if error.httpStatus == 429 || (error.retryAfterSeconds ?? 0) > 2 { return .unavailable(trouble) }
      }
    }
    return .unavailable(trouble)
  }

  /// The error if a response belongs to an earlier refresh token; nil if nothing shows that.
  /// - Parameter sent: the refresh tokens that were sent, including the refresh token of this request.
  func replayed(
    _ answer: RefreshAnswer, _ http: HTTPResponse, _ session: SessionIdentity, _ sent: SentRefreshTokens,
    _ check: inout ReplayCheck
  ) -> EnrollError? {
    let brought: Secret?
    var isForeign = false
    switch answer {
    case .tokens(let response):
      brought = response.refreshToken
      isForeign = response.idToken.flatMap { session.contradiction(in: $0) } != nil
    case .rotatedOnly(let rotated, _): brought = rotated
    // The `Date` of a refusal is checked only if the refusal may end the session. For every other refusal,
    // RenewalJudgement alone decides.
    case .refused(_, let verdict):
      guard verdict == .ends || verdict == .endsIfRepeated else { return nil }
      brought = nil
    }
    guard let brought, let name = try? context.hash(brought) else {
      return check.problem(with: http, isSpent: false, isNew: brought != nil, isForeign: isForeign)
    }
    let isNew = !sent.hashes.contains { ASCII.equals($0, name) }
    return check.problem(with: http, isSpent: sent.isSpent(name), isNew: isNew, isForeign: isForeign)
  }

  /// Delays the next request, in every process (R33). If the backoff cannot be stored, it applies to this process.
  /// - Parameter refreshToken: the session's refresh token when the renewal failed. A sign-in that replaced the session
  ///   in the meantime is not delayed.
  private func backOff(
    after failure: EnrollError, for audience: TokenAudience?, holding refreshToken: Secret
  ) {
    let moment = clock.moment()
    let jitter = (try? random.bytes(1).first) ?? 0
    // A failure with a response concerns only the audience; a failure without a response is an outage, which concerns
    // every audience. If the audience's backoff cannot be stored, the account's backoff is used.
    if let audience, failure.httpStatus != nil,
      (try? backOff(audience, failure, moment, jitter, holding: refreshToken)) != nil
    {
      return
    }
    let unsaved = renewals.backoff
    func keepHere() {
      renewals.keep(RenewalBackoff(after: unsaved, failure, at: moment, jitter: jitter))
    }
    guard RenewalBackoff.isShared(failure) else {
      if (try? store.read(account))?.confirmed?.refreshToken == refreshToken { keepHere() }
      return
    }
    do throws(EnrollError) {
      try store.update(account) { record throws(EnrollError) in
        guard record.confirmed?.refreshToken == refreshToken else { return }
        requests.keepLearned(in: &record)
        record.backoff = RenewalBackoff(
          after: record.backoff ?? unsaved, failure, at: moment, jitter: jitter)
      }
      renewals.endBackoff()
    } catch {
      keepHere()
    }
  }
}
